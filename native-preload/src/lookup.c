#include "lookup.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

#include "driver.h"
#include "segment.h"
#include "settings.h"
#include "tessera_entries.h"

/* A power of two, several times the number of hooks (some 250): probes stay short. */
#define BUCKETS 2048u

static struct {
    void *address, *ours;
} table[BUCKETS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static unsigned bucket_of(const void *address)
{
    return (unsigned)(((uintptr_t)address >> 4) * 0x9e3779b97f4a7c15ULL >> 32) & (BUCKETS - 1);
}

/* The driver is open already: the caller has just been answered by it. */
static void build(void)
{
    void *driver = driver_handle();
    for (unsigned i = 0; driver && i < tessera_hooked_count && i < BUCKETS / 2; i++) {
        void *address = dlsym(driver, tessera_entry_name[tessera_hooked[i].entry]);
        if (!address)
            continue;
        unsigned b = bucket_of(address);
        while (table[b].address && table[b].address != address)
            b = (b + 1) & (BUCKETS - 1);
        if (table[b].address)
            continue; /* two names of one entry: the hooks are the same too */
        table[b].address = address;
        table[b].ours = tessera_exported[tessera_hooked[i].entry]; /* as dlsym on us answers */
    }
}

void *lookup_substitute(void *address)
{
    pthread_once(&once, build);
    for (unsigned b = bucket_of(address); table[b].address; b = (b + 1) & (BUCKETS - 1))
        if (table[b].address == address)
            return table[b].ours;
    return address;
}

/* The status that came with the answer stays as it is. */
static void substitute(CUresult result, void **address)
{
    segment_open();
    segment_count(TESSERA_COUNTER_LOOKUPS, 1);
    if (result != CUDA_SUCCESS || !address || !*address || settings()->disabled)
        return;
    void *hook = lookup_substitute(*address);
    if (hook != *address) {
        *address = hook;
        segment_count(TESSERA_COUNTER_SUBSTITUTIONS, 1);
    }
}

TESSERA_EXPORT CUresult cuGetProcAddress(const char *symbol, void **address, int version, uint64_t flags)
{
    CUresult result = REAL(cuGetProcAddress)(symbol, (void *)address, version, flags);
    substitute(result, address);
    return result;
}

TESSERA_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **address, int version, uint64_t flags,
                                            int *status)
{
    CUresult result = REAL(cuGetProcAddress_v2)(symbol, (void *)address, version, flags, status);
    substitute(result, address);
    return result;
}
