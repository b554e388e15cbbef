/*
 * Memory that is reserved, made and mapped by itself, and managed memory. No multicast objects and no handles for fabrics: what goes
 * wrong there can end more than a process, and take the GPUs of a machine from all who share it.
 */
#include <unistd.h>

#include "odd.h"

enum { CHUNK = 2 << 20 };

static CUmemAllocationProp properties(void)
{
    CUmemAllocationProp of = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    of.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    of.location.id = the.device;
    return of;
}

static CUmemAccessDesc access_of(CUmemAccess_flags flags)
{
    CUmemAccessDesc access = {.flags = flags};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = the.device;
    return access;
}

static CUdeviceptr reserve(size_t size)
{
    CUdeviceptr place = 0;
    CALL(cuMemAddressReserve, &place, size, 0, 0, 0);
    return place;
}

static CUmemGenericAllocationHandle create(size_t size)
{
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp of = properties();
    CALL(cuMemCreate, &handle, size, &of, 0);
    return handle;
}

static void mapped_twice(void)
{
    CUdeviceptr place = reserve(4 * CHUNK);
    CUmemGenericAllocationHandle handle = create(CHUNK);
    CUmemAccessDesc access = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CALL(cuMemMap, place, CHUNK, 0, handle, 0);
    CALL(cuMemMap, place, CHUNK, 0, handle, 0);
    CALL(cuMemMap, place + CHUNK, CHUNK, 0, handle, 0);
    CALL(cuMemSetAccess, place, 2 * CHUNK, &access, 1);
    CALL(cuMemcpyDtoD, place, place + CHUNK, CHUNK);
    CALL(cuMemUnmap, place, 4 * CHUNK);
    CALL(cuMemUnmap, place, 2 * CHUNK);
}

static void mapped_beyond_its_place(void)
{
    CUdeviceptr place = reserve(CHUNK);
    CUmemGenericAllocationHandle handle = create(2 * CHUNK);
    CALL(cuMemMap, place, 2 * CHUNK, 0, handle, 0);
    CALL(cuMemMap, place, CHUNK, CHUNK, handle, 0);
    CALL(cuMemMap, place + 4096, 4096, 4096, handle, 0);
    CALL(cuMemMap, place, 0, 0, handle, 0);
    CALL(cuMemMap, the.memory, CHUNK, 0, handle, 0);
    CALL(cuMemMap, place, CHUNK, ~(size_t)0, handle, ~0ull);
    CALL(cuMemMap, place, ~(size_t)0, 0, handle, 0);
}

static void unmapped_in_part(void)
{
    CUdeviceptr place = reserve(4 * CHUNK);
    CUmemGenericAllocationHandle handle = create(2 * CHUNK);
    CALL(cuMemMap, place, 2 * CHUNK, 0, handle, 0);
    CALL(cuMemUnmap, place, CHUNK);
    CALL(cuMemUnmap, place + CHUNK, CHUNK);
    CALL(cuMemUnmap, place + 3 * CHUNK, CHUNK);
    CALL(cuMemUnmap, the.memory, ODD_BYTES);
    CALL(cuMemUnmap, place, 0);
    CALL(cuMemUnmap, place, ~(size_t)0);
}

static void released_before_unmapped(void)
{
    CUdeviceptr place = reserve(CHUNK);
    CUmemGenericAllocationHandle handle = create(CHUNK);
    CUmemAccessDesc access = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CALL(cuMemMap, place, CHUNK, 0, handle, 0);
    CALL(cuMemRelease, handle);
    CALL(cuMemRelease, handle);
    CALL(cuMemSetAccess, place, CHUNK, &access, 1);
    CALL(cuMemsetD8, place, 1, CHUNK);
    CALL(cuMemAddressFree, place, CHUNK);
    CALL(cuMemUnmap, place, CHUNK);
    CALL(cuMemAddressFree, place, CHUNK / 2);
    CALL(cuMemAddressFree, place, CHUNK);
    CALL(cuMemAddressFree, place, CHUNK);
}

