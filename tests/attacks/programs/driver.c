#include "driver.h"

#include "cuda_constants.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFINE(name, symbol, parameters) CUresult(*name) parameters;
ENTRIES(DEFINE)
#undef DEFINE

/* What a missing entry is: as the driver says of entries that it has not. */
static CUresult missing(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

static void *entry(void *library, const char *symbol)
{
    void *found = dlsym(library, symbol);
    return found ? found : (void *)(uintptr_t)missing;
}

void driver_open(void)
{
    handle context = 0;
    CUdevice device = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
#define FIND(name, symbol, parameters) *(void **)(void *)&name = entry(library, symbol);
    ENTRIES(FIND)
#undef FIND
    CUresult result = cuInit(0);
    if (!result)
        result = cuDeviceGet(&device, 0);
    if (!result)
        result = cuDevicePrimaryCtxRetain(&context, device);
    if (!result)
        result = cuCtxSetCurrent(context);
    if (result) {
        fprintf(stderr, "no device: %d\n", result);
        exit(3);
    }
}
