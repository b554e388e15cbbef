/*
 * A driver for tests of the direct port's layers, in the table that REAL() reads: contexts on a few devices, of which the first
 * has memory. A thread that has pushed no context has FAKE_CONTEXT, on that device. Physical memory is files that are mapped
 * where the layer maps them. So contents are real (garbage at first), and reading what is not mapped ends the test, as does what the driver does not
 * allow: mapping over a mapping, unmapping or releasing what is not there. Copies are done at once; an event is asked twice before
 * it is reached. Any call can be made to fail; a test that wants more of one puts its own into the table. Any thread.
 */
#ifndef TESSERA_FAKE_DRIVER_H
#define TESSERA_FAKE_DRIVER_H

#include "fake_contexts.h"
#include "fake_kernel.h"

/* Memory */

static CUresult fake_cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                                         unsigned long long flags)
{
    FAKE_CALL;
    CHECK(bytes && bytes % FAKE_UNIT == 0 && alignment == 0 && wanted == 0 && flags == 0);
    char *memory = mmap(NULL, bytes + FAKE_UNIT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED);
    uint64_t before = -(uint64_t)(uintptr_t)memory % FAKE_UNIT;
    if (before)
        munmap(memory, before);
    munmap(memory + before + bytes, FAKE_UNIT - before);
    unsigned i = fake_free_slot(fake.reserved, sizeof *fake.reserved, sizeof(CUdeviceptr));
    *address = fake.reserved[i].address = (CUdeviceptr)(uintptr_t)(memory + before);
    fake.reserved[i].bytes = bytes;
    fake.reservations++;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    FAKE_CALL;
    for (unsigned i = 0; i < FAKE_OBJECTS; i++)
        CHECK(!fake.maps[i].address || fake.maps[i].address + fake.maps[i].bytes <= address ||
              fake.maps[i].address >= address + bytes);
    unsigned i = 0;
    while (i < FAKE_OBJECTS && (fake.reserved[i].address != address || fake.reserved[i].bytes != bytes))
        i++;
    CHECK(i < FAKE_OBJECTS);
    fake.reserved[i].address = 0;
    fake.reservations--;
    munmap((void *)(uintptr_t)address, bytes);
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuMemCreate(unsigned long long *handle, size_t bytes, const void *properties,
                                 unsigned long long flags)
{
    FAKE_CALL;
    CHECK(properties && bytes && bytes % FAKE_UNIT == 0 && flags == 0);
    if (fake.held + bytes > FAKE_MEMORY)
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    unsigned i = fake_free_slot(fake.memory, sizeof *fake.memory, sizeof(int));
    int file = memfd_create("fake", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, (off_t)bytes) == 0);
    char *garbage = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(garbage != MAP_FAILED);
    memset(garbage, 0xa5, bytes);
    munmap(garbage, bytes);
    fake.memory[i].file = file + 1;
    fake.memory[i].bytes = bytes;
    fake.memory[i].released = false;
    fake.memory[i].mapped = 0;
    fake.held += bytes;
    *handle = i + 1;
    return fake_leave(CUDA_SUCCESS);
}

/* With the lock. */
static void fake_let_go(unsigned i)
{
    if (!fake.memory[i].released || fake.memory[i].mapped)
        return;
    close(fake.memory[i].file - 1);
    fake.memory[i].file = 0;
    fake.held -= fake.memory[i].bytes;
}

static CUresult fake_cuMemRelease(unsigned long long handle)
{
    FAKE_CALL;
    unsigned i = (unsigned)handle - 1;
    CHECK(i < FAKE_OBJECTS && fake.memory[i].file && !fake.memory[i].released);
    fake.memory[i].released = true;
    fake_let_go(i);
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, unsigned long long handle,
                              unsigned long long flags)
{
    FAKE_CALL;
    unsigned m = (unsigned)handle - 1;
    CHECK(m < FAKE_OBJECTS && fake.memory[m].file && !fake.memory[m].released && fake.memory[m].bytes == bytes);
    CHECK(offset == 0 && flags == 0);
    for (unsigned i = 0; i < FAKE_OBJECTS; i++)
        CHECK(!fake.maps[i].address || fake.maps[i].address + fake.maps[i].bytes <= address ||
              fake.maps[i].address >= address + bytes);
    CHECK(mmap((void *)(uintptr_t)address, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, fake.memory[m].file - 1, 0) !=
          MAP_FAILED);
    unsigned i = fake_free_slot(fake.maps, sizeof *fake.maps, sizeof(CUdeviceptr));
    fake.maps[i].address = address;
    fake.maps[i].bytes = bytes;
    fake.maps[i].memory = m;
    fake.memory[m].mapped++;
    fake.mappings++;
    return fake_leave(CUDA_SUCCESS);
}

