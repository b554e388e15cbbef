/*
 * Blocks: ranges of reserved device addresses with the chunks that are mapped there. A block is one large allocation,
 * or one chunk that small allocations share. Guarded by residency's lock.
 */
#ifndef TESSERA_BLOCKS_H
#define TESSERA_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/arena.h"
#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

/* An allocation of the program's. */
struct swap_record {
    uint64_t bytes; /* as asked for */
    uint64_t id;
    uint64_t context;
    uint64_t tag;
    uint8_t kind;
};

struct swap_block {
    struct swap_block *next; /* in the list of shared blocks, or in the block cache */
    CUdeviceptr base;
    uint64_t bytes;
    struct chunk *chunks;     /* linked by `sibling`, in the order of addresses */
    struct arena *arena;      /* of a shared block; NULL otherwise */
    struct swap_record whole; /* if the block is one allocation */
    uint8_t device;
    bool cached;  /* freed; kept for an allocation of the same size, or being released */
    bool refused; /* the driver did not release it; not reused, since handed memory may have contents of others */
};

/*
 * Without the lock: reserves addresses, creates the chunks (BUSY and without memory), and enters the block in the table
 * of ranges. NULL: `result` is the driver's error, or OUT_OF_MEMORY.
 */
struct swap_block *block_new(unsigned device, uint64_t bytes, bool shared, CUresult *result);

/* With the lock: the block that contains the address; NULL: none. */
struct swap_block *block_find(CUdeviceptr address);

/*
 * With the lock, which is released meanwhile: frees the block, whose chunks the caller has made BUSY. False: the driver
 * did not release all memory; the chunks are settled again, and the caller puts the block into the cache
 * (block_cache.h).
 */
bool block_dispose(struct swap_block *block);

/* With the lock: waits, releasing it, until no chunk of the block is BUSY. */
void block_settle(const struct swap_block *block);

/* With the lock: makes all chunks of the block BUSY and not live. They must be settled. */
void block_seize(struct swap_block *block);

#endif
