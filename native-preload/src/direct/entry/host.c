/* Pinned host memory. It does not count against the limit; the segment shows its sum to operators. */
#include "direct/memory/allocations.h"
#include "session/segment.h"
#include "session/settings.h"
#include "tessera_entries.h"

static CUresult pinned(CUresult result, const void *pointer, size_t bytes)
{
    if (result == CUDA_SUCCESS && pointer && !settings()->disabled) {
        allocations_add((struct allocation){
            .key = (uint64_t)(uintptr_t)pointer, .bytes = bytes, .references = 1, .space = ALLOCATION_HOST});
        segment_open();
        segment_count(TESSERA_COUNTER_HOST_PINNED_BYTES, bytes);
    }
    return result;
}

#define UNPIN(call, pointer)                                                                                           \
    struct allocation gone;                                                                                            \
    bool known = allocations_remove(ALLOCATION_HOST, (uint64_t)(uintptr_t)(pointer), &gone);                           \
    CUresult result = (call);                                                                                          \
    if (known && result == CUDA_SUCCESS)                                                                               \
        segment_count(TESSERA_COUNTER_HOST_PINNED_BYTES, -gone.bytes);                                                 \
    else if (known)                                                                                                    \
        allocations_add(gone);                                                                                         \
    return result

TESSERA_EXPORT CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    CUresult result = REAL(cuMemHostAlloc)(pointer, bytes, flags);
    return pinned(result, pointer ? *pointer : NULL, bytes);
}

TESSERA_EXPORT CUresult cuMemAllocHost_v2(void **pointer, size_t bytes)
{
    CUresult result = REAL(cuMemAllocHost_v2)(pointer, bytes);
    return pinned(result, pointer ? *pointer : NULL, bytes);
}

TESSERA_EXPORT CUresult cuMemAllocHost(void **pointer, unsigned bytes)
{
    CUresult result = REAL(cuMemAllocHost)(pointer, bytes);
    return pinned(result, pointer ? *pointer : NULL, bytes);
}

TESSERA_EXPORT CUresult cuMemFreeHost(void *pointer)
{
    UNPIN(REAL(cuMemFreeHost)(pointer), pointer);
}

TESSERA_EXPORT CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
    return pinned(REAL(cuMemHostRegister_v2)(pointer, bytes, flags), pointer, bytes);
}

TESSERA_EXPORT CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    return pinned(REAL(cuMemHostRegister)(pointer, bytes, flags), pointer, bytes);
}

TESSERA_EXPORT CUresult cuMemHostUnregister(void *pointer)
{
    UNPIN(REAL(cuMemHostUnregister)(pointer), pointer);
}
