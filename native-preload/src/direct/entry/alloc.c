/* Linear device memory: cuMemAlloc, cuMemAllocPitch, cuMemAllocManaged, cuMemFree. */
#include "direct/pools/captured_memory.h"
#include "direct/pools/fixed_room.h"
#include "direct/memory/memory.h"
#include "direct/pools/pools.h"
#include "direct/swap/several_devices.h"
#include "session/quota.h"
#include "session/report.h"
#include "session/segment.h"
#include "session/settings.h"
#include "direct/swap/swap.h"
#include "tessera_entries.h"

#define PITCH_BYTES 512 /* the driver pads rows to this on every GPU since sm_20; measured on an H200 */

/* Allocates managed memory. On errors other than OUT_OF_MEMORY the caller allocates plain memory instead. */
static CUresult allocate_managed(CUdeviceptr *pointer, size_t bytes)
{
    CUresult result = REAL(cuMemAllocManaged)(pointer, bytes, CU_MEM_ATTACH_GLOBAL);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY) {
        segment_count(TESSERA_COUNTER_MANAGED_FALLBACKS, 1);
        report_failure(result, "managed memory was refused: the allocation stays plain");
    }
    return result;
}

/* Allocates by plan swap. On errors other than OUT_OF_MEMORY the caller has the driver allocate instead. */
static CUresult allocate_swapped(unsigned device, CUdeviceptr *pointer, size_t bytes)
{
    struct swap_options options = {.kind = SWAP_LINEAR, .context = memory_context()};
    CUresult result = swap_allocate(device, bytes, 0, options, pointer);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY)
        report_failure(result, "memory could not be mapped: the allocation stays the driver's and does not move");
    return result;
}

/* After an allocation whose bytes were taken from the quota: records it, or returns the bytes if it failed. */
static CUresult settle(CUresult result, const CUdeviceptr *pointer, uint64_t bytes, unsigned device,
                       enum memory_form form)
{
    if (result != CUDA_SUCCESS)
        quota_give(device, bytes);
    else if (form == MEMORY_DRIVERS)
        memory_record_fixed(ALLOCATION_POINTER, *pointer, bytes, device, memory_context());
    else
        memory_record(ALLOCATION_POINTER, *pointer, bytes, device, memory_context(), form == MEMORY_MANAGED);
    return result;
}

/* Allocates managed memory or by plan swap, as `form` says; false: the driver has to allocate instead. */
static bool allocate_by_plan(enum memory_form form, unsigned device, CUdeviceptr *pointer, size_t bytes,
                             CUresult *result)
{
    if (form == MEMORY_SWAPPED) {
        *result = allocate_swapped(device, pointer, bytes);
        if (*result == CUDA_ERROR_OUT_OF_MEMORY && memory_overflows(device, bytes))
            form = MEMORY_MANAGED;
    }
    if (form == MEMORY_MANAGED)
        *result = allocate_managed(pointer, bytes);
    if (*result != CUDA_SUCCESS && *result != CUDA_ERROR_OUT_OF_MEMORY)
        return false;
    settle(*result, pointer, bytes, device, form);
    return true;
}

