#include "direct/pools/managed_pools.h"

#include <pthread.h>
#include <string.h>

#include "direct/memory/memory.h"
#include "session/report.h"
#include "session/segment.h"

#define MAX_POOLS 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUmemoryPool default_pool[TESSERA_MAX_DEVICES]; /* managed twin of the device's default pool */
static bool default_tried[TESSERA_MAX_DEVICES];
static CUmemoryPool managed_pools[MAX_POOLS];

/* Lock held. */
static bool remember(CUmemoryPool pool)
{
    for (int i = 0; i < MAX_POOLS; i++)
        if (!managed_pools[i]) {
            managed_pools[i] = pool;
            return true;
        }
    return false;
}

bool managed_pools_have(CUmemoryPool pool)
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
    report_failure(result, "this driver has no managed pools: stream-ordered memory stays plain");
}

CUmemoryPool managed_pools_default(unsigned device)
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
            /* Replaces the default pool only, not a pool that the program has set. */
            if (REAL(cuDeviceGetMemPool)(&current, (CUdevice)device) == CUDA_SUCCESS &&
                REAL(cuDeviceGetDefaultMemPool)(&initial, (CUdevice)device) == CUDA_SUCCESS && current == initial)
                REAL(cuDeviceSetMemPool)((CUdevice)device, pool);
        }
    }
    CUmemoryPool pool = default_pool[device];
    pthread_mutex_unlock(&lock);
    return pool;
}

CUresult managed_pools_create(CUmemoryPool *pool, const void *properties)
{
    struct driver_pool_properties wanted;
    memcpy(&wanted, properties, sizeof wanted);
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

void managed_pools_forget(CUmemoryPool pool)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_POOLS; i++)
        if (pool && managed_pools[i] == pool)
            managed_pools[i] = NULL;
    pthread_mutex_unlock(&lock);
}
