/*
 * Copies of what is on the device: host memory that a chunk keeps when its contents have come back, so that what does not
 * change until it leaves again need not be copied again. They use pinned memory that nothing else needs at the moment,
 * and go first when something does, the oldest first. None is kept while more is pinned than the manager's target.
 */
#ifndef TESSERA_KEPT_COPIES_H
#define TESSERA_KEPT_COPIES_H

#include <stdbool.h>

/* With the lock: gives up the copy that was made first. False: there is none. */
bool kept_copies_drop(unsigned device);

/* With the lock, which is released meanwhile: backing_trim(), and copies in pinned memory beyond the manager's target go. */
void kept_copies_trim(unsigned device);

#endif