/* With the lock. */
static unsigned fake_map_at(CUdeviceptr address, uint64_t bytes)
{
    unsigned i = 0;
    while (i < FAKE_OBJECTS && (fake.maps[i].address != address || fake.maps[i].bytes != bytes))
        i++;
    CHECK(i < FAKE_OBJECTS);
    return i;
}

static CUresult fake_cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    FAKE_CALL;
    unsigned i = fake_map_at(address, bytes), m = fake.maps[i].memory;
    CHECK(mmap((void *)(uintptr_t)address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
               -1, 0) != MAP_FAILED);
    fake.maps[i].address = 0;
    fake.memory[m].mapped--;
    fake.mappings--;
    fake_let_go(m);
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuMemSetAccess(CUdeviceptr address, size_t bytes, const void *access, size_t count)
{
    FAKE_CALL;
    CHECK(count >= 1 && access);
    fake_map_at(address, bytes);
    CHECK(mprotect((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE) == 0);
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_copy(void *to, const void *from, size_t bytes)
{
    if (!fake.faulted)
        memcpy(to, from, bytes);
    return fake_leave(fake.faulted ? FAKE_FAULT : CUDA_SUCCESS);
}

static CUresult fake_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    FAKE_CALL;
    CHECK(stream);
    return fake_copy(to, (const void *)(uintptr_t)from, bytes);
}

static CUresult fake_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    FAKE_CALL;
    CHECK(stream);
    return fake_copy((void *)(uintptr_t)to, from, bytes);
}

static CUresult fake_cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    FAKE_CALL;
    CHECK(stream && value == 0);
    if (!fake.faulted)
        memset((void *)(uintptr_t)to, 0, count * sizeof value);
    return fake_leave(fake.faulted ? FAKE_FAULT : CUDA_SUCCESS);
}

