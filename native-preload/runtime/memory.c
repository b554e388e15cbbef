/* Memory of the device and pinned memory of the host. */
#include "runtime.h"

#define DEVICE(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

/* cudaPointerAttributes, as far as both majors have it */
struct runtime_pointer_attributes {
    int type; /* 0 unregistered, 1 host, 2 device, 3 managed: the driver's types, but for 0 */
    int device;
    void *device_pointer;
    void *host_pointer;
};

static cudaError_t allocate(void **out, size_t bytes)
{
    CUdeviceptr memory = 0;
    if (!out)
        return cudaErrorInvalidValue;
    cudaError_t failed = bytes ? cuMemAlloc_v2(&memory, bytes) : cudaSuccess;
    if (!failed)
        *out = (void *)(uintptr_t)memory;
    return failed;
}

#define WITH_CONTEXT(name, parameters, call)                                                                           \
    EXPORT cudaError_t name parameters;                                                                                \
    EXPORT cudaError_t name parameters                                                                                 \
    {                                                                                                                  \
        cudaError_t failed = enter();                                                                                  \
        return failed ? failed : keep(call);                                                                           \
    }

WITH_CONTEXT(cudaMalloc, (void **out, size_t bytes), allocate(out, bytes))

static cudaError_t allocate_pitch(void **out, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr memory = 0;
    if (!out || !pitch)
        return cudaErrorInvalidValue;
    if (!width || !height) {
        *out = NULL;
        *pitch = 0;
        return cudaSuccess;
    }
    cudaError_t failed = cuMemAllocPitch_v2(&memory, pitch, width, height, 16 /* the widest element */);
    if (!failed)
        *out = (void *)(uintptr_t)memory;
    return failed;
}

WITH_CONTEXT(cudaMallocPitch, (void **out, size_t *pitch, size_t width, size_t height),
             allocate_pitch(out, pitch, width, height))

static cudaError_t allocate_volume(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    if (!out || (extent.depth && extent.height > SIZE_MAX / extent.depth))
        return cudaErrorInvalidValue;
    cudaError_t failed = allocate_pitch(&out->ptr, &out->pitch, extent.width, extent.height * extent.depth);
    out->xsize = extent.width;
    out->ysize = extent.height;
    return failed;
}

WITH_CONTEXT(cudaMalloc3D, (struct cudaPitchedPtr * out, struct cudaExtent extent), allocate_volume(out, extent))
WITH_CONTEXT(cudaFree, (void *memory), memory ? cuMemFree_v2(DEVICE(memory)) : cudaSuccess)
WITH_CONTEXT(cudaMallocHost, (void **out, size_t bytes), cuMemHostAlloc(out, bytes, 0))
WITH_CONTEXT(cudaHostAlloc, (void **out, size_t bytes, unsigned flags), cuMemHostAlloc(out, bytes, flags))
WITH_CONTEXT(cudaFreeHost, (void *memory), memory ? cuMemFreeHost(memory) : cudaSuccess)
WITH_CONTEXT(cudaHostRegister, (void *memory, size_t bytes, unsigned flags), cuMemHostRegister_v2(memory, bytes, flags))
WITH_CONTEXT(cudaHostUnregister, (void *memory), cuMemHostUnregister(memory))
WITH_CONTEXT(cudaHostGetFlags, (unsigned *flags, void *memory), cuMemHostGetFlags(flags, memory))
WITH_CONTEXT(cudaMemGetInfo, (size_t * free_bytes, size_t *total_bytes), cuMemGetInfo_v2(free_bytes, total_bytes))

static cudaError_t device_pointer(void **out, void *host, unsigned flags)
{
    CUdeviceptr found = 0;
    cudaError_t failed = out ? cuMemHostGetDevicePointer_v2(&found, host, flags) : cudaErrorInvalidValue;
    if (!failed)
        *out = (void *)(uintptr_t)found;
    return failed;
}

WITH_CONTEXT(cudaHostGetDevicePointer, (void **out, void *host, unsigned flags), device_pointer(out, host, flags))

