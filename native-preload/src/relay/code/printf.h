/* Device printf: writes text that the executor collected, as the driver would in this process. */
#ifndef TESSERA_RELAY_PRINTF_H
#define TESSERA_RELAY_PRINTF_H

#include "relay/wire/relay.h"

/* Writes the text to the program's stdout, through stdio, so that it keeps its order with the program's own output. */
void printf_flush(struct relay_link *link);

#endif
