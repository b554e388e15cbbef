/* What contexts and the code of kernels take of a device's memory, and that they are refused where there is none. */
#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { MIB = 1 << 20 };

static size_t free_now(void)
{
    size_t free_bytes, total;
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    return free_bytes;
}

int main(void)
{
    void *context, *second, *module, *function;
    CUdeviceptr memory;
    setenv("TESSERA_SCRIPT", "memory 64MiB; context 4MiB; code 2MiB", 1);
    OKAY(cuInit(0));
    OKAY(cuCtxCreate_v2(&context, 0, 0));
    EQUAL(60 * (size_t)MIB, free_now());
    OKAY(cuMemAlloc_v2(&memory, 59 * (size_t)MIB));
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuCtxCreate_v2(&second, 0, 0));
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&function, module, "any"));
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OKAY(cuMemFree_v2(memory));
    OKAY(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EQUAL(58 * (size_t)MIB, free_now());
    OKAY(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EQUAL(58 * (size_t)MIB, free_now());
    OKAY(cuCtxCreate_v2(&second, 0, 0));
    EQUAL(54 * (size_t)MIB, free_now());
    OKAY(cuCtxDestroy_v2(context));
    EQUAL(60 * (size_t)MIB, free_now());
    return 0;
}
