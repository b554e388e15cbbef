/*
 * Memory that is resident without contents: freed blocks, kept so that allocating and freeing in turn costs no page
 * changes, and shared blocks that are empty. Given back at once when anybody needs the memory. Guarded by residency's
 * lock.
 */
#ifndef TESSERA_BLOCK_CACHE_H
#define TESSERA_BLOCK_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/blocks.h"

/* With the lock: keeps the block, whose chunks are all settled, if it is worth it and there is room; false: it is not. */
bool block_cache_keep(struct swap_block *block);

/* With the lock: a kept block of just this size, its chunks BUSY; NULL: none. */
struct swap_block *block_cache_take(unsigned device, uint64_t bytes);

/*
 * With the lock, which is released meanwhile: frees an unused block that is in no table, once its moves are over.
 * False: the driver refused; the block is kept, and freed when memory is needed.
 */
bool block_cache_dispose(struct swap_block *block);

/* With the lock, which is released meanwhile: gives back at least so many bytes, or all there are. Returns how many. */
uint64_t block_cache_drop(unsigned device, uint64_t bytes);

/* With the lock: the shared blocks of the device. */
struct swap_block **block_cache_shared(unsigned device);

/* In the child of a fork. */
void block_cache_forked(void);

#endif
