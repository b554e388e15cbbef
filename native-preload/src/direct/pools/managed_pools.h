/*
 * Stream-ordered memory under plan managed: the pools themselves are managed (allocation type MANAGED, driver 580 and
 * later), so order, reuse, attributes and trimming stay the driver's own. A pool whose memory may be exported stays plain.
 */
#ifndef TESSERA_MANAGED_POOLS_H
#define TESSERA_MANAGED_POOLS_H

#include <stdbool.h>

#include "tessera_entries.h"

/* The managed pool that stands in for the device's default one, and is made its current one; NULL: plain. */
CUmemoryPool managed_pools_default(unsigned device);

/* cuMemPoolCreate with the properties, but managed; plain where the driver has no managed pools. */
CUresult managed_pools_create(CUmemoryPool *pool, const void *properties);

/* The pool is gone. */
void managed_pools_forget(CUmemoryPool pool);

/* Whether the pool is managed by our choice. */
bool managed_pools_have(CUmemoryPool pool);

#endif
