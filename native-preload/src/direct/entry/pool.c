/*
 * Stream-ordered memory, and its pools. Under plan managed, pools are managed (managed_pools.h); under plan swap, they
 * are the library's (pools.h). A pool of exportable memory stays the driver's, and its memory counts as fixed.
 */
#include <string.h>

#include "direct/turns/capture.h"
#include "direct/pools/captured_memory.h"
#include "direct/turns/devices.h"
#include "direct/pools/fixed_room.h"
#include "direct/turns/gate.h"
#include "direct/pools/graph_memory.h"
#include "direct/pools/managed_pools.h"
#include "direct/memory/memory.h"
#include "direct/swap/peer_access.h"
#include "direct/pools/pools.h"
#include "session/quota.h"
#include "session/segment.h"
#include "session/settings.h"
#include "direct/swap/swap.h"
#include "tessera_entries.h"

static bool governed(CUdevice device)
{
    return !settings()->disabled && device >= 0 && device < TESSERA_MAX_DEVICES;
}

TESSERA_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUmemoryPool managed = governed(device) && pool ? managed_pools_default((unsigned)device) : NULL;
    if (!managed)
        return REAL(cuDeviceGetDefaultMemPool)(pool, device);
    *pool = managed;
    return CUDA_SUCCESS;
}

TESSERA_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    if (governed(device))
        managed_pools_default((unsigned)device);
    return REAL(cuDeviceGetMemPool)(pool, device);
}

TESSERA_EXPORT CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    if (governed(device))
        managed_pools_default((unsigned)device);
    return REAL(cuDeviceSetMemPool)(device, pool);
}

/* The library's pool for an allocation; `handle` NULL: the device's current pool. NULL: the driver allocates. */
static struct pool *swap_pool(unsigned device, CUmemoryPool handle)
{
    CUmemoryPool initial = NULL;
    if (!memory_swapped(device) || (!handle && REAL(cuDeviceGetMemPool)(&handle, (CUdevice)device) != CUDA_SUCCESS))
        return NULL;
    struct pool *pool = pools_find(handle);
    if (!pool && REAL(cuDeviceGetDefaultMemPool)(&initial, (CUdevice)device) == CUDA_SUCCESS && initial == handle)
        pool = pools_adopt(handle, device, 0);
    return pool;
}

/* Finds the pool for a query: a default pool may be queried before anything was allocated from it. */
static struct pool *known_pool(CUmemoryPool handle)
{
    struct pool *pool = settings()->disabled ? NULL : pools_find(handle);
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES && !pool && handle; i++)
        if (devices_opened(i))
            pool = swap_pool(i, handle);
    return pool;
}

TESSERA_EXPORT CUresult cuMemPoolCreate(CUmemoryPool *pool, const void *properties)
{
    struct driver_pool_properties wanted;
    if (!pool || !properties || settings()->disabled)
        return REAL(cuMemPoolCreate)(pool, properties);
    memcpy(&wanted, properties, sizeof wanted);
    bool movable = wanted.allocation_type == CU_MEM_ALLOCATION_TYPE_PINNED && wanted.handle_types == 0 &&
                   wanted.location.type == CU_MEM_LOCATION_TYPE_DEVICE && governed(wanted.location.id);
    if (movable && memory_managed((unsigned)wanted.location.id))
        return managed_pools_create(pool, properties);
    CUresult result = REAL(cuMemPoolCreate)(pool, properties);
    if (result == CUDA_SUCCESS && movable && wanted.usage == 0 && memory_swapped((unsigned)wanted.location.id))
        pools_adopt(*pool, (unsigned)wanted.location.id, wanted.max_bytes);
    return result;
}

TESSERA_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    CUresult result = REAL(cuMemPoolDestroy)(pool);
    if (result == CUDA_SUCCESS) {
        managed_pools_forget(pool);
        peer_access_pool_destroyed(pool);
        pools_destroyed(pool);
    }
    return result;
}

TESSERA_EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep)
{
    CUresult result = REAL(cuMemPoolTrimTo)(handle, keep);
    struct pool *pool = result == CUDA_SUCCESS ? known_pool(handle) : NULL;
    if (pool)
        pools_trim(pool, keep);
    return result;
}

