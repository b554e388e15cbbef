/*
 * The move of one chunk off the device: it is examined, the necessary parts are copied, and its memory is released
 * (moving.h).
 */
#ifndef TESSERA_CHUNK_LEAVING_H
#define TESSERA_CHUNK_LEAVING_H

#include "direct/swap/moving.h"

/* With the lock, which is released meanwhile: begins to move the place's chunk out. */
void leaving_begin(struct moving *t, struct place *place);
/* With the lock, which is released meanwhile: handles looks that have ended. True: there were any. */
bool leaving_end_looks(unsigned device, struct moving *t);
/*
 * With the lock, which is released meanwhile: begins the copy of a LOOKED place, or releases the memory at once if nothing has to
 * be copied. If that is impossible, the chunk stays resident. False: too many copies are under way.
 */
bool leaving_copy(struct moving *t, struct place *place);
/* With the lock: the parts of a leaving chunk are in its backing. */
void leaving_copied(const struct place *place);
/* With the lock: the page change of a leaving chunk has ended; its memory is released, unless the driver refused. */
void leaving_emptied(struct moving *t, struct place *place);
/* With the lock: the chunk could not leave and stays resident. */
void leaving_failed(struct moving *t, struct chunk *chunk, CUresult result, const char *what);

#endif
