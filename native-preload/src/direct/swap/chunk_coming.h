/*
 * The move of one chunk to the device: its memory is mapped, its contents are copied and the rest is cleared
 * (moving.h).
 */
#ifndef TESSERA_CHUNK_COMING_H
#define TESSERA_CHUNK_COMING_H

#include "direct/swap/moving.h"

/*
 * With the lock, which is released meanwhile: begins the copy in of a FILLED place. False: too many copies are under
 * way.
 */
bool coming_copy(struct moving *t, struct place *place);
/* With the lock: its page change is over, and it no longer counts as ahead of the copies. */
void coming_begun(struct moving *t, const struct place *place);
/* With the lock: the chunk is resident. */
void coming_ended(struct moving *t, struct place *place);
/* With the lock, which is released meanwhile: the chunk could not come in and stays absent. */
void coming_failed(struct moving *t, struct place *place, CUresult result);

#endif
