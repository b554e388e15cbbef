#include "copy_kernel.h"

#include <string.h>

#include "report.h"

#define UNIT 16u
#define THREADS 512u
#define UNDER_WAY 4u /* loads of a thread: copy_in.ptx */
/* Half of an H200's multiprocessors, each with a quarter of its threads; to be measured: tests/gpu/programs/duplex.c. */
#define MOST_BLOCKS 64u

extern const char copy_in_ptx[] __attribute__((visibility("hidden")));

static void refused(struct copy_kernel *kernel, CUresult result, const char *what)
{
    kernel->function = NULL;
    if (result != CUDA_ERROR_DEINITIALIZED)
        report_error(result, "the kernel that brings memory in could not be %s: it comes by the copy engine", what);
}

void copy_kernel_load(struct copy_kernel *kernel)
{
    CUresult result = REAL(cuModuleLoadData)(&kernel->module, copy_in_ptx);
    if (result != CUDA_SUCCESS)
        kernel->module = NULL;
    else
        result = REAL(cuModuleGetFunction)(&kernel->function, kernel->module, "tessera_copy_in");
    if (result != CUDA_SUCCESS)
        refused(kernel, result, "loaded");
}

void copy_kernel_unload(struct copy_kernel *kernel, void *context)
{
    if (kernel->module && REAL(cuCtxPushCurrent_v2)(context) == CUDA_SUCCESS) {
        CUcontext popped;
        REAL(cuModuleUnload)(kernel->module);
        REAL(cuCtxPopCurrent_v2)(&popped);
    }
    memset(kernel, 0, sizeof *kernel);
}

uint64_t copy_kernel_begin(struct copy_kernel *kernel, CUdeviceptr to, CUdeviceptr from, uint64_t bytes, CUstream stream)
{
    uint64_t quads = bytes / UNIT;
    if (!kernel->function || to % UNIT || from % UNIT || quads == 0)
        return 0;
    const uint64_t of_block = (uint64_t)THREADS * UNDER_WAY;
    uint64_t blocks = (quads + of_block - 1) / of_block;
    void *parameters[] = {&to, &from, &quads};
    CUresult result = REAL(cuLaunchKernel)(kernel->function, (unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 1, 1,
                                           THREADS, 1, 1, 0, stream, parameters, NULL);
    if (result == CUDA_SUCCESS)
        return quads * UNIT;
    refused(kernel, result, "launched");
    return 0;
}
