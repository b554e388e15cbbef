/* Looking entries up, versions, export tables, errors, the script, and names that are not served. */
#include <dlfcn.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

static void *library;

static void is(const char *symbol, const char *name, int version, uint64_t flags)
{
    void *entry = NULL;
    int status = 9;
    OKAY(cuGetProcAddress_v2(name, &entry, version, flags, &status));
    EQUAL(0, status);
    CHECK(entry && entry == dlsym(library, symbol));
    entry = NULL;
    OKAY(cuGetProcAddress(name, &entry, version, flags));
    CHECK(entry == dlsym(library, symbol));
}

static void look_up(void)
{
    void *entry = &entry;
    int status;
    is("cuMemAlloc_v2", "cuMemAlloc", 3020, 0);
    is("cuMemAlloc_v2", "cuMemAlloc", 13000, 0);
    is("cuMemAlloc", "cuMemAlloc", 2000, 0);
    is("cuCtxCreate_v2", "cuCtxCreate", 11030, 0);
    is("cuCtxCreate_v4", "cuCtxCreate", 13000, 0);
    is("cuLaunchKernel", "cuLaunchKernel", 13000, 0);
    is("cuLaunchKernel", "cuLaunchKernel", 13000, 1);
    is("cuLaunchKernel_ptsz", "cuLaunchKernel", 13000, 2);
    is("cuLaunchKernel", "cuLaunchKernel", 6000, 2); /* the per-thread form is newer than asked */
    is("cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD", 12000, 2);
    is("cuGetProcAddress_v2", "cuGetProcAddress", 12000, 0);
    is("cuGetProcAddress", "cuGetProcAddress", 11030, 0);
    EQUAL(CUDA_ERROR_NOT_FOUND, cuGetProcAddress_v2("", &entry, 0, 0, &status));
    EQUAL(1, status);
    CHECK(!entry);
    EQUAL(CUDA_ERROR_NOT_FOUND, cuGetProcAddress_v2("", NULL, 0, 0, NULL));
    EQUAL(CUDA_ERROR_NOT_FOUND, cuGetProcAddress_v2("cuNoSuchThing", &entry, 13000, 0, &status));
    EQUAL(1, status);
    EQUAL(CUDA_ERROR_NOT_FOUND, cuGetProcAddress_v2("cuMemAllocAsync", &entry, 10000, 0, &status));
    EQUAL(2, status);
}

static void tables(void)
{
    const void *const *table, *again;
    static const unsigned char known[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                            0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
    OKAY(cuGetExportTable((const void **)&table, known));
    OKAY(cuGetExportTable(&again, known));
    CHECK(table == again);
    EQUAL(13 * 8, (uintptr_t)table[0]);
    EQUAL(801, ((CUresult(*)(void))(uintptr_t)table[2])());
    EQUAL(CUDA_ERROR_NOT_FOUND, cuGetExportTable(&again, "unknown id......"));
}

static void errors(void)
{
    const char *text;
    OKAY(cuGetErrorName(901, &text));
    EQUAL(0, strcmp(text, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"));
    OKAY(cuGetErrorString(2, &text));
    EQUAL(0, strcmp(text, "out of memory"));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(12345, &text));
}

static void scripted(void)
{
    void *context;
    CUdeviceptr p;
    int count, version;
    OKAY(cuDriverGetVersion(&version));
    EQUAL(13000, version);
    OKAY(cuInit(0));
    OKAY(cuDeviceGetCount(&count));
    EQUAL(2, count);
    size_t bytes;
    OKAY(cuDeviceTotalMem_v2(&bytes, 1));
    EQUAL(3 << 20, bytes);
    unsigned char one[16], two[16];
    OKAY(cuDeviceGetUuid_v2(one, 0));
    OKAY(cuDeviceGetUuid_v2(two, 1));
    CHECK(memcmp(one, two, 16) != 0);
    OKAY(cuCtxCreate_v2(&context, 0, 1));
    OKAY(cuMemAlloc_v2(&p, 16));
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&p, 16)); /* the second fails, by the script */
    OKAY(cuMemAlloc_v2(&p, 16));
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    OKAY(cuCtxSynchronize()); /* hangs for 30 ms */
    clock_gettime(CLOCK_MONOTONIC, &end);
    CHECK((end.tv_sec - begin.tv_sec) * 1000000000L + end.tv_nsec - begin.tv_nsec >= 30000000L);
    EQUAL(CUDA_ERROR_NOT_SUPPORTED, cuGreenCtxCreate(&context, NULL, 0, 0));
    void *module, *f;
    OKAY(cuModuleLoadData(&module, "x"));
    EQUAL(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&f, module, "absent_one"));
}

int main(void)
{
    setenv("TESSERA_SCRIPT",
           "devices 2; memory 1 3MiB; fail cuMemAlloc_v2 2 at 2\nhang cuCtxSync* at 1 for 30ms;missing absent*", 1);
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    CHECK(library);
    look_up();
    tables();
    errors();
    scripted();
    return 0;
}
