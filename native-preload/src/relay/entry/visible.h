/* Which devices the program sees, in which order: CUDA_VISIBLE_DEVICES, as the vendor's driver reads it. */
#ifndef TESSERA_RELAY_VISIBLE_H
#define TESSERA_RELAY_VISIBLE_H

#include <stddef.h>

#include "relay/executor/meeting.h"

/*
 * Fills `order` with indices into `meetings`; the number of visible devices. 0: none, with a reason where that is a
 * fault, and an empty one where the program asked for none.
 */
unsigned visible_order(const struct meeting *meetings, unsigned count, unsigned *order, char *reason, size_t size);

#endif
