/* Memory pools, memory in the order of streams, and handles of memory and events for other processes. */
#include <unistd.h>

#include "odd.h"

static CUmemPoolProps pool_properties(void)
{
    CUmemPoolProps of = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED};
    of.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    of.location.id = the.device;
    return of;
}

static CUmemoryPool new_pool(void)
{
    CUmemoryPool pool = NULL;
    CUmemPoolProps of = pool_properties();
    CALL(cuMemPoolCreate, &pool, &of);
    return pool;
}

static void pool_destroyed_in_use(void)
{
    CUdeviceptr memory = 0;
    CUmemoryPool pool = new_pool();
    CALL(cuMemAllocFromPoolAsync, &memory, 1 << 20, pool, the.stream);
    CALL(cuMemPoolDestroy, pool);
    CALL(cuMemPoolDestroy, pool);
    CALL(cuMemsetD8Async, memory, 1, 4096, the.stream);
    CALL(cuMemAllocFromPoolAsync, &memory, 1 << 20, pool, the.stream);
    CALL(cuMemFreeAsync, memory, the.stream);
    CALL(cuMemPoolTrimTo, pool, 0);
}

static void current_pool_destroyed(void)
{
    CUdeviceptr memory;
    CUmemoryPool now, pool = new_pool();
    CALL(cuDeviceSetMemPool, the.device, pool);
    CALL(cuMemPoolDestroy, pool);
    CALL(cuDeviceGetMemPool, &now, the.device);
    CALL(cuMemAllocAsync, &memory, 4096, the.stream);
    CALL(cuMemFreeAsync, memory, the.stream);
}

static void default_pool_destroyed(void)
{
    CUdeviceptr memory;
    CUmemoryPool pool;
    CALL(cuDeviceGetDefaultMemPool, &pool, the.device);
    CALL(cuMemPoolDestroy, pool);
    CALL(cuMemAllocAsync, &memory, 4096, the.stream);
    CALL(cuMemPoolTrimTo, pool, ~(size_t)0);
    CALL(cuMemFreeAsync, memory, the.stream);
}

static void pool_attributes_odd(void)
{
    CUmemoryPool pool = new_pool();
    uint64_t value;
    for (unsigned id = 0; id < 14; id++) {
        CALL(cuMemPoolGetAttribute, pool, id, &value);
        value = ~0ull;
        CALL(cuMemPoolSetAttribute, pool, id, &value);
    }
    CALL(cuMemPoolGetAttribute, pool, 0x7fffffff, &value);
}

static void pool_access_odd(void)
{
    CUmemoryPool pool = new_pool();
    CUmemAccess_flags flags;
    for (unsigned kind = 0; kind < 5; kind++) {
        CUmemAccessDesc access = {.flags = kind};
        access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access.location.id = the.device;
        CALL(cuMemPoolSetAccess, pool, &access, 1);
        access.location.id = 77;
        CALL(cuMemPoolSetAccess, pool, &access, 1);
        access.location.type = kind;
        CALL(cuMemPoolGetAccess, &flags, pool, &access.location);
    }
    CALL(cuMemPoolSetAccess, pool, NULL, 0);
}

static void pools_of_odd_kinds(void)
{
    CUmemoryPool pool;
    for (unsigned kind = 0; kind < 8; kind++) {
        CUmemPoolProps of = pool_properties();
        of.allocType = kind;
        CALL(cuMemPoolCreate, &pool, &of);
        of = pool_properties();
        of.location.type = kind;
        CALL(cuMemPoolCreate, &pool, &of);
        of = pool_properties();
        of.handleTypes = kind == 3 ? 0 : 1u << kind; /* not CU_MEM_HANDLE_TYPE_FABRIC */
        CALL(cuMemPoolCreate, &pool, &of);
    }
    CUmemPoolProps of = pool_properties();
    of.maxSize = 1;
    of.usage = 0xffff;
    CALL(cuMemPoolCreate, &pool, &of);
    of.maxSize = ~(size_t)0;
    CALL(cuMemPoolCreate, &pool, &of);
}

