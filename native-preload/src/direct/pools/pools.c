#include "direct/pools/pool_state.h"

#include <pthread.h>
#include <string.h>

#include "session/report.h"
#include "direct/swap/swap.h"
#include "tessera_abi.h"

#define MAX_POOLS 256

unsigned pools_surplus;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool pools[MAX_POOLS];             /* a destroyed pool stays while it holds memory */
static unsigned slots;                           /* number of elements of `pools` ever used */
static uint64_t frees;                           /* sequence number of the last free or moment */
static struct pool orphans[TESSERA_MAX_DEVICES]; /* free blocks that belong to no pool of the program */

void pools_hold(void)
{
    pthread_mutex_lock(&lock);
}

void pools_let(void)
{
    pthread_mutex_unlock(&lock);
}

static bool has_surplus(const struct pool *pool)
{
    uint64_t keep = pool->threshold > pool->used ? pool->threshold : pool->used;
    return pool->free_count && pool->reserved > keep;
}

/* The i-th pool, the orphans last; NULL: there are no more. */
static struct pool *pool_at(unsigned i)
{
    return i < slots ? &pools[i] : i < slots + TESSERA_MAX_DEVICES ? &orphans[i - slots] : NULL;
}

void pool_changed(struct pool *pool)
{
    bool surplus = has_surplus(pool);
    if (surplus != pool->surplus)
        __atomic_store_n(&pools_surplus, pools_surplus + (surplus ? 1u : -1u), __ATOMIC_RELAXED);
    pool->surplus = surplus;
}

struct pool *pools_find(CUmemoryPool handle)
{
    struct pool *found = NULL;
    pools_hold();
    for (unsigned i = 0; i < slots && !found && handle; i++)
        if (pools[i].taken && pools[i].handle == handle)
            found = &pools[i];
    pools_let();
    return found;
}

struct pool *pools_adopt(CUmemoryPool handle, unsigned device, uint64_t max_bytes)
{
    struct pool *pool = NULL;
    pools_hold();
    for (unsigned i = 0; i < slots && !(pool && pool->taken); i++)
        if (pools[i].taken ? pools[i].handle == handle : !pool)
            pool = &pools[i];
    if (!pool && slots < MAX_POOLS)
        pool = &pools[slots++];
    if (pool && !pool->taken)
        *pool = (struct pool){.handle = handle,
                              .taken = true,
                              .opportunistic = true,
                              .dependencies = true,
                              .device = device,
                              .max_bytes = max_bytes};
    pools_let();
    if (!pool)
        report_error(0, "more than %d memory pools: the rest are the driver's, and stay resident", MAX_POOLS);
    return pool;
}

struct pool *pool_orphans(unsigned device)
{
    orphans[device].device = device;
    orphans[device].taken = true;
    return &orphans[device];
}

unsigned pools_device(const struct pool *pool)
{
    return pool->device;
}

CUmemoryPool pools_handle_of(uint64_t tag)
{
    const struct pool_block *block = (const struct pool_block *)(uintptr_t)tag;
    pools_hold();
    CUmemoryPool handle = block && block->pool ? block->pool->handle : NULL;
    pools_let();
    return handle;
}

/* With the lock: ends a destroyed pool that holds no memory any more. */
static void forget_if_empty(struct pool *pool)
{
    if (!pool->handle && pool->reserved == 0)
        pool->taken = false;
}

void pool_put_free(struct pool *pool, struct pool_block *block)
{
    pool_block_append(&pool->free[pool_block_class(block->extent)], block);
    pool->free_count++;
}

void pool_take_free(struct pool *pool, struct pool_block *block)
{
    pool_block_unlink(&pool->free[pool_block_class(block->extent)], block);
    pool->free_count--;
}

/*
 * Lock held. Removes free blocks that no work uses until the pool holds `keep` bytes; links them by `next` to `chain`.
 */
static struct pool_block *collect(struct pool *pool, uint64_t keep, struct pool_block *chain)
{
    for (unsigned i = 0; i < POOL_BLOCK_CLASSES && pool->free_count; i++) {
        struct pool_block *newer;
        for (struct pool_block *block = pool->free[i].oldest; block && pool->reserved > keep; block = newer) {
            newer = block->newer;
            if (!stream_mark_reached(&block->mark))
                continue;
            pool_take_free(pool, block);
            pool->reserved -= block->extent;
            block->next = chain;
            chain = block;
        }
    }
    forget_if_empty(pool);
    return chain;
}

/* Without the lock: frees the memory of the chain's blocks; returns the bytes. */
static uint64_t give_back(struct pool_block *chain)
{
    uint64_t bytes = 0;
    while (chain) {
        struct pool_block *block = chain;
        chain = block->next;
        bytes += block->extent;
        CUresult result = swap_free(block->pointer);
        report_failure(result, "memory of a pool could not be given back");
        pools_hold();
        pool_block_delete(block);
        pools_let();
    }
    return bytes;
}

