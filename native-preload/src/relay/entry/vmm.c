/* Virtual memory management. The executor reserves addresses, allocates physical memory, and maps it. */
#include <string.h>

#include "relay/executor/device_call.h"
#include "relay/memory/range.h"
#include "relay/wire/message.h"
#include "relay/wire/unsupported.h"
#include "relay_stubs.h"

enum { MOST_ACCESSES = 64 };

/* CUmemAccessDesc */
struct access {
    struct device_location location;
    int flags;
};

/*
 * The properties as they are sent. Programs request exportable handles before they know whether they will export them. The
 * export itself is refused, so the request is dropped.
 */
static CUresult travelling_properties(const void *properties, struct driver_allocation_properties *travelling,
                                      struct relay_context **caller)
{
    struct device_location location;
    if (!properties)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(travelling, properties, sizeof *travelling);
    if (travelling->requested_handle_types & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return relay_unsupported("cuMemCreate", "memory of a relayed client stays in its executor");
    travelling->requested_handle_types = 0;
    travelling->win32_handle_metadata = NULL;
    travelling->flags.gpu_direct_rdma_capable = 0;
    CUresult result = device_caller_at((const struct device_location *)&travelling->location, &location, caller);
    travelling->location.id = location.id;
    return result;
}

CUresult relay_cuMemCreate(unsigned long long *handle, size_t bytes, const void *properties, unsigned long long flags)
{
    struct driver_allocation_properties travelling;
    struct relay_context *caller;
    CUresult result = travelling_properties(properties, &travelling, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    segment_count(TESSERA_COUNTER_VMM_CREATES, 1);
    return MESSAGE_CALL(caller, ENTRY_cuMemCreate, OUT(handle, sizeof *handle), VALUE(bytes),
                        IN(&travelling, sizeof travelling), VALUE(flags));
}

CUresult relay_cuMemGetAllocationGranularity(size_t *granularity, const void *properties, int option)
{
    struct driver_allocation_properties travelling;
    struct relay_context *caller;
    CUresult result = travelling_properties(properties, &travelling, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    if (!granularity)
        return CUDA_ERROR_INVALID_VALUE;
    return MESSAGE_CALL(caller, ENTRY_cuMemGetAllocationGranularity, OUT(granularity, sizeof *granularity),
                        IN(&travelling, sizeof travelling), VALUE(option));
}

static CUresult caller_of(unsigned long long handle, struct relay_context **caller)
{
    CUresult started = relay_started();
    if (started != CUDA_SUCCESS)
        return started;
    const struct relay_link *link = relay_link_of(handle);
    return link ? device_caller((CUdevice)link->device, caller) : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuMemRelease(unsigned long long handle)
{
    struct relay_context *caller;
    CUresult result = caller_of(handle, &caller);
    return result != CUDA_SUCCESS ? result : MESSAGE_CALL(caller, ENTRY_cuMemRelease, VALUE(handle));
}

CUresult relay_cuMemGetAllocationPropertiesFromHandle(void *properties, unsigned long long handle)
{
    struct driver_allocation_properties answer;
    struct relay_context *caller;
    CUresult result = caller_of(handle, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    if (!properties)
        return CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(caller, ENTRY_cuMemGetAllocationPropertiesFromHandle, OUT(&answer, sizeof answer),
                          VALUE(handle));
    if (result != CUDA_SUCCESS)
        return result;
    if (answer.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        answer.location.id = (int)caller->link->device;
    memcpy(properties, &answer, sizeof answer);
    return CUDA_SUCCESS;
}

CUresult relay_cuMemAddressReserve(CUdeviceptr *pointer, size_t bytes, size_t alignment, CUdeviceptr address,
                                   unsigned long long flags)
{
    struct relay_context *caller;
    CUdevice device = relay_current ? (CUdevice)relay_current->link->device : 0;
    CUresult result = device_caller(device, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(caller, ENTRY_cuMemAddressReserve, OUT(pointer, sizeof *pointer), VALUE(bytes),
                          VALUE(alignment), VALUE(address), VALUE(flags));
    if (result != CUDA_SUCCESS)
        return result;
    struct relay_range range = {.start = *pointer, .bytes = bytes, .kind = RELAY_RANGE_RESERVED, .link = caller->link};
    if (relay_range_add(&range))
        return CUDA_SUCCESS;
    MESSAGE_CALL(caller, ENTRY_cuMemAddressFree, VALUE(*pointer), VALUE(bytes));
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Finds the range that holds an address, and the context in which calls on it are made. */
static CUresult caller_at(CUdeviceptr pointer, struct relay_range *range, struct relay_context **caller)
{
    CUresult started = relay_started();
    if (started != CUDA_SUCCESS)
        return started;
    if (!relay_range_find(pointer, range))
        return CUDA_ERROR_INVALID_VALUE;
    return device_caller((CUdevice)range->link->device, caller);
}

CUresult relay_cuMemAddressFree(CUdeviceptr pointer, size_t bytes)
{
    struct relay_context *caller;
    struct relay_range range;
    CUresult result = caller_at(pointer, &range, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    if (range.kind != RELAY_RANGE_RESERVED || range.start != pointer || range.bytes != bytes)
        return CUDA_ERROR_INVALID_VALUE;
    relay_range_remove(pointer, RELAY_RANGE_RESERVED, NULL);
    result = MESSAGE_CALL(caller, ENTRY_cuMemAddressFree, VALUE(pointer), VALUE(bytes));
    if (result != CUDA_SUCCESS)
        relay_range_add(&range);
    return result;
}

CUresult relay_cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset, unsigned long long handle,
                        unsigned long long flags)
{
    struct relay_context *caller;
    struct relay_range range;
    CUresult result = caller_at(pointer, &range, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    result = MESSAGE_CALL(caller, ENTRY_cuMemMap, VALUE(pointer), VALUE(bytes), VALUE(offset), VALUE(handle),
                          VALUE(flags));
    if (result != CUDA_SUCCESS)
        return result;
    range = (struct relay_range){
        .start = pointer, .bytes = bytes, .kind = RELAY_RANGE_MAPPED, .link = caller->link, .id = handle};
    if (relay_range_add(&range))
        return CUDA_SUCCESS;
    MESSAGE_CALL(caller, ENTRY_cuMemUnmap, VALUE(pointer), VALUE(bytes));
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* May take out several mappings at once. */
CUresult relay_cuMemUnmap(CUdeviceptr pointer, size_t bytes)
{
    struct relay_context *caller;
    struct relay_range range;
    CUresult result = caller_at(pointer, &range, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    result = MESSAGE_CALL(caller, ENTRY_cuMemUnmap, VALUE(pointer), VALUE(bytes));
    CUdeviceptr at = pointer;
    while (result == CUDA_SUCCESS && at < pointer + bytes && relay_range_find(at, &range) &&
           relay_range_remove(range.start, RELAY_RANGE_MAPPED, NULL))
        at = range.start + range.bytes;
    return result;
}

CUresult relay_cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const void *list, size_t count)
{
    struct access travelling[MOST_ACCESSES];
    struct relay_context *caller;
    struct relay_range range;
    CUresult result = caller_at(pointer, &range, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    if (!list || count == 0 || count > MOST_ACCESSES)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(travelling, list, count * sizeof *travelling);
    for (size_t i = 0; i < count; i++) {
        if (travelling[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
            travelling[i].location.id != (int)caller->link->device)
            return CUDA_ERROR_INVALID_DEVICE; /* devices do not access each other's memory */
        travelling[i].location.id = 0;
    }
    return MESSAGE_CALL(caller, ENTRY_cuMemSetAccess, VALUE(pointer), VALUE(bytes),
                        IN(travelling, count * sizeof *travelling), VALUE(count));
}

CUresult relay_cuMemGetAccess(unsigned long long *flags, const void *location, CUdeviceptr pointer)
{
    struct device_location travelling;
    struct relay_context *caller, *at;
    struct relay_range range;
    CUresult result = caller_at(pointer, &range, &caller);
    if (result == CUDA_SUCCESS)
        result = device_caller_at(location, &travelling, &at);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (travelling.type == CU_MEM_LOCATION_TYPE_DEVICE && at->link != caller->link) {
        *flags = 0;
        return CUDA_SUCCESS;
    }
    return MESSAGE_CALL(caller, ENTRY_cuMemGetAccess, OUT(flags, sizeof *flags), IN(&travelling, sizeof travelling),
                        VALUE(pointer));
}

CUresult relay_cuMemRetainAllocationHandle(unsigned long long *handle, void *address)
{
    struct relay_context *caller;
    struct relay_range range;
    CUresult result = caller_at((uintptr_t)address, &range, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    return MESSAGE_CALL(caller, ENTRY_cuMemRetainAllocationHandle, OUT(handle, sizeof *handle),
                        VALUE((uintptr_t)address));
}
