/* What the runtime knows of a thread: its device, its last error, and whether it has a context. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime.h"

/* More than any machine has; the driver library counts 16. */
#define DEVICES 64

static __thread int device;
static __thread cudaError_t last_error;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primary[DEVICES];
static atomic_int started = -1; /* result of cuInit; -1: not called yet */

cudaError_t keep(cudaError_t result)
{
    if (result != cudaSuccess && result != CUDA_ERROR_NOT_READY)
        last_error = result;
    return result;
}

cudaError_t start(void)
{
    int known = atomic_load_explicit(&started, memory_order_acquire);
    if (known == cudaSuccess)
        return cudaSuccess;
    known = cuInit(0);
    if (known == cudaSuccess)
        atomic_store_explicit(&started, known, memory_order_release);
    return keep(known);
}

static cudaError_t retain(int ordinal, CUcontext *context)
{
    if (ordinal < 0 || ordinal >= DEVICES)
        return cudaErrorInvalidDevice;
    pthread_mutex_lock(&lock);
    cudaError_t result = cudaSuccess;
    if (!primary[ordinal])
        result = cuDevicePrimaryCtxRetain(&primary[ordinal], ordinal);
    *context = primary[ordinal];
    pthread_mutex_unlock(&lock);
    return result;
}

cudaError_t enter(void)
{
    cudaError_t failed = start();
    if (failed)
        return failed;
    CUcontext context = NULL;
    failed = cuCtxGetCurrent(&context);
    if (failed || context)
        return keep(failed);
    failed = retain(device, &context);
    return keep(failed ? failed : cuCtxSetCurrent(context));
}

int current_device(void)
{
    CUdevice of_context;
    CUcontext context = NULL;
    if (cuCtxGetCurrent(&context) == cudaSuccess && context && cuCtxGetDevice(&of_context) == cudaSuccess)
        return of_context;
    return device;
}

EXPORT cudaError_t cudaSetDevice(int ordinal);
EXPORT cudaError_t cudaSetDevice(int ordinal)
{
    cudaError_t failed = start();
    int count = 0;
    if (!failed)
        failed = cuDeviceGetCount(&count);
    if (!failed && (ordinal < 0 || ordinal >= count))
        failed = cudaErrorInvalidDevice;
    CUcontext context = NULL;
    if (!failed)
        failed = retain(ordinal, &context);
    if (!failed)
        failed = cuCtxSetCurrent(context);
    if (!failed)
        device = ordinal;
    return keep(failed);
}

EXPORT cudaError_t cudaInitDevice(int ordinal, unsigned device_flags, unsigned flags);
EXPORT cudaError_t cudaInitDevice(int ordinal, unsigned device_flags, unsigned flags)
{
    (void)device_flags; /* scheduling hints: the waits of this library do not depend on them */
    if (flags)
        return keep(cudaErrorInvalidValue);
    cudaError_t failed = start();
    CUcontext context;
    return failed ? failed : keep(retain(ordinal, &context));
}

EXPORT cudaError_t cudaGetDevice(int *ordinal);
EXPORT cudaError_t cudaGetDevice(int *ordinal)
{
    cudaError_t failed = start();
    if (failed)
        return failed;
    if (!ordinal)
        return keep(cudaErrorInvalidValue);
    *ordinal = current_device();
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceReset(void);
EXPORT cudaError_t cudaDeviceReset(void)
{
    cudaError_t failed = start();
    if (failed)
        return failed;
    int ordinal = current_device();
    registry_reset();
    pthread_mutex_lock(&lock);
    if (ordinal >= 0 && ordinal < DEVICES && primary[ordinal]) {
        failed = cuDevicePrimaryCtxRelease_v2(ordinal);
        if (!failed)
            failed = cuDevicePrimaryCtxReset_v2(ordinal);
        primary[ordinal] = NULL;
    }
    pthread_mutex_unlock(&lock);
    cuCtxSetCurrent(NULL);
    return keep(failed);
}

EXPORT cudaError_t cudaGetLastError(void);
EXPORT cudaError_t cudaGetLastError(void)
{
    cudaError_t result = last_error;
    last_error = cudaSuccess;
    return result;
}

EXPORT cudaError_t cudaPeekAtLastError(void);
EXPORT cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}
