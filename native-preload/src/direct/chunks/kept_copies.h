/*
 * Copies of contents that are on the device: host memory that a chunk keeps after its contents have come back. Parts
 * that do not change until the chunk leaves again need not be copied again. The copies use pinned memory that is not
 * needed otherwise, and are dropped first when it is needed, oldest first. None is kept while more is pinned than the
 * manager's target.
 */
#ifndef TESSERA_KEPT_COPIES_H
#define TESSERA_KEPT_COPIES_H

#include <stdbool.h>

/* With the lock: drops the oldest copy. False: there is none. */
bool kept_copies_drop(unsigned device);

/*
 * With the lock, which is released meanwhile: backing_trim(), and drops copies in pinned memory beyond the manager's
 * target.
 */
void kept_copies_trim(unsigned device);

#endif
