/*
 * The program's own physical memory (cuMemCreate; PyTorch's expandable segments use it). Under plan swap the library
 * makes it (program_memory.h), if it can move; else the driver. It counts until the last handle is released and the last
 * mapping is gone.
 */
#include <string.h>

#include "direct/memory/memory.h"
#include "direct/pools/fixed_room.h"
#include "direct/swap/program_mapping.h"
#include "direct/swap/program_memory.h"
#include "session/quota.h"
#include "session/segment.h"
#include "session/settings.h"
#include "direct/swap/swap.h"
#include "tessera_entries.h"

/* Removes one reference (handle or mapping); the last one returns the bytes to the quota. */
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
    bool ours = program_takes((unsigned)device, bytes, &wanted, flags);
    CUresult result = ours ? program_create(handle, bytes, (unsigned)device, &wanted)
                           : WITH_FIXED_ROOM((unsigned)device, bytes,
                                             REAL(cuMemCreate)(handle, bytes, properties, flags));
    if (result != CUDA_SUCCESS) {
        quota_give((unsigned)device, bytes);
        return result;
    }
    segment_count(TESSERA_COUNTER_VMM_CREATES, 1);
    if (ours)
        return CUDA_SUCCESS;
    uint64_t backing = allocations_new_backing();
    memory_record_fixed(ALLOCATION_BACKING, backing, bytes, (unsigned)device, 0);
    allocations_add((struct allocation){
        .key = *handle, .link = backing, .references = 1, .space = ALLOCATION_HANDLE, .device = (uint8_t)device});
    return result;
}

TESSERA_EXPORT CUresult cuMemRelease(unsigned long long handle)
{
    if (program_owns(handle))
        return program_release(handle);
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

/* Adds a reference to a handle, if it is recorded. */
TESSERA_EXPORT CUresult cuMemRetainAllocationHandle(unsigned long long *handle, void *address)
{
    struct swap_range range;
    if (handle && swap_find((CUdeviceptr)(uintptr_t)address, &range))
        return program_retain((CUdeviceptr)(uintptr_t)address, handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    CUresult result = REAL(cuMemRetainAllocationHandle)(handle, address);
    struct allocation mapping;
    if (result != CUDA_SUCCESS || !handle || allocations_refer(ALLOCATION_HANDLE, *handle, 1, NULL) != UINT32_MAX)
        return result;
    /* The handle was released before; its record is made again from the mapping's. */
    if (allocations_find(ALLOCATION_MAPPING, (uint64_t)(uintptr_t)address, &mapping) &&
        allocations_refer(ALLOCATION_BACKING, mapping.link, 1, NULL) != UINT32_MAX)
        allocations_add((struct allocation){
            .key = *handle, .link = mapping.link, .references = 1, .space = ALLOCATION_HANDLE, .device = mapping.device});
    return result;
}

TESSERA_EXPORT CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset, unsigned long long handle,
                                 unsigned long long flags)
{
    if (program_owns(handle))
        return program_map(pointer, bytes, offset, handle, flags);
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

/* Calls `each` for adjacent mappings of plan swap from the range's beginning on, and sets the range to the rest. */
static CUresult walk(CUdeviceptr *pointer, size_t *bytes, CUresult (*each)(CUdeviceptr, const void *, size_t),
                     const void *access, size_t count)
{
    CUresult result = CUDA_SUCCESS;
    uint64_t mapped;
    while (result == CUDA_SUCCESS && *bytes && program_mapped(*pointer, &mapped) && mapped <= *bytes) {
        result = each(*pointer, access, count);
        *pointer += mapped;
        *bytes -= mapped;
    }
    return result;
}

static CUresult unmap_one(CUdeviceptr pointer, const void *access, size_t count)
{
    (void)access;
    (void)count;
    return program_unmap(pointer);
}

static CUresult set_one(CUdeviceptr pointer, const void *access, size_t count)
{
    return program_set_access(pointer, access, count);
}

/* One call may unmap several adjacent mappings. */
TESSERA_EXPORT CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes)
{
    size_t left = bytes;
    CUresult result = settings()->swap ? walk(&pointer, &left, unmap_one, NULL, 0) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS || (left == 0 && bytes))
        return result;
    result = REAL(cuMemUnmap)(pointer, left);
    CUdeviceptr end = pointer + left;
    struct allocation mapping;
    while (result == CUDA_SUCCESS && pointer < end && allocations_remove(ALLOCATION_MAPPING, pointer, &mapping)) {
        drop_backing(mapping.link);
        pointer += mapping.bytes;
    }
    return result;
}

TESSERA_EXPORT CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const void *access, size_t count)
{
    size_t left = bytes;
    CUresult result = settings()->swap ? walk(&pointer, &left, set_one, access, count) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS || (left == 0 && bytes))
        return result;
    return REAL(cuMemSetAccess)(pointer, left, access, count);
}

TESSERA_EXPORT CUresult cuMemGetAccess(unsigned long long *flags, const void *location, CUdeviceptr pointer)
{
    if (settings()->swap && flags && location && program_get_access(pointer, location, flags))
        return CUDA_SUCCESS;
    return REAL(cuMemGetAccess)(flags, location, pointer);
}

TESSERA_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(void *properties, unsigned long long handle)
{
    if (program_owns(handle))
        return program_properties(handle, properties);
    return REAL(cuMemGetAllocationPropertiesFromHandle)(properties, handle);
}

/*
 * Refused while anything is mapped in the range, as by the driver. The driver does not see mappings whose memory is
 * absent.
 */
TESSERA_EXPORT CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes)
{
    if (settings()->swap && program_maps_in(pointer, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    return REAL(cuMemAddressFree)(pointer, bytes);
}
