/* cuInit on the relay port. */
#ifndef TESSERA_RELAY_INIT_H
#define TESSERA_RELAY_INIT_H

#include "driver/driver_types.h"

CUresult relay_cuInit(unsigned flags);

/* Registers what lower layers of the relay tell higher ones. Part of cuInit; once more does no harm. */
void init_connect(void);

#endif
