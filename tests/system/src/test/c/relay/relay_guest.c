/*
 * A program with little to do, of which there may be hundreds: it has some memory, a stream and a kernel, says "ready", and waits
 * for a line. Then it works once, checks the result, and says "right".
 *     relay_guest [SEED [greedy|strays|suffers]]
 * A greedy one takes all memory that it gets before it says "ready", and has no kernel. One that strays writes to where nothing is in its second work, and
 * says the error; one that suffers says the error of another's.
 * Needs a device that reads images.
 */
#include <string.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { COUNT = 512 };

static const char IMAGE[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry fill(.param .u64 p, .param .u32 v)\n{\n  .reg .b64 %rd<4>;\n  .reg .b32 %r<4>;\n"
    "  ld.param.u64 %rd1, [p];\n  ld.param.u32 %r1, [v];\n  mov.u32 %r2, %tid.x;\n"
    "  add.u32 %r3, %r1, %r2;\n  mul.wide.u32 %rd2, %r2, 4;\n  add.u64 %rd3, %rd1, %rd2;\n"
    "  st.global.u32 [%rd3], %r3;\n  ret;\n}\n"
    ".visible .entry fault(.param .u64 p, .param .u32 v)\n{\n  .reg .b64 %rd<2>;\n"
    "  mov.u64 %rd1, 64;\n  st.global.u32 [%rd1], 1;\n  ret;\n}\n";

static void work(void *kernel, void *stream, CUdeviceptr memory, unsigned seed)
{
    static unsigned got[COUNT];
    void *parameters[] = {&memory, &seed};
    OKAY(cuLaunchKernel(kernel, 1, 1, 1, COUNT, 1, 1, 0, stream, parameters, NULL));
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuMemcpyDtoH_v2(got, memory, sizeof got));
    for (unsigned i = 0; i < COUNT; i++)
        EQUAL(seed + i, got[i]);
}

/* Blocks that become smaller as memory does. Says with which error the last one was refused. */
static int take_all(void)
{
    CUdeviceptr block;
    CUresult result = 0;
    for (size_t bytes = 64u << 20; bytes >= 256; bytes /= 2)
        while ((result = cuMemAlloc_v2(&block, bytes)) == 0)
            ;
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, result);
    printf("ready\n");
    fflush(stdout);
    while (getchar() != '\n')
        ;
    printf("right\n");
    return 0;
}

int main(int argc, char **argv)
{
    void *context, *module, *kernel, *stream;
    CUdeviceptr memory;
    unsigned seed = argc > 1 ? (unsigned)atol(argv[1]) : 1;
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    if (argc > 2 && strcmp(argv[2], "greedy") == 0)
        return take_all();
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&memory, COUNT * sizeof(unsigned)));
    OKAY(cuModuleLoadData(&module, IMAGE));
    OKAY(cuModuleGetFunction(&kernel, module, "fill"));
    work(kernel, stream, memory, seed);
    printf("ready\n");
    fflush(stdout);
    while (getchar() != '\n')
        ;
    if (argc > 2 && strcmp(argv[2], "strays") == 0) {
        void *parameters[] = {&memory, &seed};
        OKAY(cuModuleGetFunction(&kernel, module, "fault"));
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
        printf("error %d\n", cuStreamSynchronize(stream));
        return 0;
    }
    if (argc > 2 && strcmp(argv[2], "suffers") == 0) {
        printf("error %d\n", cuStreamSynchronize(stream));
        return 0;
    }
    work(kernel, stream, memory, seed + 1);
    OKAY(cuModuleUnload(module));
    OKAY(cuMemFree_v2(memory));
    OKAY(cuStreamDestroy_v2(stream));
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    printf("right\n");
    return 0;
}
