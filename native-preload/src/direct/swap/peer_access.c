#include "direct/swap/peer_access.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "session/report.h"
#include "session/settings.h"
#include "direct/swap/swap.h"
#include "tessera_abi.h"

#define MAX_POOLS 64 /* pools with access for other devices, at one time */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned contexts[TESSERA_MAX_DEVICES][TESSERA_MAX_DEVICES]; /* [owner][peer]: contexts that enabled it */
static bool let[TESSERA_MAX_DEVICES][TESSERA_MAX_DEVICES];          /* [owner][peer] */
static struct {
    CUmemoryPool pool; /* NULL: free */
    unsigned device;
    uint32_t peers; /* bit per device */
} pools[MAX_POOLS];

static bool tracked(int device)
{
    return device >= 0 && device < TESSERA_MAX_DEVICES;
}

/* Lock held. */
static bool allowed(unsigned device, unsigned peer)
{
    bool yes = let[device][peer] || contexts[device][peer] != 0;
    for (int i = 0; i < MAX_POOLS && !yes; i++)
        yes = pools[i].pool && pools[i].device == device && (pools[i].peers & 1u << peer);
    return yes;
}

/* Without the lock: if two threads change the same access at once, the program itself has a race. */
static void tell(unsigned device, unsigned peer, bool before)
{
    pthread_mutex_lock(&lock);
    bool now = allowed(device, peer);
    pthread_mutex_unlock(&lock);
    if (now != before && device != peer)
        swap_peer_access(device, peer, now);
}

static int device_of(CUcontext context)
{
    CUdevice device = -1;
    CUcontext popped;
    if (!context || REAL(cuCtxPushCurrent_v2)(context) != CUDA_SUCCESS)
        return -1;
    CUresult result = REAL(cuCtxGetDevice)(&device);
    REAL(cuCtxPopCurrent_v2)(&popped);
    return result == CUDA_SUCCESS ? device : -1;
}

void peer_access_of_context(CUcontext other, int by)
{
    CUdevice peer = -1;
    int device = settings()->swap ? device_of(other) : -1;
    if (!tracked(device) || REAL(cuCtxGetDevice)(&peer) != CUDA_SUCCESS || !tracked(peer))
        return;
    pthread_mutex_lock(&lock);
    bool before = allowed((unsigned)device, (unsigned)peer);
    contexts[device][peer] += (unsigned)by;
    pthread_mutex_unlock(&lock);
    tell((unsigned)device, (unsigned)peer, before);
}

/* Lock held. The pool's entry, a new one if it has none; -1: no entry is free. */
static int entry_of(CUmemoryPool pool, unsigned device)
{
    int entry = -1;
    for (int i = 0; i < MAX_POOLS; i++)
        if (pools[i].pool == pool)
            return i;
        else if (!pools[i].pool && entry < 0)
            entry = i;
    if (entry >= 0) {
        pools[entry].pool = pool;
        pools[entry].device = device;
        pools[entry].peers = 0;
    }
    return entry;
}

void peer_access_of_pool(CUmemoryPool pool, unsigned device, const void *access, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct driver_access d;
        memcpy(&d, (const char *)access + i * sizeof d, sizeof d);
        if (d.location.type != CU_MEM_LOCATION_TYPE_DEVICE || !tracked(d.location.id))
            continue;
        uint32_t bit = 1u << d.location.id;
        pthread_mutex_lock(&lock);
        bool before = allowed(device, (unsigned)d.location.id);
        int entry = entry_of(pool, device);
        if (entry >= 0)
            pools[entry].peers = d.flags ? pools[entry].peers | bit : pools[entry].peers & ~bit;
        pthread_mutex_unlock(&lock);
        if (entry < 0) { /* grants too much access, which is better than a fault */
            report_error(0, "more than %d pools with access for other devices: theirs stays", MAX_POOLS);
            swap_peer_access(device, (unsigned)d.location.id, true);
        } else {
            tell(device, (unsigned)d.location.id, before);
        }
    }
}

void peer_access_let(unsigned device, unsigned peer)
{
    pthread_mutex_lock(&lock);
    bool before = allowed(device, peer);
    let[device][peer] = true;
    pthread_mutex_unlock(&lock);
    tell(device, peer, before);
}

void peer_access_pool_destroyed(CUmemoryPool pool)
{
    uint32_t before = 0;
    unsigned device = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_POOLS && pool; i++)
        if (pools[i].pool == pool) {
            before = pools[i].peers;
            device = pools[i].device;
            pools[i].pool = NULL;
        }
    pthread_mutex_unlock(&lock);
    for (unsigned peer = 0; before; peer++, before >>= 1)
        if (before & 1)
            tell(device, peer, true);
}

void peer_access_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(contexts, 0, sizeof contexts);
    memset(let, 0, sizeof let);
    memset(pools, 0, sizeof pools);
}
