/*
 * What a relayed program sees when its executor is gone: says "ready", calls until a call fails, and then every call
 * fails in the same way, at once.
 */
#include <time.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { SECONDS = 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(void)
{
    void *context, *stream, *pinned;
    CUdeviceptr pointer, other;
    CUdevice device = 9;
    size_t free_bytes, total;
    CUresult result = 0;
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&pointer, 4096));
    printf("ready\n");
    fflush(stdout);
    double end = now() + SECONDS;
    while (result == 0 && now() < end)
        result = cuMemGetInfo_v2(&free_bytes, &total);
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, result);
    double from = now();
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&other, 4096));
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemsetD8Async(pointer, 1, 16, stream));
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamSynchronize(stream));
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamQuery(stream));
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemcpyHtoD_v2(pointer, &end, sizeof end));
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemcpyDtoH_v2(&end, pointer, sizeof end));
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemHostAlloc(&pinned, 4096, 0));
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    OKAY(cuCtxGetDevice(&device)); /* what needs no executor still works */
    EQUAL(0, device);
    CHECK(now() - from < 2);
    printf("lost\n");
    return 0;
}
