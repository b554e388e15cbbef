/* Which devices the program sees, in which order: CUDA_VISIBLE_DEVICES, as the vendor's driver reads it. */
#ifndef TESSERA_RELAY_DEVICE_ORDER_H
#define TESSERA_RELAY_DEVICE_ORDER_H

#include <stddef.h>

#include "relay/executor/executor_connect.h"

/*
 * Fills `order` with indices into `connections`, and returns the number of visible devices. 0: none; `reason` says why if
 * that is a fault, and stays empty if the program asked for none.
 */
unsigned device_order(const struct executor_connection *connections, unsigned count, unsigned *order, char *reason,
                      size_t size);

#endif
