/*
 * Stream-ordered memory under plan managed: pools of managed memory (allocation type MANAGED, driver 580 and later).
 * The driver still does the ordering, reuse, attributes and trimming. A pool whose memory may be exported stays plain.
 * Any thread.
 */
#ifndef TESSERA_MANAGED_POOLS_H
#define TESSERA_MANAGED_POOLS_H

#include <stdbool.h>

#include "tessera_entries.h"

/* Makes the managed pool that replaces the device's default pool current, and returns it; NULL: pools stay plain. */
CUmemoryPool managed_pools_default(unsigned device);

/* cuMemPoolCreate with these properties, but managed; plain if the driver has no managed pools. */
CUresult managed_pools_create(CUmemoryPool *pool, const void *properties);

/* The pool is destroyed. */
void managed_pools_forget(CUmemoryPool pool);

/* Whether the library made this pool managed. */
bool managed_pools_have(CUmemoryPool pool);

#endif