TESSERA_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool handle, int attribute, void *value)
{
    CUresult result = REAL(cuMemPoolSetAttribute)(handle, attribute, value);
    struct pool *pool = result == CUDA_SUCCESS ? known_pool(handle) : NULL;
    if (pool)
        pools_set_attribute(pool, attribute, value);
    return result;
}

TESSERA_EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool handle, int attribute, void *value)
{
    CUresult result = REAL(cuMemPoolGetAttribute)(handle, attribute, value);
    struct pool *pool = result == CUDA_SUCCESS ? known_pool(handle) : NULL;
    if (pool)
        pools_get_attribute(pool, attribute, value);
    return result;
}

TESSERA_EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool handle, const void *access, size_t count)
{
    CUresult result = REAL(cuMemPoolSetAccess)(handle, access, count);
    struct pool *pool = result == CUDA_SUCCESS ? known_pool(handle) : NULL;
    if (pool)
        peer_access_of_pool(handle, pools_device(pool), access, count);
    return result;
}

/* The stream and the capture of an allocation or free. */
struct request {
    CUstream stream;
    uintptr_t otherwise; /* the stream that NULL means */
    struct capture_place place;
};

static struct request request_on(CUstream stream, uintptr_t otherwise)
{
    struct request r = {.stream = stream, .otherwise = otherwise};
    bool per_thread = otherwise == TESSERA_STREAM_PER_THREAD;
    if (capture_open_any() && !captured_place(stream, per_thread, &r.place)) {
        /* Before CUDA 11.3 the captured graph cannot be queried, and a graph owns no user objects. */
        int status = CU_STREAM_CAPTURE_STATUS_NONE;
        CUresult result = per_thread ? REAL(cuStreamIsCapturing_ptsz)(stream, (void *)&status)
                                     : REAL(cuStreamIsCapturing)(stream, (void *)&status);
        r.place.capturing = result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
    }
    return r;
}

/* Records an allocation with context 0, because the end of a context does not free it. On failure returns its bytes to the quota. */
static CUresult settle(CUresult result, const CUdeviceptr *pointer, size_t bytes, unsigned device, bool managed)
{
    if (result != CUDA_SUCCESS)
        quota_give(device, bytes);
    else if (managed)
        memory_record(ALLOCATION_POINTER, *pointer, bytes, device, 0, true);
    else
        memory_record_fixed(ALLOCATION_POINTER, *pointer, bytes, device, 0);
    return result;
}

static CUresult from_our_pool(CUdeviceptr *pointer, size_t bytes, struct pool *pool, const struct request *r)
{
    struct stream_identity identity;
    CUresult result = stream_identify(r->stream, r->otherwise, &identity);
    if (result != CUDA_SUCCESS)
        return result;
    captured_collect();
    unsigned device = pools_device(pool);
    if (!quota_take(device, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = pools_allocate(pool, bytes, identity, pointer);
    if (result == CUDA_SUCCESS)
        memory_record(ALLOCATION_POINTER, *pointer, bytes, device, 0, false);
    else
        quota_give(device, bytes);
    return result;
}

/* An allocation that the driver captures is a node of a graph: its memory is allocated when the graph is launched. */
#define ALLOCATE(call, handle, otherwise, pool_is_managed)                                                             \
    int device = settings()->disabled ? -1 : devices_of_stream(gate_stream(stream, otherwise));                        \
    if (device < 0 || !pointer || bytes == 0)                                                                          \
        return (call);                                                                                                 \
    struct request r = request_on(stream, otherwise);                                                                  \
    if (r.place.graph && memory_swapped((unsigned)device))                                                             \
        return captured_allocate((unsigned)device, bytes, stream, otherwise, r.place, pointer);                        \
    if (r.place.capturing) {                                                                                           \
        graph_memory_seen();                                                                                           \
        return (call);                                                                                                 \
    }                                                                                                                  \
    struct pool *ours = swap_pool((unsigned)device, handle);                                                           \
    if (ours)                                                                                                          \
        return from_our_pool(pointer, bytes, ours, &r);                                                                \
    if (!quota_take((unsigned)device, bytes))                                                                          \
        return CUDA_ERROR_OUT_OF_MEMORY;                                                                               \
    bool managed = (pool_is_managed); /* first, because it may make a managed pool current */                          \
    CUresult result = managed ? (call) : WITH_FIXED_ROOM((unsigned)device, bytes, call);                               \
    return settle(result, pointer, bytes, (unsigned)device, managed)

static bool current_pool_managed(unsigned device)
{
    CUmemoryPool pool = NULL;
    managed_pools_default(device);
    return REAL(cuDeviceGetMemPool)(&pool, (CUdevice)device) == CUDA_SUCCESS && managed_pools_have(pool);
}

TESSERA_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    ALLOCATE(REAL(cuMemAllocAsync)(pointer, bytes, stream), NULL, TESSERA_STREAM_LEGACY,
             current_pool_managed((unsigned)device));
}

TESSERA_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    ALLOCATE(REAL(cuMemAllocAsync_ptsz)(pointer, bytes, stream), NULL, TESSERA_STREAM_PER_THREAD,
             current_pool_managed((unsigned)device));
}

