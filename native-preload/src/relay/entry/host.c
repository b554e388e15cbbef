/*
 * Host memory that CUDA knows. Pinned memory is mapped by client and executor, and has the same address on the device.
 * Registered memory is invisible to the executor, so its copies are staged as for pageable memory.
 */

#include "relay/entry/pinned_small.h"
#include "relay/memory/pinned.h"
#include "relay/memory/range.h"
#include "relay/streams/capture.h"
#include "relay/wire/unsupported.h"
#include "relay_stubs.h"

enum {
    REGISTER_FLAGS = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY |
                     CU_MEMHOSTREGISTER_READ_ONLY
};

/* Pinning and unpinning may synchronise with the device. A capture forbids them to threads whose capture mode is not relaxed. */
static CUresult enter(struct relay_context **context)
{
    CUresult result = relay_enter(context);
    return result == CUDA_SUCCESS && capture_any() ? capture_unsafe() : result;
}

/* With one address space, all pinned memory is portable and mapped. Write-combined memory does not come from here. */
static CUresult allocate_small(struct relay_context *context, void **pointer, size_t bytes, unsigned flags)
{
    void *memory;
    CUresult result = pinned_small_take(context, bytes, &memory);
    if (result != CUDA_SUCCESS)
        return result;
    struct relay_range range = {.start = (uintptr_t)memory,
                                .bytes = bytes,
                                .kind = RELAY_RANGE_PINNED,
                                .flags = flags,
                                .link = context->link,
                                .context = context,
                                .id = RELAY_PINNED_SMALL};
    if (!relay_range_add(&range)) {
        pinned_small_give(memory, bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pointer = memory;
    return CUDA_SUCCESS;
}

CUresult relay_cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    struct relay_context *context;
    struct relay_pinned pinned;
    CUresult result = enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer || bytes == 0 ||
        flags & ~(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED))
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes <= PINNED_SMALL_MOST && !(flags & CU_MEMHOSTALLOC_WRITECOMBINED))
        return allocate_small(context, pointer, bytes, flags);
    result = relay_pin(context->link, bytes, &pinned);
    if (result != CUDA_SUCCESS)
        return result;
    struct relay_range range = {.start = (uintptr_t)pinned.address,
                                .bytes = pinned.bytes,
                                .kind = RELAY_RANGE_PINNED,
                                .flags = flags,
                                .link = context->link,
                                .context = context,
                                .id = pinned.id};
    if (!relay_range_add(&range)) {
        relay_unpin(context->link, &pinned);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    segment_count(TESSERA_COUNTER_HOST_PINNED_BYTES, pinned.bytes);
    *pointer = pinned.address;
    return CUDA_SUCCESS;
}

CUresult relay_cuMemAllocHost_v2(void **pointer, size_t bytes)
{
    return relay_cuMemHostAlloc(pointer, bytes, CU_MEMHOSTALLOC_DEVICEMAP);
}

/* The executor releases the memory when the work that was submitted before is done. */
CUresult relay_cuMemFreeHost(void *pointer)
{
    struct relay_context *context;
    struct relay_range range;
    CUresult result = enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!relay_range_remove((uintptr_t)pointer, RELAY_RANGE_PINNED, &range))
        return CUDA_ERROR_INVALID_VALUE;
    if (range.id == RELAY_PINNED_SMALL) {
        pinned_small_give(pointer, range.bytes);
        return CUDA_SUCCESS;
    }
    struct relay_pinned pinned = {range.id, pointer, range.bytes};
    segment_count(TESSERA_COUNTER_HOST_PINNED_BYTES, -range.bytes);
    return relay_unpin(range.link, &pinned);
}

CUresult relay_cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
    struct relay_context *context;
    CUresult result = enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer || bytes == 0 || bytes > UINTPTR_MAX - (uintptr_t)pointer || flags & ~REGISTER_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & (CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY))
        return relay_unsupported("cuMemHostRegister_v2",
                                 "memory of other devices and read-only memory are not registered");
    if (relay_range_overlaps((uintptr_t)pointer, bytes))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    struct relay_range range = {.start = (uintptr_t)pointer,
                                .bytes = bytes,
                                .kind = RELAY_RANGE_REGISTERED,
                                .flags = flags,
                                .link = context->link,
                                .context = context};
    return relay_range_add(&range) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult relay_cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    return relay_cuMemHostRegister_v2(pointer, bytes, flags);
}

CUresult relay_cuMemHostUnregister(void *pointer)
{
    struct relay_context *context;
    CUresult result = enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return relay_range_remove((uintptr_t)pointer, RELAY_RANGE_REGISTERED, NULL) ? CUDA_SUCCESS
                                                                                : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult relay_cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *pointer, unsigned flags)
{
    struct relay_context *context;
    struct relay_range range;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!device || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    if (!relay_range_find((uintptr_t)pointer, &range))
        return CUDA_ERROR_INVALID_VALUE;
    if (range.kind == RELAY_RANGE_REGISTERED)
        return relay_unsupported("cuMemHostGetDevicePointer_v2", "registered memory is not visible to the device");
    if (range.kind != RELAY_RANGE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (range.link != context->link) /* each device has pinned memory of its own within its fences */
        return relay_unsupported("cuMemHostGetDevicePointer_v2", "memory that was pinned for another device");
    *device = (uintptr_t)pointer;
    return CUDA_SUCCESS;
}

CUresult relay_cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    struct relay_context *context;
    struct relay_range range;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags || !relay_range_find((uintptr_t)pointer, &range) || range.kind != RELAY_RANGE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = range.flags | CU_MEMHOSTALLOC_DEVICEMAP; /* with one address space, all of it is mapped */
    return CUDA_SUCCESS;
}
