/* The kernel that brings memory in: what is given to it, what is left to the copy engine, and a driver that refuses. */
#include "copy_kernel.h"

#include <string.h>

#include "check.h"
#include "report.h"

void *tessera_real[TESSERA_ENTRY_COUNT];

static int loads, unloads, lookups, launches, reports;
static CUresult load_result, lookup_result, launch_result;
static struct {
    CUdeviceptr to, from;
    uint64_t quads;
    unsigned blocks, threads;
} last;

void report_error(int32_t code, const char *format, ...)
{
    (void)code;
    (void)format;
    reports++;
}

static CUresult load(CUmodule *module, const void *image)
{
    loads++;
    CHECK(strstr(image, ".visible .entry tessera_copy_in(") && strstr(image, "ret;"));
    *module = (CUmodule)(uintptr_t)0x10;
    return load_result;
}

static CUresult look_up(CUfunction *function, CUmodule module, const char *name)
{
    lookups++;
    CHECK(module == (CUmodule)(uintptr_t)0x10 && strcmp(name, "tessera_copy_in") == 0);
    if (lookup_result == CUDA_SUCCESS)
        *function = (CUfunction)(uintptr_t)0x20;
    return lookup_result;
}

static CUresult launch(CUfunction function, unsigned blocks, unsigned y, unsigned z, unsigned threads, unsigned by, unsigned bz,
                       unsigned shared, CUstream stream, void **parameters, void **extra)
{
    launches++;
    CHECK(function == (CUfunction)(uintptr_t)0x20 && y == 1 && z == 1 && by == 1 && bz == 1 && shared == 0 && !extra);
    CHECK(stream == (CUstream)(uintptr_t)0x30);
    last.to = *(CUdeviceptr *)parameters[0];
    last.from = *(CUdeviceptr *)parameters[1];
    last.quads = *(uint64_t *)parameters[2];
    last.blocks = blocks;
    last.threads = threads;
    return launch_result;
}

static CUresult push(CUcontext context)
{
    return context == (CUcontext)(uintptr_t)0x40 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult pop(CUcontext *context)
{
    *context = (CUcontext)(uintptr_t)0x40;
    return CUDA_SUCCESS;
}

static CUresult unload(CUmodule module)
{
    CHECK(module == (CUmodule)(uintptr_t)0x10);
    unloads++;
    return CUDA_SUCCESS;
}

static struct copy_kernel loaded(void)
{
    struct copy_kernel kernel = {0};
    copy_kernel_load(&kernel);
    return kernel;
}

static uint64_t begin(struct copy_kernel *kernel, CUdeviceptr to, CUdeviceptr from, uint64_t bytes)
{
    return copy_kernel_begin(kernel, to, from, bytes, (CUstream)(uintptr_t)0x30);
}

/* Everything in whole units of 16, from the front; the rest is the caller's. */
static void parts(struct copy_kernel *kernel)
{
    static const uint64_t sizes[] = {16, 17, 31, 32, 4097, (2u << 20) + 3, (64u << 20) - 1, 64u << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t units = sizes[i] / 16, blocks = (units + 2047) / 2048;
        CHECK(begin(kernel, 0x1000, 0x20010, sizes[i]) == units * 16);
        CHECK(last.to == 0x1000 && last.from == 0x20010 && last.quads == units && last.threads == 512);
        CHECK(last.blocks == (blocks < 64 ? blocks : 64));
    }
    int before = launches;
    for (uint64_t bytes = 0; bytes < 16; bytes++)
        CHECK(begin(kernel, 0x1000, 0x2000, bytes) == 0);
    for (CUdeviceptr by = 1; by < 16; by++)
        CHECK(begin(kernel, 0x1000 + by, 0x2000, 4096) == 0 && begin(kernel, 0x1000, 0x2000 + by, 4096) == 0);
    CHECK(launches == before && reports == 0);
}

static void refusals(void)
{
    load_result = 221; /* CUDA_ERROR_JIT_COMPILER_NOT_FOUND */
    struct copy_kernel kernel = loaded();
    CHECK(!kernel.function && !kernel.module && reports == 1 && lookups == 1);
    CHECK(begin(&kernel, 0x1000, 0x2000, 4096) == 0 && reports == 1);
    copy_kernel_unload(&kernel, (void *)(uintptr_t)0x40);
    CHECK(unloads == 1);
    load_result = CUDA_SUCCESS;
    lookup_result = CUDA_ERROR_NOT_FOUND;
    kernel = loaded();
    CHECK(!kernel.function && reports == 2);
    copy_kernel_unload(&kernel, (void *)(uintptr_t)0x40);
    CHECK(unloads == 2);
    lookup_result = CUDA_SUCCESS;
    kernel = loaded();
    launch_result = 701; /* CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES */
    int before = launches;
    CHECK(begin(&kernel, 0x1000, 0x2000, 4096) == 0 && reports == 3);
    CHECK(begin(&kernel, 0x1000, 0x2000, 4096) == 0 && reports == 3 && launches == before + 1);
    copy_kernel_unload(&kernel, (void *)(uintptr_t)0x50); /* a context that cannot be entered */
    CHECK(unloads == 2 && !kernel.module);
    load_result = CUDA_ERROR_DEINITIALIZED; /* the process ends: nothing to say */
    kernel = loaded();
    CHECK(!kernel.function && reports == 3);
}

int main(void)
{
    tessera_real[ENTRY_cuModuleLoadData] = (void *)load;
    tessera_real[ENTRY_cuModuleGetFunction] = (void *)look_up;
    tessera_real[ENTRY_cuLaunchKernel] = (void *)launch;
    tessera_real[ENTRY_cuModuleUnload] = (void *)unload;
    tessera_real[ENTRY_cuCtxPushCurrent_v2] = (void *)push;
    tessera_real[ENTRY_cuCtxPopCurrent_v2] = (void *)pop;
    struct copy_kernel kernel = loaded();
    CHECK(kernel.function && loads == 1 && lookups == 1);
    parts(&kernel);
    copy_kernel_unload(&kernel, (void *)(uintptr_t)0x40);
    CHECK(unloads == 1 && !kernel.function);
    refusals();
    return 0;
}
