/*
 * Stream-ordered memory. Under plan managed the pools themselves are managed (allocation type MANAGED, driver 580 and
 * later), so order, reuse, attributes and trimming stay the driver's own; a pool whose memory may be exported stays
 * plain.
 */
#include <pthread.h>
#include <string.h>

#include "capture.h"
#include "gate.h"
#include "graph_memory.h"
#include "memory.h"
#include "quota.h"
#include "report.h"
#include "segment.h"
#include "settings.h"
#include "tessera_entries.h"

#define MAX_POOLS 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUmemoryPool default_pool[TESSERA_MAX_DEVICES]; /* managed twin of the device's default pool */
static bool default_tried[TESSERA_MAX_DEVICES];
static CUmemoryPool managed_pools[MAX_POOLS];

static bool remember(CUmemoryPool pool)
{
    for (int i = 0; i < MAX_POOLS; i++)
        if (!managed_pools[i]) {
            managed_pools[i] = pool;
            return true;
        }
    return false;
}

static bool is_managed(CUmemoryPool pool)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_POOLS && !found; i++)
        found = pool && managed_pools[i] == pool;
    pthread_mutex_unlock(&lock);
    return found;
}

static void fell_back(CUresult result)
{
    segment_count(TESSERA_COUNTER_MANAGED_FALLBACKS, 1);
    report_error(result, "this driver has no managed pools: stream-ordered memory stays plain");
}

/* The managed pool that stands in for the device's default one, and is made its current one; NULL: plain. */
static CUmemoryPool managed_default(unsigned device)
{
    if (!memory_managed(device))
        return NULL;
    pthread_mutex_lock(&lock);
    if (!default_tried[device]) {
        default_tried[device] = true;
        struct driver_pool_properties properties = {
            .allocation_type = CU_MEM_ALLOCATION_TYPE_MANAGED,
            .location = {CU_MEM_LOCATION_TYPE_DEVICE, (int)device},
        };
        CUmemoryPool pool = NULL, current = NULL, initial = NULL;
        CUresult result = REAL(cuMemPoolCreate)(&pool, (void *)&properties);
        if (result != CUDA_SUCCESS) {
            fell_back(result);
        } else if (remember(pool)) {
            default_pool[device] = pool;
            /* Only in the default pool's place: a pool that the program chose stays its choice. */
            if (REAL(cuDeviceGetMemPool)(&current, (CUdevice)device) == CUDA_SUCCESS &&
                REAL(cuDeviceGetDefaultMemPool)(&initial, (CUdevice)device) == CUDA_SUCCESS && current == initial)
                REAL(cuDeviceSetMemPool)((CUdevice)device, pool);
        }
    }
    CUmemoryPool pool = default_pool[device];
    pthread_mutex_unlock(&lock);
    return pool;
}

static bool governed(CUdevice device)
{
    return !settings()->disabled && device >= 0 && device < TESSERA_MAX_DEVICES;
}

TESSERA_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUmemoryPool managed = governed(device) && pool ? managed_default((unsigned)device) : NULL;
    if (!managed)
        return REAL(cuDeviceGetDefaultMemPool)(pool, device);
    *pool = managed;
    return CUDA_SUCCESS;
}

TESSERA_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    if (governed(device))
        managed_default((unsigned)device);
    return REAL(cuDeviceGetMemPool)(pool, device);
}

TESSERA_EXPORT CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    if (governed(device))
        managed_default((unsigned)device);
    return REAL(cuDeviceSetMemPool)(device, pool);
}

TESSERA_EXPORT CUresult cuMemPoolCreate(CUmemoryPool *pool, const void *properties)
{
    struct driver_pool_properties wanted;
    if (!pool || !properties || settings()->disabled)
        return REAL(cuMemPoolCreate)(pool, properties);
    memcpy(&wanted, properties, sizeof wanted);
    bool convert = wanted.allocation_type == CU_MEM_ALLOCATION_TYPE_PINNED && wanted.handle_types == 0 &&
                   wanted.location.type == CU_MEM_LOCATION_TYPE_DEVICE && governed(wanted.location.id) &&
                   memory_managed((unsigned)wanted.location.id);
    if (!convert)
        return REAL(cuMemPoolCreate)(pool, properties);
    wanted.allocation_type = CU_MEM_ALLOCATION_TYPE_MANAGED;
    CUresult result = REAL(cuMemPoolCreate)(pool, (void *)&wanted);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY) {
        fell_back(result);
        return REAL(cuMemPoolCreate)(pool, properties);
    }
    pthread_mutex_lock(&lock);
    if (result == CUDA_SUCCESS && !remember(*pool))
        report_error(0, "more than %d managed pools: the rest count as plain", MAX_POOLS);
    pthread_mutex_unlock(&lock);
    return result;
}

TESSERA_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    CUresult result = REAL(cuMemPoolDestroy)(pool);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_POOLS; i++)
        if (result == CUDA_SUCCESS && pool && managed_pools[i] == pool)
            managed_pools[i] = NULL;
    pthread_mutex_unlock(&lock);
    return result;
}

/* An allocation that is captured is a node of a graph: its memory comes with the graph's launch (graph_memory.c). */
static bool captured(CUstream stream, bool per_thread)
{
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!capture_open_any())
        return false;
    CUresult result = per_thread ? REAL(cuStreamIsCapturing_ptsz)(stream, (void *)&status)
                                 : REAL(cuStreamIsCapturing)(stream, (void *)&status);
    bool yes = result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
    if (yes)
        graph_memory_seen();
    return yes;
}

/* Freed by cuMemFreeAsync or by the end of the process, not with a context: owner 0. */
static CUresult settle(CUresult result, const CUdeviceptr *pointer, size_t bytes, unsigned device, bool managed)
{
    if (result == CUDA_SUCCESS)
        memory_record(ALLOCATION_POINTER, *pointer, bytes, device, 0, managed);
    else
        quota_give(device, bytes);
    return result;
}

#define ALLOCATE(call, pool_is_managed, per_thread)                                                                    \
    int device = memory_device();                                                                                      \
    if (device < 0 || !pointer || bytes == 0 || captured(stream, per_thread))                                          \
        return (call);                                                                                                 \
    if (!quota_take((unsigned)device, bytes))                                                                          \
        return CUDA_ERROR_OUT_OF_MEMORY;                                                                               \
    bool managed = (pool_is_managed); /* first: it may put a managed pool in place */                                  \
    return settle((call), pointer, bytes, (unsigned)device, managed)

static bool current_pool_managed(unsigned device)
{
    CUmemoryPool pool = NULL;
    managed_default(device);
    return REAL(cuDeviceGetMemPool)(&pool, (CUdevice)device) == CUDA_SUCCESS && is_managed(pool);
}

TESSERA_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    ALLOCATE(REAL(cuMemAllocAsync)(pointer, bytes, stream), current_pool_managed((unsigned)device), false);
}

TESSERA_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    ALLOCATE(REAL(cuMemAllocAsync_ptsz)(pointer, bytes, stream), current_pool_managed((unsigned)device), true);
}

TESSERA_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    ALLOCATE(REAL(cuMemAllocFromPoolAsync)(pointer, bytes, pool, stream), is_managed(pool), false);
}

TESSERA_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                                                     CUstream stream)
{
    ALLOCATE(REAL(cuMemAllocFromPoolAsync_ptsz)(pointer, bytes, pool, stream), is_managed(pool), true);
}
