/* A pool's state, shared by pools.c, pool_requests.c and captured_memory.c. Guarded by pools_hold(). */
#ifndef TESSERA_POOL_STATE_H
#define TESSERA_POOL_STATE_H

#include "direct/pools/pools.h"

struct pool {
    CUmemoryPool handle;              /* the driver's pool; NULL: it is destroyed */
    bool taken;                       /* the slot is in use */
    bool surplus;                     /* has more free memory than the threshold allows */
    bool opportunistic, dependencies; /* CU_MEMPOOL_ATTR_REUSE_ALLOW_* */
    unsigned device;
    uint64_t max_bytes; /* 0: no limit of its own */
    uint64_t threshold; /* CU_MEMPOOL_ATTR_RELEASE_THRESHOLD */
    uint64_t reserved, reserved_high, used, used_high;
    unsigned free_count;
    struct pool_block_list free[POOL_BLOCK_CLASSES];
};

/* The device's pool for free blocks that belong to no pool of the program. */
struct pool *pool_orphans(unsigned device);

void pool_put_free(struct pool *pool, struct pool_block *block);
void pool_take_free(struct pool *pool, struct pool_block *block);

/* The sequence number of the next free (pools_moment()). */
uint64_t pools_next_free(void);

/* Updates `surplus`; to be called after every change of used, reserved or free memory. */
void pool_changed(struct pool *pool);

#endif
