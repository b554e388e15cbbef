/*
 * Blocks: ranges of device addresses of our own, each with the chunks that lie in it. A block is one large allocation, or
 * a chunk that small ones share. Guarded by residency's lock.
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
    struct swap_block *next; /* of the device's shared blocks, or of its cache */
    CUdeviceptr base;
    uint64_t bytes;
    struct chunk *chunks;     /* through their siblings, by address */
    struct arena *arena;      /* of a shared block; NULL otherwise */
    struct swap_record whole; /* of a block that is one allocation */
    uint8_t device;
    bool cached; /* freed, and kept for the next allocation of the same size */
};

/*
 * Without the lock: reserves addresses and makes the chunks, all BUSY and without memory, and enters the block in the
 * table. NULL and an error of the driver, or OUT_OF_MEMORY.
 */
struct swap_block *block_new(unsigned device, uint64_t bytes, bool shared, CUresult *result);

/* With the lock: the block that holds the address; NULL: none. */
struct swap_block *block_find(CUdeviceptr address);

/*
 * With the lock, which is released meanwhile: the block's chunks are BUSY by the caller, and all of it goes. False: the
 * driver did not take all memory back, and the block is as if it were kept (block_cache.h).
 */
bool block_dispose(struct swap_block *block);

/* With the lock: waits, releasing it, until no chunk of the block is BUSY. */
void block_settle(const struct swap_block *block);

/* With the lock: makes all its chunks BUSY. They were settled. */
void block_seize(struct swap_block *block);

#endif
