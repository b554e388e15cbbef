/* A library that uses CUDA before main, from its constructor. */
#include <stdio.h>

#include "check.h"
#include "cuda_calls.h"

__attribute__((constructor)) static void early(void)
{
    void *context;
    CUdeviceptr p;
    unsigned value;
    OKAY(cuInit(0));
    OKAY(cuCtxCreate_v2(&context, 0, 0));
    OKAY(cuMemAlloc_v2(&p, 64));
    OKAY(cuMemsetD32_v2(p, 12, 16));
    OKAY(cuMemcpyDtoH_v2(&value, p, 4));
    EQUAL(12, value);
    OKAY(cuCtxDestroy_v2(context));
    printf("constructor\n");
    fflush(stdout);
}
