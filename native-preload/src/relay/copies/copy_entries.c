/* The driver's one-dimensional copies. The twins with the per-thread stream differ in the stream alone. */
#include "relay/copies/copy.h"
#include "relay/streams/streams.h"
#include "relay_stubs.h"

/* The current context, and the wire handle of a stream. Stream 0 is the per-thread stream if `per_thread` is set. */
#define ENTER_COPY(handle, per_thread)                                                                                 \
    struct relay_context *context;                                                                                     \
    uint64_t wire = 0;                                                                                                 \
    CUresult entered = relay_enter(&context);                                                                          \
    if (entered == CUDA_SUCCESS)                                                                                       \
        entered = relay_stream_wire(context, handle, per_thread, &wire);                                               \
    if (entered != CUDA_SUCCESS)                                                                                       \
    return entered

static CUresult to_device(CUdeviceptr to, const void *from, size_t bytes, CUstream stream, bool per_thread,
                          enum copy_end end)
{
    ENTER_COPY(stream, per_thread);
    if (bytes && !from)
        return CUDA_ERROR_INVALID_VALUE;
    return copy_linear(context, wire, copy_device(to), copy_host(context, from, bytes), bytes, end);
}

static CUresult to_host(void *to, CUdeviceptr from, size_t bytes, CUstream stream, bool per_thread, enum copy_end end)
{
    ENTER_COPY(stream, per_thread);
    if (bytes && !to)
        return CUDA_ERROR_INVALID_VALUE;
    return copy_linear(context, wire, copy_host(context, to, bytes), copy_device(from), bytes, end);
}

static CUresult within(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream, bool per_thread)
{
    ENTER_COPY(stream, per_thread);
    return copy_linear(context, wire, copy_device(to), copy_device(from), bytes, COPY_RETURNS_EARLY);
}

/* The address alone tells the kind of memory. */
static CUresult anywhere(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream, bool per_thread,
                         enum copy_end end)
{
    ENTER_COPY(stream, per_thread);
    if (bytes && (!to || !from))
        return CUDA_ERROR_INVALID_VALUE;
    return copy_linear(context, wire, copy_host(context, (void *)(uintptr_t)to, bytes),
                       copy_host(context, (void *)(uintptr_t)from, bytes), bytes, end);
}

static CUresult host_to_array(CUarray array, size_t offset, const void *from, size_t bytes, CUstream stream,
                              bool per_thread, enum copy_end end)
{
    ENTER_COPY(stream, per_thread);
    if (bytes && !from)
        return CUDA_ERROR_INVALID_VALUE;
    return copy_linear(context, wire, copy_array(array, offset), copy_host(context, from, bytes), bytes, end);
}

static CUresult array_to_host(void *to, CUarray array, size_t offset, size_t bytes, CUstream stream, bool per_thread,
                              enum copy_end end)
{
    ENTER_COPY(stream, per_thread);
    if (bytes && !to)
        return CUDA_ERROR_INVALID_VALUE;
    return copy_linear(context, wire, copy_host(context, to, bytes), copy_array(array, offset), bytes, end);
}

static CUresult with_array(struct copy_place to, struct copy_place from, size_t bytes, bool per_thread)
{
    ENTER_COPY(NULL, per_thread);
    return copy_linear(context, wire, to, from, bytes, COPY_RETURNS_EARLY);
}

static CUresult between(CUdeviceptr to, CUcontext to_handle, CUdeviceptr from, CUcontext from_handle, size_t bytes,
                        CUstream stream, bool per_thread)
{
    ENTER_COPY(stream, per_thread);
    struct relay_context *to_context = relay_context_of(to_handle), *from_context = relay_context_of(from_handle);
    if (!to_context || !from_context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return copy_between(to_context, to, from_context, from, bytes, context, wire);
}

/* An entry without a stream and its twin, whose stream is the per-thread one. */
#define TWINS(name, parameters, plain, per_thread)                                                                     \
    CUresult relay_##name parameters                                                                                   \
    {                                                                                                                  \
        return plain;                                                                                                  \
    }                                                                                                                  \
    CUresult relay_##name##_ptds parameters                                                                            \
    {                                                                                                                  \
        return per_thread;                                                                                             \
    }

TWINS(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes), anywhere(to, from, bytes, NULL, false, COPY_WAITS),
      anywhere(to, from, bytes, NULL, true, COPY_WAITS))
TWINS(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes),
      to_device(to, from, bytes, NULL, false, COPY_WAITS), to_device(to, from, bytes, NULL, true, COPY_WAITS))
TWINS(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes), to_host(to, from, bytes, NULL, false, COPY_WAITS),
      to_host(to, from, bytes, NULL, true, COPY_WAITS))
TWINS(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes), within(to, from, bytes, NULL, false),
      within(to, from, bytes, NULL, true))
TWINS(cuMemcpyHtoA_v2, (CUarray array, size_t offset, const void *from, size_t bytes),
      host_to_array(array, offset, from, bytes, NULL, false, COPY_WAITS),
      host_to_array(array, offset, from, bytes, NULL, true, COPY_WAITS))
TWINS(cuMemcpyAtoH_v2, (void *to, CUarray array, size_t offset, size_t bytes),
      array_to_host(to, array, offset, bytes, NULL, false, COPY_WAITS),
      array_to_host(to, array, offset, bytes, NULL, true, COPY_WAITS))
TWINS(cuMemcpyAtoA_v2, (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes),
      with_array(copy_array(to, to_offset), copy_array(from, from_offset), bytes, false),
      with_array(copy_array(to, to_offset), copy_array(from, from_offset), bytes, true))
TWINS(cuMemcpyAtoD_v2, (CUdeviceptr to, CUarray from, size_t offset, size_t bytes),
      with_array(copy_device(to), copy_array(from, offset), bytes, false),
      with_array(copy_device(to), copy_array(from, offset), bytes, true))
TWINS(cuMemcpyDtoA_v2, (CUarray to, size_t offset, CUdeviceptr from, size_t bytes),
      with_array(copy_array(to, offset), copy_device(from), bytes, false),
      with_array(copy_array(to, offset), copy_device(from), bytes, true))
TWINS(cuMemcpyPeer, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes),
      between(to, to_context, from, from_context, bytes, NULL, false),
      between(to, to_context, from, from_context, bytes, NULL, true))

CUresult relay_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return anywhere(to, from, bytes, stream, false, COPY_RETURNS_EARLY);
}

CUresult relay_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return to_device(to, from, bytes, stream, false, COPY_RETURNS_EARLY);
}

CUresult relay_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return to_host(to, from, bytes, stream, false, COPY_RETURNS_EARLY);
}

CUresult relay_cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return within(to, from, bytes, stream, false);
}

CUresult relay_cuMemcpyHtoAAsync_v2(CUarray array, size_t offset, const void *from, size_t bytes, CUstream stream)
{
    return host_to_array(array, offset, from, bytes, stream, false, COPY_RETURNS_EARLY);
}

CUresult relay_cuMemcpyAtoHAsync_v2(void *to, CUarray array, size_t offset, size_t bytes, CUstream stream)
{
    return array_to_host(to, array, offset, bytes, stream, false, COPY_RETURNS_EARLY);
}

CUresult relay_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                 size_t bytes, CUstream stream)
{
    return between(to, to_context, from, from_context, bytes, stream, false);
}
