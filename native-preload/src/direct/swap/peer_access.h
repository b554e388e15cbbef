/*
 * Peer access, as the program enables it by context and by pool. Memory of plan swap is mapped for a peer as long as
 * any context or pool of the program allows it. This grants more than the driver does: access to one pool gives access
 * to all memory of plan swap on that device. Any thread.
 */
#ifndef TESSERA_PEER_ACCESS_H
#define TESSERA_PEER_ACCESS_H

#include <stddef.h>

#include "tessera_entries.h"

/* The current context has gained access to the memory of the other context's device (1), or lost it (-1). */
void peer_access_of_context(CUcontext other, int by);

/* cuMemPoolSetAccess of a pool on `device` has succeeded with these descriptions. */
void peer_access_of_pool(CUmemoryPool pool, unsigned device, const void *access, size_t count);

/* Memory of the device is mapped for the peer from now on, even if the program enables no access. */
void peer_access_let(unsigned device, unsigned peer);

/* The pool is destroyed, and the access that it allowed ends. */
void peer_access_pool_destroyed(CUmemoryPool pool);

/* In the child of a fork. */
void peer_access_forked(void);

#endif
