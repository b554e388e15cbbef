/* A device that has less memory than it says: what another process uses, and what is not available at all. */
#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { MIB = 1 << 20 };

int main(void)
{
    void *context;
    CUdeviceptr memory, more;
    size_t free_bytes, total;
    setenv("TESSERA_SCRIPT", "memory 64MiB; taken 8MiB; hidden 4MiB", 1);
    OKAY(cuInit(0));
    OKAY(cuCtxCreate_v2(&context, 0, 0));
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(64 * MIB, total);
    EQUAL(56 * MIB, free_bytes);
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&memory, 53 * (size_t)MIB));
    OKAY(cuMemAlloc_v2(&memory, 52 * (size_t)MIB));
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(4 * MIB, free_bytes);
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&more, 2 * (size_t)MIB));
    OKAY(cuMemFree_v2(memory));
    OKAY(cuMemAlloc_v2(&memory, 50 * (size_t)MIB));
    OKAY(cuMemAlloc_v2(&more, 2 * (size_t)MIB));
    return 0;
}
