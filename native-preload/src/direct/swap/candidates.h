/*
 * Chooses the chunk that moves next. The gate opens only when all live chunks are resident, so the order of use does
 * not matter. Chunks whose backing other clients wait for come first.
 */
#ifndef TESSERA_CANDIDATES_H
#define TESSERA_CANDIDATES_H

#include "direct/chunks/chunks.h"

/* With the lock: makes BUSY and returns a chunk that can leave the device; NULL: none. */
struct chunk *candidate_out(unsigned device);

/* With the lock: whether contents are copied when the chunk comes in; else it is cleared, or has none. */
bool candidate_copied(const struct chunk *chunk);

/*
 * With the lock: makes BUSY and returns a chunk that is to come in, and counts it as resident; NULL: none, or no room. First
 * one whose contents are copied, or one without; if there is none, one of the other kind.
 */
struct chunk *candidate_in(unsigned device, bool copied);

#endif
