/* Allocations from pools and frees, in the order of streams. */
#include "direct/turns/capture.h"
#include "direct/turns/devices.h"
#include "direct/pools/pool_state.h"
#include "session/segment.h"
#include "direct/swap/swap.h"

#define SAME_STREAM_LOOKS 64u  /* blocks of a class that are examined */
#define OTHER_STREAM_LOOKS 16u /* events that are queried, some 100 ns each */
#define ALIGNMENT 512

static void use(struct pool *pool, struct pool_block *block)
{
    stream_mark_drop(&block->mark);
    block->mark = (struct stream_mark){.reached = true};
    block->pool = pool;
    pool_block_put(block);
    pool->used += block->extent;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
}

/* Lock held. A free block that the stream may use at once, or with `pending` one that it must wait for; NULL: none. */
static struct pool_block *fitting(struct pool *pool, uint64_t extent, struct stream_identity stream, bool pending)
{
    unsigned class = pool_block_class(extent);
    for (unsigned c = class; c <= class + 1 && c < POOL_BLOCK_CLASSES; c++) {
        unsigned looks = 0;
        for (struct pool_block *b = pool->free[c].newest; b && looks < SAME_STREAM_LOOKS; b = b->older, looks++)
            if (b->extent >= extent && (pending ? b->mark.event != NULL : stream_same(b->mark.stream, stream)))
                return b;
        if (pending || !pool->opportunistic)
            continue;
        looks = 0;
        for (struct pool_block *b = pool->free[c].oldest; b && looks < OTHER_STREAM_LOOKS; b = b->newer, looks++)
            if (b->extent >= extent && stream_mark_reached(&b->mark))
                return b;
    }
    return NULL;
}

static struct pool_block *reuse(struct pool *pool, uint64_t extent, struct stream_identity stream)
{
    struct capture_mode mode = capture_mode_relax();
    pools_hold();
    struct pool_block *block = pool->free_count ? fitting(pool, extent, stream, false) : NULL;
    if (block) {
        pool_take_free(pool, block);
        use(pool, block);
    }
    pools_let();
    capture_mode_restore(mode);
    return block;
}

/* Last resort: a block that another stream still uses. The stream waits for it, if the pool allows dependencies. */
static struct pool_block *reuse_after(struct pool *pool, uint64_t extent, struct stream_identity stream)
{
    pools_hold();
    struct pool_block *block = pool->dependencies ? fitting(pool, extent, stream, true) : NULL;
    if (block)
        pool_take_free(pool, block);
    pools_let();
    if (!block)
        return NULL;
    bool ordered = stream_mark_follow(&block->mark, stream) == CUDA_SUCCESS;
    pools_hold();
    if (ordered)
        use(pool, block);
    else
        pool_put_free(pool, block);
    pools_let();
    return ordered ? block : NULL;
}

