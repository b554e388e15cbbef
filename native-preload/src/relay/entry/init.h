/* cuInit on the relay port. */
#ifndef TESSERA_RELAY_INIT_H
#define TESSERA_RELAY_INIT_H

#include "driver/driver_types.h"

CUresult relay_cuInit(unsigned flags);

/* Registers the handlers by which lower layers of the relay notify higher ones. Part of cuInit; idempotent. */
void init_connect(void);

#endif