void pools_trim(struct pool *pool, uint64_t keep)
{
    struct capture_mode mode = capture_mode_relax();
    pools_hold();
    struct pool_block *chain = collect(pool, keep > pool->used ? keep : pool->used, NULL);
    pool_changed(pool);
    pools_let();
    give_back(chain);
    capture_mode_restore(mode);
}

void pools_synchronised(void)
{
    struct capture_mode mode = capture_mode_relax();
    struct pool_block *chain = NULL;
    struct pool *pool;
    pools_hold();
    for (unsigned i = 0; (pool = pool_at(i)); i++)
        if (pool->surplus) {
            chain = collect(pool, pool->threshold > pool->used ? pool->threshold : pool->used, chain);
            pool_changed(pool);
        }
    pools_let();
    give_back(chain);
    capture_mode_restore(mode);
}

uint64_t pools_release(unsigned device)
{
    struct capture_mode mode = capture_mode_relax();
    struct pool_block *chain = NULL;
    struct pool *pool;
    pools_hold();
    for (unsigned i = 0; (pool = pool_at(i)); i++)
        if (pool->free_count && pool->device == device) {
            chain = collect(pool, pool->used, chain);
            pool_changed(pool);
        }
    pools_let();
    uint64_t bytes = give_back(chain);
    capture_mode_restore(mode);
    return bytes;
}

void pools_destroyed(CUmemoryPool handle)
{
    struct pool *pool = pools_find(handle);
    if (!pool)
        return;
    pools_hold();
    pool->handle = NULL;
    pool->threshold = 0;
    pools_let();
    pools_trim(pool, 0);
}

bool pools_get_attribute(struct pool *pool, int attribute, uint64_t *value)
{
    pools_hold();
    const uint64_t figures[] = {pool->reserved, pool->reserved_high, pool->used, pool->used_high};
    pools_let();
    if (attribute < CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT || attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        return false;
    *value = figures[attribute - CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT];
    return true;
}

void pools_set_attribute(struct pool *pool, int attribute, const void *value)
{
    pools_hold();
    if (attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC)
        pool->opportunistic = *(const int *)value != 0;
    else if (attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        pool->dependencies = *(const int *)value != 0;
    else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->threshold = *(const uint64_t *)value;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) /* can only be set to 0: restarts at the present value */
        pool->reserved_high = pool->reserved;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        pool->used_high = pool->used;
    pool_changed(pool);
    pools_let();
}

/* Lock held: visits each free block of all pools. */
static void each_free(void (*visit)(struct pool_block *block, uintptr_t of), uintptr_t of)
{
    struct pool *pool;
    for (unsigned i = 0; (pool = pool_at(i)); i++)
        for (unsigned c = 0; c < POOL_BLOCK_CLASSES && pool->free_count; c++)
            for (struct pool_block *block = pool->free[c].oldest; block; block = block->newer)
                visit(block, of);
}

uint64_t pools_next_free(void)
{
    return ++frees;
}

uint64_t pools_moment(void)
{
    pools_hold();
    uint64_t moment = pools_next_free();
    pools_let();
    return moment;
}

struct quiet {
    unsigned device;
    uint64_t moment;
};

static void device_quiet(struct pool_block *block, uintptr_t of)
{
    const struct quiet *quiet = (const struct quiet *)of;
    if (block->pool->device == quiet->device && block->number < quiet->moment)
        block->mark.reached = true;
}

void pools_quiet(unsigned device, uint64_t moment)
{
    struct quiet quiet = {device, moment};
    pools_hold();
    each_free(device_quiet, (uintptr_t)&quiet);
    pools_let();
}

/* The event of the block's mark ended with the context, and its work is complete. */
static void context_ended(struct pool_block *block, uintptr_t context)
{
    if (stream_mark_of(&block->mark, (const void *)context))
        block->mark = (struct stream_mark){.reached = true};
}

void pools_context_ended(const void *context)
{
    stream_marks_context_ended(context);
    pools_hold();
    each_free(context_ended, (uintptr_t)context);
    pools_let();
}

static void stream_destroyed(struct pool_block *block, uintptr_t stream)
{
    if (block->mark.stream.handle == stream)
        block->mark.stream.handle = STREAM_GONE;
}

void pools_stream_destroyed(uintptr_t stream)
{
    pools_hold();
    each_free(stream_destroyed, stream);
    pools_let();
}

void pools_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(pools, 0, sizeof pools);
    memset(orphans, 0, sizeof orphans);
    slots = 0;
    pools_surplus = 0;
    pool_blocks_forked();
    stream_marks_forked();
}