/* Makes a context of the device current: the stream's, or the primary one if the pool is on another device. */
static CUresult enter_context(unsigned device, CUcontext context)
{
    CUcontext popped;
    CUdevice of = -1;
    CUresult result = REAL(cuCtxPushCurrent_v2)(context);
    if (result != CUDA_SUCCESS || (REAL(cuCtxGetDevice)(&of) == CUDA_SUCCESS && of == (CUdevice)device))
        return result;
    REAL(cuCtxPopCurrent_v2)(&popped);
    void *primary = devices_primary((CUdevice)device);
    return primary ? REAL(cuCtxPushCurrent_v2)(primary) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult pools_back(struct pool_block *block, unsigned device, unsigned kind, CUcontext context)
{
    struct swap_options options = {.kind = (uint8_t)kind, .tag = (uint64_t)(uintptr_t)block};
    struct capture_mode mode = capture_mode_relax();
    CUcontext popped;
    CUresult result = enter_context(device, context);
    if (result == CUDA_SUCCESS) {
        result = swap_allocate(device, block->extent, ALIGNMENT, options, &block->pointer);
        REAL(cuCtxPopCurrent_v2)(&popped);
    }
    capture_mode_restore(mode);
    return result;
}

/* Whether the client's target does not cover this many bytes more. */
static bool scarce(unsigned device, uint64_t bytes)
{
    const struct tessera_residency *r = &segment_get()->residency[device];
    return __atomic_load_n(&r->active, __ATOMIC_RELAXED) &&
           __atomic_load_n(&r->resident_bytes, __ATOMIC_RELAXED) + bytes >
               __atomic_load_n(&r->resident_target, __ATOMIC_RELAXED);
}

/* Reserves `extent` within the pool's maximum, releasing free memory if needed. False: beyond the maximum. */
static bool reserve(struct pool *pool, uint64_t extent)
{
    for (bool trimmed = false;; trimmed = true) {
        pools_hold();
        bool fits = !pool->max_bytes || (extent <= pool->max_bytes && pool->reserved <= pool->max_bytes - extent);
        if (fits && (pool->reserved += extent) > pool->reserved_high)
            pool->reserved_high = pool->reserved;
        pools_let();
        if (fits || trimmed)
            return fits;
        pools_trim(pool, 0);
    }
}

static void unreserve(struct pool *pool, struct pool_block *block, uint64_t extent)
{
    pools_hold();
    pool->reserved -= extent;
    if (block)
        pool_block_delete(block);
    pools_let();
}

static CUresult grow(struct pool *pool, uint64_t extent, CUcontext context, struct pool_block **grown)
{
    if (scarce(pool->device, extent))
        pools_release(pool->device);
    if (!reserve(pool, extent))
        return CUDA_ERROR_OUT_OF_MEMORY;
    pools_hold();
    struct pool_block *block = pool_block_new();
    pools_let();
    if (!block) {
        unreserve(pool, NULL, extent);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    block->extent = extent;
    block->pool = pool;
    CUresult result = pools_back(block, pool->device, SWAP_POOLED, context);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && pools_release(pool->device))
        result = pools_back(block, pool->device, SWAP_POOLED, context);
    if (result != CUDA_SUCCESS) {
        unreserve(pool, block, extent);
        return result;
    }
    pools_hold();
    use(pool, block);
    pools_let();
    *grown = block;
    return CUDA_SUCCESS;
}

CUresult pools_allocate(struct pool *pool, uint64_t bytes, struct stream_identity stream, CUdeviceptr *pointer)
{
    uint64_t extent = pool_block_extent(bytes);
    if (extent == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = CUDA_SUCCESS;
    struct pool_block *block = reuse(pool, extent, stream);
    if (!block)
        result = grow(pool, extent, stream.context, &block);
    if (!block && result == CUDA_ERROR_OUT_OF_MEMORY)
        block = reuse_after(pool, extent, stream);
    if (!block)
        return result;
    *pointer = block->pointer;
    return CUDA_SUCCESS;
}

bool pools_owns(CUdeviceptr pointer, unsigned *device, uint64_t *capture)
{
    if (!__atomic_load_n(&pool_blocks_used, __ATOMIC_RELAXED))
        return false;
    pools_hold();
    const struct pool_block *block = pool_block_find(pointer);
    if (block) {
        *device = block->pool->device;
        *capture = block->capture;
    }
    pools_let();
    return block != NULL;
}

/* Removes a block that the program frees from the table; NULL: none. */
static struct pool_block *take_used(CUdeviceptr pointer)
{
    pools_hold();
    struct pool_block *block = pool_block_find(pointer);
    if (block)
        pool_block_take(block);
    pools_let();
    return block;
}

/* Lock held: moves a block to its pool's free memory. */
static void freed(struct pool_block *block)
{
    block->pool->used -= block->extent;
    pool_put_free(block->pool, block);
    pool_changed(block->pool);
}

CUresult pools_free(CUdeviceptr pointer, struct stream_identity stream)
{
    struct pool_block *block = take_used(pointer);
    struct stream_mark mark;
    if (!block)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_mark_take(stream, &mark);
    pools_hold();
    if (result == CUDA_SUCCESS) {
        block->mark = mark;
        block->number = pools_next_free();
        freed(block);
    } else {
        pool_block_put(block);
    }
    pools_let();
    return result;
}

CUresult pools_free_idle(CUdeviceptr pointer, bool idle)
{
    struct pool_block *block = take_used(pointer);
    if (!block)
        return CUDA_ERROR_INVALID_VALUE;
    pools_hold();
    block->mark = (struct stream_mark){.reached = idle};
    block->number = pools_next_free();
    freed(block);
    pools_let();
    return CUDA_SUCCESS;
}

void pools_orphan(struct pool_block *block)
{
    struct pool *pool = pool_orphans(block->pool->device);
    block->pool = pool;
    pool->reserved += block->extent;
    pool_put_free(pool, block);
    pool_changed(pool);
}

/* Makes memory that no pool allocated a free block of no pool, reusable when its mark is reached. */
static CUresult free_recorded(CUdeviceptr pointer, uint64_t bytes, unsigned device, struct stream_mark mark)
{
    pools_hold();
    struct pool_block *block = pool_block_new();
    if (block) {
        block->pointer = pointer;
        block->extent = pool_block_extent(bytes);
        block->mark = mark;
        block->number = pools_next_free();
        block->pool = pool_orphans(device);
        pools_orphan(block);
    } else {
        stream_mark_drop(&mark);
    }
    pools_let();
    return block ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult pools_free_foreign(CUdeviceptr pointer, uint64_t bytes, unsigned device, struct stream_identity stream)
{
    struct stream_mark mark;
    CUresult result = stream_mark_take(stream, &mark);
    return result == CUDA_SUCCESS ? free_recorded(pointer, bytes, device, mark) : result;
}

CUresult pools_free_later(CUdeviceptr pointer, uint64_t bytes, unsigned device)
{
    return free_recorded(pointer, bytes, device, (struct stream_mark){0});
}

CUresult pools_quiesce(unsigned device)
{
    /* Keeps captures from beginning, because the wait would invalidate them. */
    if (!capture_shield_wait())
        return CUDA_ERROR_NOT_READY;
    uint64_t moment = pools_moment();
    CUresult result = swap_quiesce(device);
    capture_unshield();
    if (result == CUDA_SUCCESS)
        pools_quiet(device, moment);
    return result;
}
