/*
 * Blocks of stream-ordered memory: their records, the table of blocks in use, and lists of free blocks by size. A block
 * keeps its address and its extent; it is reused whole and never split.
 *
 * No locks: all callers hold the lock of pools.c (pools_hold()).
 */
#ifndef TESSERA_POOL_BLOCKS_H
#define TESSERA_POOL_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/pools/stream_mark.h"

struct pool;

struct pool_block {
    CUdeviceptr pointer;
    uint64_t extent; /* its size in bytes */
    struct pool *pool;
    struct stream_mark mark;          /* while free: other streams may use it when this is reached */
    uint64_t number;                  /* sequence number of its free (pools_moment()) */
    struct pool_block *older, *newer; /* in its free list */
    struct pool_block *next;          /* in a bucket of the table, or in a caller's chain */
    /* captured_memory.c: */
    uint64_t capture;             /* id of the capture in which it was allocated; 0: none */
    CUgraph graph;                /* of that capture */
    bool ended;                   /* that capture ended without error */
    bool freed;                   /* the program has freed it, in a capture or later */
    struct pool_block *next_gone; /* in captured_gone: no graph owns it any more */
};

struct pool_block_list {
    struct pool_block *oldest, *newest;
};

#define POOL_BLOCK_CLASSES 512

/* The extent of a block for this many bytes (0: too large), and the class of its free list. */
uint64_t pool_block_extent(uint64_t bytes);
unsigned pool_block_class(uint64_t extent);

/* A zeroed record; NULL: no memory. */
struct pool_block *pool_block_new(void);
void pool_block_delete(struct pool_block *block);

/* The number of blocks in use, so that a program without such blocks pays for one load only; and the table of these blocks. */
extern unsigned pool_blocks_used;
void pool_block_put(struct pool_block *block);
struct pool_block *pool_block_find(CUdeviceptr pointer);
void pool_block_take(struct pool_block *block);

void pool_block_append(struct pool_block_list *list, struct pool_block *block);
void pool_block_unlink(struct pool_block_list *list, struct pool_block *block);

/* In the child of a fork: there are no blocks. */
void pool_blocks_forked(void);

#endif
