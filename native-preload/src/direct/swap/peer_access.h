/*
 * Access of devices to the memory of others, as the program asked for it by context and by pool. Memory of plan swap is
 * mapped for a device as long as any context or pool of the program allows it. That is more than the driver allows:
 * access to one pool is access to all memory.
 */
#ifndef TESSERA_PEER_ACCESS_H
#define TESSERA_PEER_ACCESS_H

#include <stddef.h>

#include "tessera_entries.h"

/* The current context has gained access (1), or lost it (-1), to what the other context's device holds. */
void peer_access_of_context(CUcontext other, int by);

/* cuMemPoolSetAccess of a pool on `device` has succeeded with these descriptions. */
void peer_access_of_pool(CUmemoryPool pool, unsigned device, const void *access, size_t count);

/* Memory of the device is mapped for the peer from now on, whatever the program asks for. */
void peer_access_let(unsigned device, unsigned peer);

/* The pool is gone, and its accesses with it. */
void peer_access_pool_destroyed(CUmemoryPool pool);

/* In the child of a fork. */
void peer_access_forked(void);

#endif
