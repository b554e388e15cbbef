/*
 * Cache of resident memory without contents: freed blocks and empty shared blocks. A program that alternates frees and
 * allocations then causes no page changes. The cache is released at once when any client needs the memory. Guarded by
 * residency's lock.
 */
#ifndef TESSERA_BLOCK_CACHE_H
#define TESSERA_BLOCK_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/blocks.h"

/*
 * With the lock: keeps a freed block whose chunks are settled. False: too large, not resident, or no room in the cache.
 */
bool block_cache_keep(struct swap_block *block);

/* With the lock: takes a kept block of exactly this size and makes its chunks BUSY; NULL: there is none. */
struct swap_block *block_cache_take(unsigned device, uint64_t bytes);

/*
 * With the lock, which is released meanwhile: frees an unused block that is in no list, after waiting for moves of its
 * chunks. False: the driver refused; the block stays in the cache, and is tried again when memory is needed.
 */
bool block_cache_dispose(struct swap_block *block);

/*
 * With the lock, which is released meanwhile: frees at least this many bytes, or the whole cache. Returns the bytes
 * freed.
 */
uint64_t block_cache_drop(unsigned device, uint64_t bytes);

/* With the lock: the list of the device's shared blocks. */
struct swap_block **block_cache_shared(unsigned device);

/* In the child of a fork. */
void block_cache_forked(void);

#endif