TESSERA_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    if (!pool)
        return REAL(cuMemAllocFromPoolAsync)(pointer, bytes, pool, stream);
    ALLOCATE(REAL(cuMemAllocFromPoolAsync)(pointer, bytes, pool, stream), pool, TESSERA_STREAM_LEGACY,
             managed_pools_have(pool));
}

TESSERA_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                                                     CUstream stream)
{
    if (!pool)
        return REAL(cuMemAllocFromPoolAsync_ptsz)(pointer, bytes, pool, stream);
    ALLOCATE(REAL(cuMemAllocFromPoolAsync_ptsz)(pointer, bytes, pool, stream), pool, TESSERA_STREAM_PER_THREAD,
             managed_pools_have(pool));
}

/* Frees memory of a capture, whose graph owns it. False: it is not such memory, or the graph is gone. */
static bool free_captured(CUdeviceptr pointer, CUstream stream, uintptr_t otherwise, CUresult *result)
{
    unsigned device;
    uint64_t capture = 0;
    if (!pools_owns(pointer, &device, &capture) || !capture)
        return false;
    struct request r = request_on(stream, otherwise);
    *result = captured_free(pointer, stream, otherwise, r.place);
    return *result != CUDA_ERROR_NOT_FOUND;
}

/* Frees memory of plan swap in the order of a stream. False: it is not of plan swap, and the driver frees it. */
static bool free_ours(CUdeviceptr pointer, CUstream stream, uintptr_t otherwise, bool known, CUresult *result)
{
    unsigned device;
    uint64_t capture;
    struct swap_range range;
    struct stream_identity identity;
    bool pooled = pools_owns(pointer, &device, &capture);
    if (!pooled &&
        !(settings()->swap && swap_find(pointer, &range) && range.base == pointer && range.kind != SWAP_PROGRAM))
        return false;
    struct request r = request_on(stream, otherwise);
    /* INVALID_VALUE: freed before; or not memory of the graph, the only memory that a capture can free. */
    *result = r.place.capturing || !known ? CUDA_ERROR_INVALID_VALUE : stream_identify(stream, otherwise, &identity);
    if (*result == CUDA_SUCCESS)
        *result = pooled ? pools_free(pointer, identity)
                         : pools_free_foreign(pointer, range.bytes, range.device, identity);
    return true;
}

/* The record is removed before the free, because another thread may get the address at once; restored on failure. */
static CUresult free_ordered(CUdeviceptr pointer, CUstream stream, uintptr_t otherwise)
{
    struct allocation gone;
    CUresult result;
    if (free_captured(pointer, stream, otherwise, &result))
        return result;
    bool known = pointer != 0 && allocations_remove(ALLOCATION_POINTER, pointer, &gone);
    if (!pointer || !free_ours(pointer, stream, otherwise, known, &result))
        result = otherwise == TESSERA_STREAM_LEGACY ? REAL(cuMemFreeAsync)(pointer, stream)
                                                    : REAL(cuMemFreeAsync_ptsz)(pointer, stream);
    if (known && result == CUDA_SUCCESS)
        memory_forget(&gone);
    else if (known)
        allocations_add(gone);
    else if (pointer && result == CUDA_SUCCESS)
        segment_count(TESSERA_COUNTER_UNTRACKED_FREES, 1);
    return result;
}

TESSERA_EXPORT CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream)
{
    return free_ordered(pointer, stream, TESSERA_STREAM_LEGACY);
}

TESSERA_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr pointer, CUstream stream)
{
    return free_ordered(pointer, stream, TESSERA_STREAM_PER_THREAD);
}
