/*
 * The program's own physical memory (cuMemCreate, as expandable segments use it): left as it is, counted from its
 * creation until the last handle is released and the last mapping is gone.
 */
#include <string.h>

#include "memory.h"
#include "quota.h"
#include "segment.h"
#include "settings.h"
#include "tessera_entries.h"

/* One handle or mapping less; the last one gives the bytes back. */
static void drop_backing(uint64_t backing)
{
    struct allocation gone;
    if (allocations_refer(ALLOCATION_BACKING, backing, -1, &gone) == 0)
        memory_forget(&gone);
}

TESSERA_EXPORT CUresult cuMemCreate(unsigned long long *handle, size_t bytes, const void *properties,
                                    unsigned long long flags)
{
    struct driver_allocation_properties wanted;
    if (!handle || !properties || settings()->disabled)
        return REAL(cuMemCreate)(handle, bytes, properties, flags);
    memcpy(&wanted, properties, sizeof wanted);
    int device = wanted.location.id;
    if (wanted.location.type != CU_MEM_LOCATION_TYPE_DEVICE || device < 0 || device >= TESSERA_MAX_DEVICES)
        return REAL(cuMemCreate)(handle, bytes, properties, flags);
    if (!quota_take((unsigned)device, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = REAL(cuMemCreate)(handle, bytes, properties, flags);
    if (result != CUDA_SUCCESS) {
        quota_give((unsigned)device, bytes);
        return result;
    }
    segment_count(TESSERA_COUNTER_VMM_CREATES, 1);
    uint64_t backing = allocations_new_backing();
    memory_record(ALLOCATION_BACKING, backing, bytes, (unsigned)device, 0, false);
    allocations_add((struct allocation){
        .key = *handle, .link = backing, .references = 1, .space = ALLOCATION_HANDLE, .device = (uint8_t)device});
    return result;
}

TESSERA_EXPORT CUresult cuMemRelease(unsigned long long handle)
{
    struct allocation released;
    uint32_t left = allocations_refer(ALLOCATION_HANDLE, handle, -1, &released);
    CUresult result = REAL(cuMemRelease)(handle);
    if (left == UINT32_MAX)
        return result;
    if (result == CUDA_SUCCESS) {
        if (left == 0)
            drop_backing(released.link);
    } else if (left == 0) {
        released.references = 1;
        allocations_add(released);
    } else {
        allocations_refer(ALLOCATION_HANDLE, handle, 1, NULL);
    }
    return result;
}

/* Another reference to a handle that we may know. */
TESSERA_EXPORT CUresult cuMemRetainAllocationHandle(unsigned long long *handle, void *address)
{
    CUresult result = REAL(cuMemRetainAllocationHandle)(handle, address);
    struct allocation mapping;
    if (result != CUDA_SUCCESS || !handle || allocations_refer(ALLOCATION_HANDLE, *handle, 1, NULL) != UINT32_MAX)
        return result;
    /* The handle had been released before; its backing lives on in the mapping. */
    if (allocations_find(ALLOCATION_MAPPING, (uint64_t)(uintptr_t)address, &mapping) &&
        allocations_refer(ALLOCATION_BACKING, mapping.link, 1, NULL) != UINT32_MAX)
        allocations_add((struct allocation){.key = *handle,
                                            .link = mapping.link,
                                            .references = 1,
                                            .space = ALLOCATION_HANDLE,
                                            .device = mapping.device});
    return result;
}

TESSERA_EXPORT CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset, unsigned long long handle,
                                 unsigned long long flags)
{
    CUresult result = REAL(cuMemMap)(pointer, bytes, offset, handle, flags);
    struct allocation known;
    if (result == CUDA_SUCCESS && allocations_find(ALLOCATION_HANDLE, handle, &known) &&
        allocations_refer(ALLOCATION_BACKING, known.link, 1, NULL) != UINT32_MAX)
        allocations_add((struct allocation){.key = pointer,
                                            .bytes = bytes,
                                            .link = known.link,
                                            .references = 1,
                                            .space = ALLOCATION_MAPPING,
                                            .device = known.device});
    return result;
}

/* One call may unmap several mappings that lie one behind the other. */
TESSERA_EXPORT CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes)
{
    CUresult result = REAL(cuMemUnmap)(pointer, bytes);
    CUdeviceptr end = pointer + bytes;
    struct allocation mapping;
    while (result == CUDA_SUCCESS && pointer < end && allocations_remove(ALLOCATION_MAPPING, pointer, &mapping)) {
        drop_backing(mapping.link);
        pointer += mapping.bytes;
    }
    return result;
}
