/*
 * Pieces of stream-ordered memory: records, the table of those in use, lists of free ones by size. A block keeps its
 * address and extent as long as it lives; it is reused whole, never cut.
 *
 * No locks of its own: pools.c calls with its lock held.
 */
#ifndef TESSERA_POOL_BLOCKS_H
#define TESSERA_POOL_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/pools/stream_mark.h"

struct pool;

struct pool_block {
    CUdeviceptr pointer;
    uint64_t extent; /* bytes it takes */
    struct pool *pool;
    struct stream_mark mark;          /* while free: what must be reached before other streams may use it */
    uint64_t number;                  /* of its free (pools_moment) */
    struct pool_block *older, *newer; /* in its free list */
    struct pool_block *next;          /* in a bucket of the table, or wherever a caller chains blocks */
    /* captured_memory.c: */
    uint64_t capture;             /* id of the capture that it was allocated in; 0: none */
    CUgraph graph;                /* what that capture made */
    bool ended;                   /* that capture ended well */
    bool freed;                   /* the program has freed it, in a capture or after */
    struct pool_block *next_gone; /* no graph holds it any more */
};

struct pool_block_list {
    struct pool_block *oldest, *newest;
};

#define POOL_BLOCK_CLASSES 512

/* The extent of an allocation of so many bytes, and the class of its free lists; 0: too large. */
uint64_t pool_block_extent(uint64_t bytes);
unsigned pool_block_class(uint64_t extent);

/* A cleared record; NULL: no memory for it. */
struct pool_block *pool_block_new(void);
void pool_block_delete(struct pool_block *block);

/* The table of blocks in use, and how many there are: programs without any pay one load. */
extern unsigned pool_blocks_used;
void pool_block_put(struct pool_block *block);
struct pool_block *pool_block_find(CUdeviceptr pointer);
void pool_block_take(struct pool_block *block);

void pool_block_append(struct pool_block_list *list, struct pool_block *block);
void pool_block_unlink(struct pool_block_list *list, struct pool_block *block);

/* In the child of a fork: none. */
void pool_blocks_forked(void);

#endif