static void unmapped_while_in_use(void)
{
    CUdeviceptr place = reserve(CHUNK);
    CUmemGenericAllocationHandle handle = create(CHUNK);
    CUmemAccessDesc access = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CALL(cuMemMap, place, CHUNK, 0, handle, 0);
    CALL(cuMemSetAccess, place, CHUNK, &access, 1);
    odd_keep_busy(the.stream, 50);
    CALL(cuMemsetD8Async, place, 1, CHUNK, the.stream);
    CALL(cuStreamSynchronize, the.stream);
    CALL(cuMemUnmap, place, CHUNK);
    CALL(cuMemFree, place);
}

static void access_of_odd_kinds(void)
{
    CUdeviceptr place = reserve(CHUNK);
    CUmemGenericAllocationHandle handle = create(CHUNK);
    unsigned long long flags;
    CALL(cuMemMap, place, CHUNK, 0, handle, 0);
    for (unsigned kind = 0; kind < 5; kind++) {
        CUmemAccessDesc access = access_of(kind);
        CALL(cuMemSetAccess, place, CHUNK, &access, 1);
        access.location.type = kind;
        access.location.id = 77;
        CALL(cuMemSetAccess, place, CHUNK, &access, 1);
        CALL(cuMemGetAccess, &flags, &access.location, place);
    }
    CUmemAccessDesc access[] = {access_of(CU_MEM_ACCESS_FLAGS_PROT_READ), access_of(CU_MEM_ACCESS_FLAGS_PROT_NONE)};
    CALL(cuMemSetAccess, place, CHUNK, access, 2);
    CALL(cuMemSetAccess, place, 2 * CHUNK, access, 1);
    CALL(cuMemSetAccess, place, CHUNK, access, 0);
    CALL(cuMemSetAccess, the.memory, CHUNK, access, 1);
}

static void chunks_of_odd_kinds(void)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp of = properties();
    create(0);
    create(1);
    create(~(size_t)0 & ~(size_t)(CHUNK - 1));
    CALL(cuMemCreate, &handle, CHUNK, &of, ~0ull);
    for (unsigned kind = 0; kind < 8; kind++) {
        of = properties();
        of.location.type = kind;
        CALL(cuMemCreate, &handle, CHUNK, &of, 0);
        of = properties();
        of.requestedHandleTypes = kind == 3 ? 0 : 1u << kind; /* not CU_MEM_HANDLE_TYPE_FABRIC */
        CALL(cuMemCreate, &handle, CHUNK, &of, 0);
        of = properties();
        of.allocFlags.usage = 1u << kind;
        of.allocFlags.compressionType = kind;
        CALL(cuMemCreate, &handle, CHUNK, &of, 0);
    }
    of = properties();
    of.type = 77;
    CALL(cuMemCreate, &handle, CHUNK, &of, 0);
    size_t granularity;
    CALL(cuMemGetAllocationGranularity, &granularity, &of, 77);
}

static void places_of_odd_sizes(void)
{
    CUdeviceptr place;
    CALL(cuMemAddressReserve, &place, 0, 0, 0, 0);
    CALL(cuMemAddressReserve, &place, 4096, 3, 0, 0);
    CALL(cuMemAddressReserve, &place, (size_t)1 << 60, 0, 0, 0);
    CALL(cuMemAddressReserve, &place, CHUNK, (size_t)1 << 62, 0, 0);
    CALL(cuMemAddressReserve, &place, CHUNK, 0, the.memory, 0);
    CALL(cuMemAddressReserve, &place, CHUNK, 0, (CUdeviceptr)(uintptr_t)the.pinned, ~0ull);
    CALL(cuMemAddressFree, the.memory, ODD_BYTES);
}

