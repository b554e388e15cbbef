#include "direct/pools/captured_memory.h"

#include "direct/memory/memory.h"
#include "direct/pools/pool_state.h"
#include "session/quota.h"
#include "session/report.h"
#include "direct/swap/swap.h"

static struct pool_block_list captured; /* blocks whose graphs still exist; guarded by pools_hold() */
struct pool_block *captured_gone;       /* stack; atomic */

bool captured_place(CUstream stream, bool per_thread, struct capture_place *place)
{
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    *place = (struct capture_place){0};
    CUresult result = per_thread
                          ? REAL(cuStreamGetCaptureInfo_v2_ptsz)(stream, &status, &place->id, &place->graph, NULL, NULL)
                          : REAL(cuStreamGetCaptureInfo_v2)(stream, &status, &place->id, &place->graph, NULL, NULL);
    place->capturing = result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
    place->valid = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return result != CUDA_ERROR_NOT_SUPPORTED && result != CUDA_ERROR_NOT_FOUND;
}

/* Called by a thread of the driver, which must make no driver call: only queues the block. */
static void graph_gone(void *data)
{
    struct pool_block *block = data;
    struct pool_block *first = __atomic_load_n(&captured_gone, __ATOMIC_RELAXED);
    do
        block->next_gone = first;
    while (!__atomic_compare_exchange_n(&captured_gone, &first, block, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* A block that the same stream has freed in the same capture; NULL: none. */
static struct pool_block *again(uint64_t extent, struct stream_identity stream, uint64_t capture)
{
    struct pool_block *found = NULL;
    pools_hold();
    for (struct pool_block *b = captured.newest; b && !found; b = b->older)
        if (b->freed && b->capture == capture && b->extent >= extent && b->extent / 2 < extent &&
            stream_same(b->mark.stream, stream))
            found = b;
    if (found)
        found->freed = false;
    pools_let();
    return found;
}

/* Makes the graph own the block. On failure the block is marked freed and queued for captured_collect(). */
static CUresult hand_to_graph(struct pool_block *block, CUgraph graph)
{
    CUuserObject object = NULL;
    struct capture_mode mode = capture_mode_relax();
    CUresult result = REAL(cuUserObjectCreate)(&object, block, (void *)graph_gone, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    bool made = result == CUDA_SUCCESS;
    if (made)
        result = REAL(cuGraphRetainUserObject)(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (result != CUDA_SUCCESS) {
        block->freed = true;
        if (made)
            REAL(cuUserObjectRelease)(object, 1);
        else
            graph_gone(block);
    }
    capture_mode_restore(mode);
    return result;
}

static struct pool_block *new_block(unsigned device, uint64_t bytes, struct capture_place place)
{
    pools_hold();
    struct pool_block *block = pool_block_new();
    if (block) {
        block->extent = pool_block_extent(bytes);
        block->pool = pool_orphans(device);
        block->capture = place.id;
        block->graph = place.graph;
    }
    pools_let();
    return block;
}

CUresult captured_allocate(unsigned device, uint64_t bytes, CUstream stream, uintptr_t otherwise,
                           struct capture_place place, CUdeviceptr *pointer)
{
    struct stream_identity identity;
    CUresult result = place.valid ? stream_identify(stream, otherwise, &identity)
                                  : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t extent = pool_block_extent(bytes);
    struct pool_block *block = extent ? again(extent, identity, place.id) : NULL;
    if (block) {
        *pointer = block->pointer;
        return CUDA_SUCCESS;
    }
    captured_collect();
    if (!quota_take(device, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    block = extent ? new_block(device, bytes, place) : NULL;
    result = block ? pools_back(block, device, SWAP_GRAPH, identity.context) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        quota_give(device, bytes);
        pools_hold();
        if (block)
            pool_block_delete(block);
        pools_let();
        return result;
    }
    memory_record(ALLOCATION_POINTER, block->pointer, bytes, device, 0, false);
    pools_hold();
    pool_block_put(block);
    pool_block_append(&captured, block);
    pools_let();
    *pointer = block->pointer;
    return hand_to_graph(block, place.graph);
}

/* Takes `mark`, which the stream must reach before the memory is reused; drops it if the block is not freed. */
static CUresult free_at(CUdeviceptr pointer, struct stream_mark mark, bool capturing)
{
    pools_hold();
    struct pool_block *block = pool_block_find(pointer);
    bool known = block && block->capture, valid = known && !(capturing && block->freed);
    if (valid) {
        stream_mark_drop(&block->mark);
        block->mark = mark;
        block->freed = true;
    } else {
        stream_mark_drop(&mark);
    }
    pools_let();
    return valid ? CUDA_SUCCESS : known ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_FOUND;
}

CUresult captured_free(CUdeviceptr pointer, CUstream stream, uintptr_t otherwise, struct capture_place place)
{
    struct stream_mark mark = {.reached = true};
    CUresult result = stream_identify(stream, otherwise, &mark.stream);
    if (result == CUDA_SUCCESS && place.capturing && !place.valid)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (result == CUDA_SUCCESS && !place.capturing)
        result = stream_mark_take(mark.stream, &mark);
    return result == CUDA_SUCCESS ? free_at(pointer, mark, place.capturing) : result;
}

CUresult captured_free_idle(CUdeviceptr pointer, unsigned device)
{
    CUresult result = pools_quiesce(device);
    struct stream_mark mark = {.reached = result == CUDA_SUCCESS};
    return result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY ? free_at(pointer, mark, false) : result;
}

void captured_ended(CUgraph graph)
{
    pools_hold();
    for (struct pool_block *block = captured.oldest; block; block = block->newer)
        block->ended |= block->graph == graph;
    pools_let();
}

void captured_order_changed(void)
{
    pools_hold();
    for (struct pool_block *block = captured.oldest; block; block = block->newer)
        block->mark.stream.handle = STREAM_GONE;
    pools_let();
}

/*
 * A block that was freed, or whose capture failed, becomes free memory of no pool. Any other block becomes an ordinary
 * allocation of the program.
 */
static void collect_one(struct pool_block *block)
{
    struct allocation allocation;
    pools_hold();
    pool_block_unlink(&captured, block);
    block->capture = 0;
    bool freed = block->freed || !block->ended;
    if (!block->freed)
        block->mark = (struct stream_mark){.reached = !block->ended};
    if (freed) {
        pool_block_take(block);
        block->number = pools_next_free();
        pools_orphan(block);
    } else {
        struct pool *pool = block->pool; /* counted here, because pools_free() will subtract it */
        pool->used += block->extent;
        pool->reserved += block->extent;
    }
    CUdeviceptr pointer = block->pointer;
    pools_let();
    if (freed && allocations_remove(ALLOCATION_POINTER, pointer, &allocation))
        memory_forget(&allocation);
}

void captured_collect(void)
{
    if (!__atomic_load_n(&captured_gone, __ATOMIC_RELAXED))
        return;
    struct pool_block *block = __atomic_exchange_n(&captured_gone, NULL, __ATOMIC_ACQUIRE);
    while (block) {
        struct pool_block *next = block->next_gone;
        collect_one(block);
        block = next;
    }
}

bool captured_in(CUgraph graph)
{
    bool found = false;
    pools_hold();
    for (struct pool_block *block = captured.oldest; block && !found; block = block->newer)
        found = block->graph == graph;
    pools_let();
    return found;
}

void captured_context_ended(const void *context)
{
    pools_hold();
    for (struct pool_block *block = captured.oldest; block; block = block->newer)
        if (stream_mark_of(&block->mark, context))
            block->mark = (struct stream_mark){.reached = true};
    pools_let();
}

void captured_forked(void)
{
    captured = (struct pool_block_list){0};
    captured_gone = NULL;
}