static CUresult fake_cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    FAKE_CALL;
    (void)flags;
    *memory = malloc(bytes);
    return fake_leave(*memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

static CUresult fake_cuMemFreeHost(void *memory)
{
    FAKE_CALL;
    free(memory);
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
    FAKE_CALL;
    CHECK(memory && bytes && flags == CU_MEMHOSTREGISTER_PORTABLE);
    fake.registrations++;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuMemHostUnregister(void *memory)
{
    FAKE_CALL;
    CHECK(memory && fake.registrations);
    fake.registrations--;
    return fake_leave(CUDA_SUCCESS);
}

/* Streams and events */

static CUresult fake_cuStreamCreate(CUstream *stream, unsigned flags)
{
    FAKE_CALL;
    CHECK(flags == CU_STREAM_NON_BLOCKING);
    *stream = (CUstream)(uintptr_t)(0x2000 + 16 * ++fake.streams);
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_of_stream(CUstream stream)
{
    FAKE_CALL;
    (void)stream;
    return fake_leave(fake.faulted ? FAKE_FAULT : CUDA_SUCCESS);
}

static CUresult fake_cuEventCreate(CUevent *event, unsigned flags)
{
    FAKE_CALL;
    (void)flags;
    unsigned i = fake_free_slot(fake.pending, sizeof *fake.pending, sizeof(int));
    fake.pending[i] = 1;
    fake.events++;
    *event = (CUevent)(uintptr_t)(i + 1);
    return fake_leave(CUDA_SUCCESS);
}

/* With the lock. */
static unsigned *fake_event(CUevent event)
{
    CHECK(event && (uintptr_t)event <= FAKE_OBJECTS && fake.pending[(uintptr_t)event - 1]);
    return &fake.pending[(uintptr_t)event - 1];
}

static CUresult fake_cuEventDestroy_v2(CUevent event)
{
    FAKE_CALL;
    *fake_event(event) = 0;
    fake.events--;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuEventRecord(CUevent event, CUstream stream)
{
    FAKE_CALL;
    (void)stream;
    *fake_event(event) = 3;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult fake_cuEventQuery(CUevent event)
{
    FAKE_CALL;
    unsigned *pending = fake_event(event);
    if (fake.faulted)
        return fake_leave(FAKE_FAULT);
    if (*pending > 1)
        --*pending;
    return fake_leave(*pending > 1 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

static CUresult fake_cuEventSynchronize(CUevent event)
{
    FAKE_CALL;
    *fake_event(event) = 1;
    return fake_leave(fake.faulted ? FAKE_FAULT : CUDA_SUCCESS);
}

#define FAKE(name, function) tessera_real[ENTRY_##name] = (void *)(function)

/* Fills the table: every entry that the layers up to direct/swap ask for on their ordinary way. Before any other call. */
static void fake_driver(void)
{
    FAKE(cuCtxGetCurrent, fake_cuCtxGetCurrent);
    FAKE(cuCtxPopCurrent_v2, fake_cuCtxPopCurrent_v2);
    FAKE(cuCtxPushCurrent_v2, fake_cuCtxPushCurrent_v2);
    FAKE(cuCtxSynchronize, fake_nothing);
    FAKE(cuThreadExchangeStreamCaptureMode, fake_nothing);
    FAKE(cuDeviceGetCount, fake_cuDeviceGetCount);
    FAKE(cuDeviceGetUuid_v2, fake_cuDeviceGetUuid_v2);
    FAKE(cuDeviceGetUuid, fake_cuDeviceGetUuid);
    FAKE(cuDeviceGetName, fake_text);
    FAKE(cuDeviceGetPCIBusId, fake_text);
    FAKE(cuCtxGetDevice, fake_cuCtxGetDevice);
    FAKE(cuDeviceTotalMem_v2, fake_cuDeviceTotalMem_v2);
    FAKE(cuMemGetInfo_v2, fake_cuMemGetInfo_v2);
    FAKE(cuDeviceGetAttribute, fake_cuDeviceGetAttribute);
    FAKE(cuMemGetAllocationGranularity, fake_cuMemGetAllocationGranularity);
    FAKE(cuMemAddressReserve, fake_cuMemAddressReserve);
    FAKE(cuMemAddressFree, fake_cuMemAddressFree);
    FAKE(cuMemCreate, fake_cuMemCreate);
    FAKE(cuMemRelease, fake_cuMemRelease);
    FAKE(cuMemMap, fake_cuMemMap);
    FAKE(cuMemUnmap, fake_cuMemUnmap);
    FAKE(cuMemSetAccess, fake_cuMemSetAccess);
    FAKE(cuMemcpyDtoHAsync_v2, fake_cuMemcpyDtoHAsync_v2);
    FAKE(cuMemcpyHtoDAsync_v2, fake_cuMemcpyHtoDAsync_v2);
    FAKE(cuMemsetD32Async, fake_cuMemsetD32Async);
    FAKE(cuModuleLoadData, fake_cuModuleLoadData);
    FAKE(cuModuleUnload, fake_cuModuleUnload);
    FAKE(cuModuleGetFunction, fake_cuModuleGetFunction);
    FAKE(cuModuleGetGlobal_v2, fake_cuModuleGetGlobal_v2);
    FAKE(cuLaunchKernel, fake_cuLaunchKernel);
    FAKE(cuMemHostAlloc, fake_cuMemHostAlloc);
    FAKE(cuMemFreeHost, fake_cuMemFreeHost);
    FAKE(cuMemHostRegister_v2, fake_cuMemHostRegister_v2);
    FAKE(cuMemHostUnregister, fake_cuMemHostUnregister);
    FAKE(cuStreamCreate, fake_cuStreamCreate);
    FAKE(cuStreamDestroy_v2, fake_of_stream);
    FAKE(cuStreamSynchronize, fake_of_stream);
    FAKE(cuStreamQuery, fake_of_stream);
    FAKE(cuEventCreate, fake_cuEventCreate);
    FAKE(cuEventDestroy_v2, fake_cuEventDestroy_v2);
    FAKE(cuEventRecord, fake_cuEventRecord);
    FAKE(cuEventQuery, fake_cuEventQuery);
    FAKE(cuEventSynchronize, fake_cuEventSynchronize);
}

#endif
