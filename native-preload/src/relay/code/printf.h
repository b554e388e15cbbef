/* Device printf: text that the executor collected, put out as the driver would put it out in this process. */
#ifndef TESSERA_RELAY_PRINTF_H
#define TESSERA_RELAY_PRINTF_H

#include "relay/wire/relay.h"

/* Writes what has come to the program's stdout, through stdio: in order with the program's own prints. */
void printf_flush(struct relay_link *link);

#endif
