/*
 * Which chunk moves next. Under plan swap the gate opens only when all is in, so nothing is won by the order of use; what
 * others wait for comes first.
 */
#ifndef TESSERA_CANDIDATES_H
#define TESSERA_CANDIDATES_H

#include "direct/chunks/chunks.h"

/* With the lock: a chunk that can leave the device, now BUSY; NULL: none. */
struct chunk *candidate_out(unsigned device);

/* With the lock: a chunk that is to come in, now BUSY and counted as resident; NULL: none, or there is no room. */
struct chunk *candidate_in(unsigned device);

#endif