TESSERA_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    int device = several_devices_current();
    if (device < 0 || !pointer || bytes == 0)
        return REAL(cuMemAlloc_v2)(pointer, bytes);
    if (!quota_take((unsigned)device, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result;
    enum memory_form form = memory_form((unsigned)device);
    if (form == MEMORY_DRIVERS || !allocate_by_plan(form, (unsigned)device, pointer, bytes, &result))
        result = settle(WITH_FIXED_ROOM((unsigned)device, bytes, REAL(cuMemAlloc_v2)(pointer, bytes)), pointer, bytes,
                        (unsigned)device, MEMORY_DRIVERS);
    return result;
}

/* The 32-bit form, which the driver always serves: its pointers cannot hold managed addresses. */
TESSERA_EXPORT CUresult cuMemAlloc(CUdeviceptr_v1 *pointer, unsigned bytes)
{
    int device = several_devices_current();
    if (device < 0 || !pointer || bytes == 0)
        return REAL(cuMemAlloc)(pointer, bytes);
    if (!quota_take((unsigned)device, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = WITH_FIXED_ROOM((unsigned)device, bytes, REAL(cuMemAlloc)(pointer, bytes));
    CUdeviceptr wide = result == CUDA_SUCCESS ? *pointer : 0;
    return settle(result, &wide, bytes, (unsigned)device, MEMORY_DRIVERS);
}

static bool pitched_bytes(size_t width, size_t height, uint64_t *pitch, uint64_t *bytes)
{
    return !__builtin_add_overflow(width, PITCH_BYTES - 1, pitch) &&
           !__builtin_mul_overflow(*pitch &= ~(uint64_t)(PITCH_BYTES - 1), height, bytes);
}

TESSERA_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height,
                                           unsigned element_bytes)
{
    int device = several_devices_current();
    uint64_t row, bytes;
    bool valid = pointer && pitch && width && height &&
                 (element_bytes == 4 || element_bytes == 8 || element_bytes == 16);
    if (device < 0 || !valid || !pitched_bytes(width, height, &row, &bytes))
        return REAL(cuMemAllocPitch_v2)(pointer, pitch, width, height, element_bytes);
    if (!quota_take((unsigned)device, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result;
    enum memory_form form = memory_form((unsigned)device);
    if (form != MEMORY_DRIVERS && allocate_by_plan(form, (unsigned)device, pointer, bytes, &result)) {
        if (result == CUDA_SUCCESS)
            *pitch = row;
        return result;
    }
    result = WITH_FIXED_ROOM((unsigned)device, bytes,
                             REAL(cuMemAllocPitch_v2)(pointer, pitch, width, height, element_bytes));
    return settle(result, pointer, bytes, (unsigned)device, MEMORY_DRIVERS);
}

TESSERA_EXPORT CUresult cuMemAllocPitch(CUdeviceptr_v1 *pointer, unsigned *pitch, unsigned width, unsigned height,
                                        unsigned element_bytes)
{
    int device = several_devices_current();
    uint64_t row, bytes;
    if (device < 0 || !pointer || !pitched_bytes(width, height, &row, &bytes) || bytes == 0)
        return REAL(cuMemAllocPitch)(pointer, pitch, width, height, element_bytes);
    if (!quota_take((unsigned)device, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = WITH_FIXED_ROOM((unsigned)device, bytes,
                                      REAL(cuMemAllocPitch)(pointer, pitch, width, height, element_bytes));
    CUdeviceptr wide = result == CUDA_SUCCESS ? *pointer : 0;
    return settle(result, &wide, bytes, (unsigned)device, MEMORY_DRIVERS);
}

/* Managed memory that the program asks for counts against the limit, and is not changed otherwise. */
TESSERA_EXPORT CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags)
{
    int device = several_devices_current();
    if (device < 0 || !pointer || bytes == 0)
        return REAL(cuMemAllocManaged)(pointer, bytes, flags);
    if (!quota_take((unsigned)device, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = REAL(cuMemAllocManaged)(pointer, bytes, flags);
    if (result == CUDA_SUCCESS)
        memory_record(ALLOCATION_POINTER, *pointer, bytes, (unsigned)device, memory_context(), false);
    else
        quota_give((unsigned)device, bytes);
    return result;
}

/*
 * Frees memory and its record. The record is removed first, because another thread may get the address at once; it is
 * restored if the driver refuses.
 */
#define FREE(call, pointer)                                                                                            \
    struct allocation gone;                                                                                            \
    bool known = (pointer) != 0 && allocations_remove(ALLOCATION_POINTER, (pointer), &gone);                           \
    CUresult result = (call);                                                                                          \
    if (known && result == CUDA_SUCCESS)                                                                               \
        memory_forget(&gone);                                                                                          \
    else if (known)                                                                                                    \
        allocations_add(gone);                                                                                         \
    else if ((pointer) != 0 && result == CUDA_SUCCESS)                                                                 \
        segment_count(TESSERA_COUNTER_UNTRACKED_FREES, 1);                                                             \
    return result

/* Like the driver, waits for all work of the device. If that work failed, returns its error and frees nothing. */
static CUresult free_swapped(const struct swap_range *range)
{
    unsigned device;
    uint64_t capture = 0;
    CUresult idle = pools_quiesce(range->device);
    if (idle != CUDA_SUCCESS && idle != CUDA_ERROR_NOT_READY)
        return idle;
    if (pools_owns(range->base, &device, &capture))
        return pools_free_idle(range->base, idle == CUDA_SUCCESS);
    if (idle == CUDA_ERROR_NOT_READY)
        return pools_free_later(range->base, range->bytes, range->device);
    return swap_free(range->base);
}

/* Whether the memory was allocated in a capture: then its graph owns it, and its record ends with the graph. */
static bool captured(CUdeviceptr pointer)
{
    unsigned device;
    uint64_t capture = 0;
    return pools_owns(pointer, &device, &capture) && capture;
}

TESSERA_EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    struct swap_range range;
    if (swap_find(pointer, &range) && range.kind != SWAP_PROGRAM) {
        CUresult ended = captured(pointer) ? captured_free_idle(pointer, range.device) : CUDA_ERROR_NOT_FOUND;
        if (ended != CUDA_ERROR_NOT_FOUND)
            return ended;
        /* Not in the table: it was freed in the order of a stream that has not reached the free. */
        FREE(known && range.base == pointer ? free_swapped(&range) : CUDA_ERROR_INVALID_VALUE, pointer);
    }
    FREE(REAL(cuMemFree_v2)(pointer), pointer);
}

TESSERA_EXPORT CUresult cuMemFree(CUdeviceptr_v1 pointer)
{
    FREE(REAL(cuMemFree)(pointer), pointer);
}
