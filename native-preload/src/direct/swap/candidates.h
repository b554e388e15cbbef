/*
 * Chooses the chunk that moves next. The gate opens only when all live chunks are resident, so the order of use does
 * not matter. Chunks whose backing other clients wait for come first.
 */
#ifndef TESSERA_CANDIDATES_H
#define TESSERA_CANDIDATES_H

#include "direct/chunks/chunks.h"

/* With the lock: makes BUSY and returns a chunk that can leave the device; NULL: none. */
struct chunk *candidate_out(unsigned device);

/* With the lock: makes BUSY and returns a chunk that is to come in, and counts it as resident; NULL: none, or no room. */
struct chunk *candidate_in(unsigned device);

#endif