static void pool_exported_oddly(void)
{
    CUmemoryPool pool = NULL, imported = NULL;
    CUmemPoolProps of = pool_properties();
    CUmemPoolPtrExportData data;
    CUdeviceptr memory = 0;
    int descriptor = -1;
    of.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CALL(cuMemPoolCreate, &pool, &of);
    CALL(cuMemAllocFromPoolAsync, &memory, 4096, pool, the.stream);
    CALL(cuMemPoolExportToShareableHandle, &descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    CALL(cuMemPoolExportPointer, &data, memory);
    CALL(cuMemPoolImportFromShareableHandle, &imported, (void *)(uintptr_t)descriptor,
         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    CALL(cuMemPoolImportPointer, &memory, imported, &data);
    CALL(cuMemPoolImportPointer, &memory, pool, &data);
    memset(&data, 0x5a, sizeof data);
    CALL(cuMemPoolImportPointer, &memory, imported, &data);
    CALL(cuMemPoolDestroy, imported);
    CALL(cuMemPoolExportPointer, &data, the.memory);
    if (descriptor >= 0)
        close(descriptor);
}

static void stream_memory_freed_oddly(void)
{
    CUdeviceptr memory = 0;
    CALL(cuMemAllocAsync, &memory, 0, the.stream);
    CALL(cuMemAllocAsync, &memory, ~(size_t)0, the.stream);
    CALL(cuMemAllocAsync, &memory, 1 << 20, the.stream);
    CALL(cuMemFreeAsync, memory, the.other_stream);
    CALL(cuMemFreeAsync, memory, the.stream);
    CALL(cuMemFree, memory);
    CALL(cuMemFreeAsync, memory + 4096, the.stream);
    CALL(cuMemFreeAsync, 0, the.stream);
    CALL(cuMemFreeAsync, (CUdeviceptr)(uintptr_t)the.pinned, the.stream);
}

static void stream_memory_after_its_stream(void)
{
    CUdeviceptr memory = 0;
    CALL(cuMemAllocAsync, &memory, 1 << 20, the.stream);
    CALL(cuStreamDestroy, the.stream);
    CALL(cuMemFreeAsync, memory, the.stream);
    CALL(cuMemFreeAsync, memory, the.other_stream);
    CALL(cuMemAllocAsync, &memory, 1 << 20, the.stream);
}

static void memory_handle_opened_by_its_owner(void)
{
    CUipcMemHandle handle;
    CUdeviceptr opened = 0;
    CALL(cuIpcGetMemHandle, &handle, the.memory + 4096);
    CALL(cuIpcOpenMemHandle, &opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    CALL(cuIpcOpenMemHandle, &opened, handle, 0);
    CALL(cuIpcCloseMemHandle, the.memory);
    CALL(cuMemFree, the.memory);
    CALL(cuIpcOpenMemHandle, &opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    CALL(cuIpcGetMemHandle, &handle, the.memory);
    CALL(cuIpcGetMemHandle, &handle, (CUdeviceptr)(uintptr_t)the.pinned);
}

static void memory_handle_changed(void)
{
    CUipcMemHandle handle;
    CUdeviceptr opened;
    if (CALL(cuIpcGetMemHandle, &handle, the.memory) != CUDA_SUCCESS)
        return;
    for (unsigned at = 0; at < sizeof handle.reserved; at++) {
        CUipcMemHandle changed = handle;
        changed.reserved[at] ^= 0x55;
        CALL(cuIpcOpenMemHandle, &opened, changed, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    }
}

static void event_handle_odd(void)
{
    CUipcEventHandle handle;
    CUevent event = NULL, opened;
    CALL(cuIpcGetEventHandle, &handle, the.event);
    CALL(cuEventCreate, &event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    CALL(cuIpcGetEventHandle, &handle, event);
    CALL(cuIpcOpenEventHandle, &opened, handle);
    CALL(cuEventDestroy, event);
    CALL(cuIpcOpenEventHandle, &opened, handle);
    for (unsigned at = 0; at < sizeof handle.reserved; at++) {
        CUipcEventHandle changed = handle;
        changed.reserved[at] ^= 0x55;
        CALL(cuIpcOpenEventHandle, &opened, changed);
    }
}

const struct odd_case odd_pools[] = {
    ODD_CASE(pool_destroyed_in_use, "a pool is destroyed twice while memory of it is in use"),
    ODD_CASE(current_pool_destroyed, "the device's current pool is destroyed"),
    ODD_CASE(default_pool_destroyed, "the device's default pool is destroyed"),
    ODD_CASE(pool_attributes_odd, "attributes of a pool of every id"),
    ODD_CASE(pool_access_odd, "odd access to a pool"),
    ODD_CASE(pools_of_odd_kinds, "pools of odd kinds, places and sizes"),
    ODD_CASE(pool_exported_oddly, "a pool is exported to its own process, with changed data"),
    ODD_CASE(stream_memory_freed_oddly, "memory of a stream is freed twice, in its middle and elsewhere"),
    ODD_CASE(stream_memory_after_its_stream, "memory of a stream is freed after the stream was destroyed"),
    ODD_CASE(memory_handle_opened_by_its_owner,
             "a handle of memory is opened by its owner and after the memory was freed"),
    ODD_CASE(memory_handle_changed, "a handle of memory with each byte changed is opened"),
    ODD_CASE(event_handle_odd, "a handle of an event is opened by its owner, destroyed and changed"),
    {0},
};