static void chunk_exported_oddly(void)
{
    CUmemAllocationProp of = properties();
    CUmemGenericAllocationHandle handle, imported;
    CUmemAllocationProp told;
    int descriptor = -1;
    of.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CALL(cuMemCreate, &handle, CHUNK, &of, 0);
    CALL(cuMemExportToShareableHandle, &descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    CALL(cuMemRelease, handle);
    void *with = (void *)(uintptr_t)descriptor;
    CALL(cuMemImportFromShareableHandle, &imported, with, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CALL(cuMemGetAllocationPropertiesFromHandle, &told, imported);
    if (descriptor >= 0)
        close(descriptor);
    CALL(cuMemImportFromShareableHandle, &imported, with, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CALL(cuMemImportFromShareableHandle, &imported, (void *)(uintptr_t)1, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CALL(cuMemExportToShareableHandle, &descriptor, create(CHUNK), 77, ~0ull);
    CALL(cuMemRetainAllocationHandle, &handle, (void *)(uintptr_t)the.memory);
}

static void managed_memory_advised_oddly(void)
{
    CUdeviceptr managed;
    uint32_t answer;
    CUmemLocation place = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = the.device};
    if (CALL(cuMemAllocManaged, &managed, 1 << 20, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS)
        return;
    for (unsigned advice = 0; advice < 10; advice++) {
        CALL(cuMemAdvise, managed, 1 << 20, advice, place);
        CALL(cuMemAdvise, managed, ~(size_t)0, advice, place);
        CALL(cuMemRangeGetAttribute, &answer, 4, advice, managed, 1 << 20);
    }
    CALL(cuMemAdvise, the.memory, ODD_BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, place);
    CALL(cuMemRangeGetAttribute, &answer, 0, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, managed, 1 << 20);
    place.id = 77;
    CALL(cuMemAdvise, managed, 0, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place);
    place.type = 77;
    CALL(cuMemAdvise, managed, 1 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place);
}

static void managed_memory_fetched_oddly(void)
{
    CUdeviceptr managed;
    CUmemLocation place = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = the.device};
    if (CALL(cuMemAllocManaged, &managed, 1 << 20, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS)
        return;
    CALL(cuMemPrefetchAsync, managed, ~(size_t)0, place, 0, the.stream);
    CALL(cuMemPrefetchAsync, managed, 0, place, 0, the.stream);
    CALL(cuMemPrefetchAsync, the.memory, ODD_BYTES, place, 0, the.stream);
    CALL(cuMemPrefetchAsync, managed, 1 << 20, place, ~0u, the.stream);
    place.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    place.id = 1000;
    CALL(cuMemPrefetchAsync, managed, 1 << 20, place, 0, the.stream);
    place.type = CU_MEM_LOCATION_TYPE_HOST;
    CALL(cuMemPrefetchAsync, managed, 1 << 20, place, 0, the.stream);
    CALL(cuMemFree, managed);
}

const struct odd_case odd_mappings[] = {
    ODD_CASE(mapped_twice, "memory is mapped twice, at one place and at two"),
    ODD_CASE(mapped_beyond_its_place, "memory is mapped beyond the place and at odd offsets"),
    ODD_CASE(unmapped_in_part, "mapped memory is unmapped in part"),
    ODD_CASE(released_before_unmapped, "memory is released and its place freed before it is unmapped"),
    ODD_CASE(unmapped_while_in_use, "mapped memory is unmapped behind its use and freed by the wrong call"),
    ODD_CASE(access_of_odd_kinds, "access of odd kinds and places"),
    ODD_CASE(chunks_of_odd_kinds, "memory of odd sizes, places and handle types"),
    ODD_CASE(places_of_odd_sizes, "places of odd sizes and alignments"),
    ODD_CASE(chunk_exported_oddly, "released memory is exported and imported, and a descriptor that is none"),
    ODD_CASE(managed_memory_advised_oddly, "odd advice about managed memory"),
    ODD_CASE(managed_memory_fetched_oddly, "managed memory is fetched to odd places"),
    {0},
};
