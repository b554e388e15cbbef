/* What pools.c and pool_requests.c share of a pool. Everything with pools_hold(). */
#ifndef TESSERA_POOL_STATE_H
#define TESSERA_POOL_STATE_H

#include "direct/pools/pools.h"

struct pool {
    CUmemoryPool handle;              /* NULL: no pool of the program's any more */
    bool taken;                       /* the slot is in use */
    bool surplus;                     /* holds more free memory than the threshold allows */
    bool opportunistic, dependencies; /* CU_MEMPOOL_ATTR_REUSE_ALLOW_* */
    unsigned device;
    uint64_t max_bytes; /* 0: no limit of its own */
    uint64_t threshold; /* CU_MEMPOOL_ATTR_RELEASE_THRESHOLD */
    uint64_t reserved, reserved_high, used, used_high;
    unsigned free_count;
    struct pool_block_list free[POOL_BLOCK_CLASSES];
};

/* Frees of memory that belongs to no pool of the program's wait here for their streams. */
struct pool *pool_orphans(unsigned device);

void pool_put_free(struct pool *pool, struct pool_block *block);
void pool_take_free(struct pool *pool, struct pool_block *block);

/* The number of a free (pools_moment). */
uint64_t pools_next_free(void);

/* After every change of what a pool uses, reserves or keeps free: whether it holds more than its threshold. */
void pool_changed(struct pool *pool);

#endif
