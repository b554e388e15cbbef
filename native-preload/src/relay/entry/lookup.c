/*
 * cuGetProcAddress: finds the entry that a name means in a version. A vendor's driver is queried if there is one,
 * since only it knows its own history. The result is always a symbol of this library, and so a function of the relay
 * or a refusal.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "driver/driver.h"
#include "relay/entry/lookup.h"
#include "relay/wire/unsupported.h"
#include "relay/wire/relay.h"
#include "relay/wire/vendor.h"
#include "relay_stubs.h"

/* Maps the vendor's addresses to our symbols. The size is a power of two, several times the number of entries. */
#define BUCKETS 4096u
static struct {
    void *vendor, *ours;
} table[BUCKETS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static unsigned bucket_of(const void *address)
{
    return (unsigned)(((uintptr_t)address >> 4) * 0x9e3779b97f4a7c15ULL >> 32) & (BUCKETS - 1);
}

static void build(void)
{
    void *library = driver_handle();
    for (unsigned i = 0; library && i < TESSERA_ENTRY_COUNT; i++) {
        void *address = dlsym(library, tessera_entry_name[i]);
        if (!address)
            continue;
        unsigned b = bucket_of(address);
        while (table[b].vendor && table[b].vendor != address)
            b = (b + 1) & (BUCKETS - 1);
        if (!table[b].vendor) { /* otherwise both names mean one function, and either is right */
            table[b].vendor = address;
            table[b].ours = tessera_exported[i];
        }
    }
}

static void *ours_for(const void *address)
{
    pthread_once(&once, build);
    for (unsigned b = bucket_of(address); table[b].vendor; b = (b + 1) & (BUCKETS - 1))
        if (table[b].vendor == address)
            return table[b].ours;
    return NULL;
}

/* A name that only the vendor's driver knows is newer than our description. It is answered as by an older driver. */
static CUresult ask_vendor(const char *symbol, void **address, int version, uint64_t flags, int *status)
{
    void *theirs = NULL;
    CUresult result = REAL(cuGetProcAddress_v2)(symbol, &theirs, version, flags, status);
    *address = NULL;
    if (result != CUDA_SUCCESS || !theirs)
        return result;
    *address = ours_for(theirs);
    if (*address)
        return CUDA_SUCCESS;
    if (status)
        *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    relay_unsupported_query(symbol, "newer than the description of the driver");
    return CUDA_ERROR_NOT_FOUND;
}

/* Searches our own rows. The rows of a name are adjacent: plain ones first, each kind in the order of versions. */
static CUresult ask_rows(const char *symbol, void **address, int version, uint64_t flags, int *status)
{
    const struct relay_lookup *best = NULL, *best_per_thread = NULL;
    unsigned low = 0, high = relay_lookup_count;
    bool known = false;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (strcmp(relay_lookups[middle].name, symbol) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < relay_lookup_count && strcmp(relay_lookups[low].name, symbol) == 0; low++) {
        known = true;
        if (relay_lookups[low].since > version)
            continue;
        if (relay_lookups[low].per_thread)
            best_per_thread = &relay_lookups[low];
        else
            best = &relay_lookups[low];
    }
    if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM && best_per_thread)
        best = best_per_thread;
    *address = best ? tessera_exported[best->entry] : NULL;
    if (status)
        *status = best    ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return best ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult relay_cuGetProcAddress_v2(const char *symbol, void **address, int version, uint64_t flags, int *status)
{
    void *unwanted;
    segment_open();
    segment_count(TESSERA_COUNTER_LOOKUPS, 1);
    if (!symbol ||
        flags & ~(uint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
        return CUDA_ERROR_INVALID_VALUE;
    if (!address)
        address = &unwanted; /* the caller wants only the status */
    CUresult result = vendor_present() ? ask_vendor(symbol, address, version, flags, status)
                                       : ask_rows(symbol, address, version, flags, status);
    if (*address)
        segment_count(TESSERA_COUNTER_SUBSTITUTIONS, 1);
    return result;
}

/* This version has no status, so a missing name is an error. */
CUresult relay_cuGetProcAddress(const char *symbol, void **address, int version, uint64_t flags)
{
    return relay_cuGetProcAddress_v2(symbol, address, version, flags, NULL);
}