/* A pointer that the driver does not know is ordinary host memory, which is an answer and no error. */
static cudaError_t describe(struct runtime_pointer_attributes *out, const void *pointer)
{
    unsigned type = 0;
    int ordinal = -2; /* no device, as the runtime says it */
    CUdeviceptr on_device = 0;
    void *on_host = NULL;
    if (!out)
        return cudaErrorInvalidValue;
    int which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                   CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *values[] = {&type, &ordinal, &on_device, &on_host};
    cudaError_t failed = cuPointerGetAttributes(4, (void *)which, values, DEVICE(pointer));
    if (failed)
        return failed;
    *out = (struct runtime_pointer_attributes){.type = (int)type, .device = type ? ordinal : -2};
    if (type) {
        out->device_pointer = (void *)(uintptr_t)on_device;
        out->host_pointer = type == CU_MEMORYTYPE_DEVICE ? NULL : on_host;
    } else {
        out->host_pointer = (void *)(uintptr_t)pointer;
    }
    return cudaSuccess;
}

WITH_CONTEXT(cudaPointerGetAttributes, (struct runtime_pointer_attributes * out, const void *pointer),
             describe(out, pointer))

/* ---- Stream-ordered memory and pools ------------------------------------------------------------------------------ */

ON_STREAM(cudaMallocAsync, (void **out, size_t bytes, CUstream stream), cuMemAllocAsync((void *)out, bytes, stream))
ON_STREAM(cudaMallocFromPoolAsync, (void **out, size_t bytes, CUmemoryPool pool, CUstream stream),
          cuMemAllocFromPoolAsync((void *)out, bytes, pool, stream))
ON_STREAM(cudaFreeAsync, (void *memory, CUstream stream), cuMemFreeAsync(DEVICE(memory), stream))
/* In space sharing the driver's entry refuses it, and says what to do. */
FORWARD(cudaMallocManaged, cuMemAllocManaged, (void **pointer, size_t bytes, unsigned flags),
        ((CUdeviceptr *)pointer, bytes, flags))
FORWARD(cudaMemPoolCreate, cuMemPoolCreate, (CUmemoryPool * pool, const void *properties), (pool, (void *)properties))
FORWARD(cudaMemPoolDestroy, cuMemPoolDestroy, (CUmemoryPool pool), (pool))
FORWARD(cudaMemPoolTrimTo, cuMemPoolTrimTo, (CUmemoryPool pool, size_t bytes), (pool, bytes))
FORWARD(cudaMemPoolSetAttribute, cuMemPoolSetAttribute, (CUmemoryPool pool, int which, void *value),
        (pool, which, value))
FORWARD(cudaMemPoolGetAttribute, cuMemPoolGetAttribute, (CUmemoryPool pool, int which, void *value),
        (pool, which, value))
FORWARD(cudaMemPoolSetAccess, cuMemPoolSetAccess, (CUmemoryPool pool, const void *access, size_t count),
        (pool, (void *)access, count))
FORWARD(cudaMemPoolGetAccess, cuMemPoolGetAccess, (int *flags, CUmemoryPool pool, void *location),
        ((void *)flags, pool, location))
FORWARD(cudaDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, int device), (pool, device))
FORWARD(cudaDeviceGetMemPool, cuDeviceGetMemPool, (CUmemoryPool * pool, int device), (pool, device))
FORWARD(cudaDeviceSetMemPool, cuDeviceSetMemPool, (int device, CUmemoryPool pool), (device, pool))
FORWARD(cudaDeviceGraphMemTrim, cuDeviceGraphMemTrim, (int device), (device))
FORWARD(cudaDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute, (int device, int which, void *value),
        (device, which, value))
FORWARD(cudaDeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute, (int device, int which, void *value),
        (device, which, value))

/* ---- Variables ---------------------------------------------------------------------------------------------------- */

EXPORT cudaError_t cudaGetSymbolAddress(void **out, const void *symbol);
EXPORT cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
    CUdeviceptr address;
    size_t bytes;
    if (!out)
        return keep(cudaErrorInvalidValue);
    cudaError_t failed = find_variable(symbol, &address, &bytes);
    if (!failed)
        *out = (void *)(uintptr_t)address;
    return failed;
}

EXPORT cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol);
EXPORT cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol)
{
    CUdeviceptr address;
    return out ? find_variable(symbol, &address, out) : keep(cudaErrorInvalidValue);
}
