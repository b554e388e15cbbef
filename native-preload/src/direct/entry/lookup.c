/* cuGetProcAddress, by which programs get most entries: replaces the driver's addresses by the library's. */
#include "driver/lookup.h"
#include "session/segment.h"
#include "session/settings.h"
#include "tessera_entries.h"

/* Replaces the address only; the status in the answer stays the driver's. */
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

TESSERA_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **address, int version, uint64_t flags, int *status)
{
    CUresult result = REAL(cuGetProcAddress_v2)(symbol, (void *)address, version, flags, status);
    substitute(result, address);
    return result;
}
