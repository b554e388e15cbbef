/*
 * The runtime library: CUDA's runtime calls over the driver API, for programs that were linked with a shared cudart. From
 * inside: what its files use of each other.
 *
 * One source, two libraries: RUNTIME_MAJOR is 12 or 13, because some calls kept their name and changed their arguments.
 * Results of the driver and of the runtime share their numbers (driver_types.h of CUDA 10.1 and later), so none is
 * translated. A call that returns an error also keeps it for the thread, for cudaGetLastError.
 */
#ifndef TESSERA_RUNTIME_H
#define TESSERA_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/driver_types.h"
/* Every entry of the driver, declared: made by the Makefile from the pointer types in tessera_entries.h. */
#include "driver_prototypes.h"

#define EXPORT __attribute__((visibility("default")))

typedef int cudaError_t;
typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
typedef CUarray cudaArray_t;
typedef CUmipmappedArray cudaMipmappedArray_t;
typedef CUgraph cudaGraph_t;
typedef CUgraphNode cudaGraphNode_t;
typedef CUgraphExec cudaGraphExec_t;
typedef CUmemoryPool cudaMemPool_t;
typedef CUkernel cudaKernel_t;
typedef CUlibrary cudaLibrary_t;

/* The runtime's names of errors; some are errors that only the runtime knows. */
enum {
    cudaSuccess = CUDA_SUCCESS,
    cudaErrorInvalidValue = CUDA_ERROR_INVALID_VALUE,
    cudaErrorInitializationError = CUDA_ERROR_NOT_INITIALIZED,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorMissingConfiguration = 52,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorInvalidDevice = CUDA_ERROR_INVALID_DEVICE,
    cudaErrorNotSupported = CUDA_ERROR_NOT_SUPPORTED,
};

enum {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4,
};

typedef struct {
    unsigned x, y, z;
} dim3;
struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
struct cudaChannelFormatDesc {
    int x, y, z, w;
    int f;
};

/* ---- Threads and devices (thread.c) ------------------------------------------------------------------------------- */

/* Keeps an error for cudaGetLastError and returns it. NOT_READY is an answer, not an error. */
cudaError_t keep(cudaError_t result);

/* The driver is initialised; no context is needed. 0, or the error to return. */
cudaError_t start(void);

/* As start, and the calling thread has a current context: the one it has, else its device's primary one. */
cudaError_t enter(void);

/* The calling thread's device. */
int current_device(void);

/* ---- Device code (registry.c) ------------------------------------------------------------------------------------- */

/* The kernel behind a host function's address, or behind a cudaKernel_t. Loads its module at the first use. */
cudaError_t find_kernel(const void *function, CUkernel *kernel);

/* Address and bytes of a device variable behind its host shadow. Loads its module at the first use. */
cudaError_t find_variable(const void *symbol, CUdeviceptr *address, size_t *bytes);

/* Forgets what the current device's context held. */
void registry_reset(void);

/* ---- Copies (copy.c) ---------------------------------------------------------------------------------------------- */

/* The stream that stands for 0 in the entry: `per_thread` ones (_ptsz, _ptds) mean the thread's own. */
static inline CUstream stream_of(CUstream stream, bool per_thread)
{
    return per_thread && !stream ? (CUstream)TESSERA_STREAM_PER_THREAD : stream;
}

/* A copy of bytes in a direction; waits for it where `wait`. */
cudaError_t copy(void *to, const void *from, size_t bytes, int kind, CUstream stream, bool wait);

/* ---- Arrays (array.c) --------------------------------------------------------------------------------------------- */

/* Format and number of channels of the driver for a channel description; false: there is none such. */
bool channel_format(const struct cudaChannelFormatDesc *channels, int *format, unsigned *count);
void channel_description(int format, unsigned count, struct cudaChannelFormatDesc *channels);

/* Bytes of one element of an array; 0: the driver does not say. */
size_t array_element_bytes(cudaArray_t array);

/* Bytes of one row of an array; 0: the driver does not say. */
size_t array_row_bytes(cudaArray_t array);

/* Says once on stderr, unless TESSERA_QUIET is set, that this library does not serve something. */
void say_unserved(const char *what);

/* An entry that exists only to be refused: said once, NOT_SUPPORTED each time. */
cudaError_t refuse(const char *name);

/* The same entry of the driver, with a context. */
#define FORWARD(name, driver, parameters, arguments)                                                                   \
    EXPORT cudaError_t name parameters;                                                                                \
    EXPORT cudaError_t name parameters                                                                                 \
    {                                                                                                                  \
        cudaError_t failed = enter();                                                                                  \
        return failed ? failed : keep(driver arguments);                                                               \
    }

/* An entry with a parameter called `stream`, and its per-thread twin (_ptsz, or _ptds of synchronous calls). */
#define ON_STREAM_AS(name, twin, parameters, call)                                                                     \
    EXPORT cudaError_t name parameters;                                                                                \
    EXPORT cudaError_t name parameters                                                                                 \
    {                                                                                                                  \
        cudaError_t failed = enter();                                                                                  \
        return failed ? failed : keep(call);                                                                           \
    }                                                                                                                  \
    EXPORT cudaError_t name##twin parameters;                                                                          \
    EXPORT cudaError_t name##twin parameters                                                                           \
    {                                                                                                                  \
        stream = stream_of(stream, true);                                                                              \
        cudaError_t failed = enter();                                                                                  \
        return failed ? failed : keep(call);                                                                           \
    }
#define ON_STREAM(name, parameters, call) ON_STREAM_AS(name, _ptsz, parameters, call)

/* A synchronous entry without a stream, and its per-thread twin: `stream` stands for the stream of either. */
#define ON_DEFAULT(name, parameters, call)                                                                             \
    EXPORT cudaError_t name parameters;                                                                                \
    EXPORT cudaError_t name parameters                                                                                 \
    {                                                                                                                  \
        const CUstream stream = NULL;                                                                                  \
        cudaError_t failed = enter();                                                                                  \
        return failed ? failed : keep(call);                                                                           \
    }                                                                                                                  \
    EXPORT cudaError_t name##_ptds parameters;                                                                         \
    EXPORT cudaError_t name##_ptds parameters                                                                          \
    {                                                                                                                  \
        const CUstream stream = stream_of(NULL, true);                                                                 \
        cudaError_t failed = enter();                                                                                  \
        return failed ? failed : keep(call);                                                                           \
    }

#endif
