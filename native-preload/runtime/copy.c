/* Copies of bytes and of rectangles, to and from memory and variables; and fills. */
#include <string.h>

#include "runtime.h"

#define DEVICE(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

static cudaError_t asynchronous(void *to, const void *from, size_t bytes, int kind, CUstream stream)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return cuMemcpyHtoDAsync_v2(DEVICE(to), from, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return cuMemcpyDtoHAsync_v2(to, DEVICE(from), bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return cuMemcpyDtoDAsync_v2(DEVICE(to), DEVICE(from), bytes, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return cuMemcpyAsync(DEVICE(to), DEVICE(from), bytes, stream);
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
}

static cudaError_t synchronous(void *to, const void *from, size_t bytes, int kind)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return cuMemcpyHtoD_v2(DEVICE(to), from, bytes);
    case cudaMemcpyDeviceToHost:
        return cuMemcpyDtoH_v2(to, DEVICE(from), bytes);
    case cudaMemcpyDeviceToDevice:
        return cuMemcpyDtoD_v2(DEVICE(to), DEVICE(from), bytes);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return cuMemcpy(DEVICE(to), DEVICE(from), bytes);
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
}

cudaError_t copy(void *to, const void *from, size_t bytes, int kind, CUstream stream, bool wait)
{
    if (!bytes)
        return cudaSuccess;
    if (!wait)
        return asynchronous(to, from, bytes, kind, stream);
    if (!stream)
        return synchronous(to, from, bytes, kind);
    cudaError_t failed = asynchronous(to, from, bytes, kind, stream);
    return failed ? failed : cuStreamSynchronize(stream);
}

ON_DEFAULT(cudaMemcpy, (void *to, const void *from, size_t bytes, int kind), copy(to, from, bytes, kind, stream, true))
ON_STREAM(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, int kind, CUstream stream),
          copy(to, from, bytes, kind, stream, false))

/* ---- Variables ---------------------------------------------------------------------------------------------------- */

static cudaError_t variable(const void *symbol, size_t bytes, size_t offset, void **address)
{
    CUdeviceptr start_address;
    size_t length;
    cudaError_t failed = find_variable(symbol, &start_address, &length);
    if (failed)
        return failed;
    if (offset > length || bytes > length - offset)
        return cudaErrorInvalidValue;
    *address = (void *)(uintptr_t)(start_address + offset);
    return cudaSuccess;
}

static cudaError_t to_variable(const void *symbol, const void *from, size_t bytes, size_t offset, int kind,
                               CUstream stream, bool wait)
{
    void *to;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t failed = variable(symbol, bytes, offset, &to);
    return failed ? failed : copy(to, from, bytes, kind, stream, wait);
}

static cudaError_t from_variable(void *to, const void *symbol, size_t bytes, size_t offset, int kind, CUstream stream,
                                 bool wait)
{
    void *from;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t failed = variable(symbol, bytes, offset, &from);
    return failed ? failed : copy(to, from, bytes, kind, stream, wait);
}

ON_DEFAULT(cudaMemcpyToSymbol, (const void *symbol, const void *from, size_t bytes, size_t offset, int kind),
           to_variable(symbol, from, bytes, offset, kind, stream, true))
ON_DEFAULT(cudaMemcpyFromSymbol, (void *to, const void *symbol, size_t bytes, size_t offset, int kind),
           from_variable(to, symbol, bytes, offset, kind, stream, true))
ON_STREAM(cudaMemcpyToSymbolAsync,
          (const void *symbol, const void *from, size_t bytes, size_t offset, int kind, CUstream stream),
          to_variable(symbol, from, bytes, offset, kind, stream, false))
ON_STREAM(cudaMemcpyFromSymbolAsync,
          (void *to, const void *symbol, size_t bytes, size_t offset, int kind, CUstream stream),
          from_variable(to, symbol, bytes, offset, kind, stream, false))

/* ---- Between devices ---------------------------------------------------------------------------------------------- */

static cudaError_t between(void *to, int to_device, const void *from, int from_device, size_t bytes, CUstream stream,
                           bool wait)
{
    if (to_device == from_device)
        return copy(to, from, bytes, cudaMemcpyDeviceToDevice, stream, wait);
    CUcontext there, here;
    cudaError_t failed = cuDevicePrimaryCtxRetain(&there, to_device);
    if (failed)
        return failed;
    failed = cuDevicePrimaryCtxRetain(&here, from_device);
    if (!failed) {
        failed = wait ? cuMemcpyPeer(DEVICE(to), there, DEVICE(from), here, bytes)
                      : cuMemcpyPeerAsync(DEVICE(to), there, DEVICE(from), here, bytes, stream);
        cuDevicePrimaryCtxRelease_v2(from_device);
    }
    cuDevicePrimaryCtxRelease_v2(to_device);
    return failed;
}

ON_DEFAULT(cudaMemcpyPeer, (void *to, int to_device, const void *from, int from_device, size_t bytes),
           between(to, to_device, from, from_device, bytes, stream, true))
ON_STREAM(cudaMemcpyPeerAsync,
          (void *to, int to_device, const void *from, int from_device, size_t bytes, CUstream stream),
          between(to, to_device, from, from_device, bytes, stream, false))

/* ---- Fills -------------------------------------------------------------------------------------------------------- */

static cudaError_t settled(cudaError_t result, CUstream stream)
{
    return result || !stream ? result : cuStreamSynchronize(stream);
}

ON_DEFAULT(cudaMemset, (void *memory, int value, size_t bytes),
           bytes ? settled(cuMemsetD8Async(DEVICE(memory), (unsigned char)value, bytes, stream), stream) : cudaSuccess)
ON_STREAM(cudaMemsetAsync, (void *memory, int value, size_t bytes, CUstream stream),
          bytes ? cuMemsetD8Async(DEVICE(memory), (unsigned char)value, bytes, stream) : cudaSuccess)

static cudaError_t fill_rows(void *memory, size_t pitch, int value, size_t width, size_t height, CUstream stream)
{
    if (!width || !height)
        return cudaSuccess;
    return cuMemsetD2D8Async(DEVICE(memory), pitch, (unsigned char)value, width, height, stream);
}

ON_DEFAULT(cudaMemset2D, (void *memory, size_t pitch, int value, size_t width, size_t height),
           settled(fill_rows(memory, pitch, value, width, height, stream), stream))
ON_STREAM(cudaMemset2DAsync, (void *memory, size_t pitch, int value, size_t width, size_t height, CUstream stream),
          fill_rows(memory, pitch, value, width, height, stream))

static cudaError_t fill_volume(struct cudaPitchedPtr memory, int value, struct cudaExtent extent, CUstream stream)
{
    for (size_t slice = 0; slice < extent.depth; slice++) {
        void *first = (char *)memory.ptr + slice * memory.pitch * memory.ysize;
        cudaError_t failed = fill_rows(first, memory.pitch, value, extent.width, extent.height, stream);
        if (failed)
            return failed;
    }
    return cudaSuccess;
}

ON_DEFAULT(cudaMemset3D, (struct cudaPitchedPtr memory, int value, struct cudaExtent extent),
           settled(fill_volume(memory, value, extent, stream), stream))
ON_STREAM(cudaMemset3DAsync, (struct cudaPitchedPtr memory, int value, struct cudaExtent extent, CUstream stream),
          fill_volume(memory, value, extent, stream))
