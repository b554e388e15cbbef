/* What is asked about kernels: attributes, parameters, occupancy. */
#include "entry.h"
#include "modules/function.h"

static CUresult attribute(int *out, int which, void *handle, const int *set)
{
    LOCKED;
    struct function *f = function_of(handle);
    if (!f)
        return ERROR_INVALID_HANDLE;
    if (which < 0 || which > 15 || (!out && !set))
        return ERROR_INVALID_VALUE;
    if (set)
        f->attributes[which] = *set;
    else
        *out = f->attributes[which];
    return OK;
}

EXPORT CUresult cuFuncGetAttribute(int *out, int which, void *function)
{
    ENTER(cuFuncGetAttribute);
    return attribute(out, which, function, NULL);
}

EXPORT CUresult cuFuncSetAttribute(void *function, int which, int value)
{
    ENTER(cuFuncSetAttribute);
    return attribute(NULL, which, function, &value);
}

EXPORT CUresult cuKernelGetAttribute(int *out, int which, void *kernel, CUdevice device)
{
    ENTER(cuKernelGetAttribute);
    return device_valid(device) ? attribute(out, which, kernel, NULL) : ERROR_INVALID_DEVICE;
}

EXPORT CUresult cuKernelSetAttribute(int which, int value, void *kernel, CUdevice device)
{
    ENTER(cuKernelSetAttribute);
    return device_valid(device) ? attribute(NULL, which, kernel, &value) : ERROR_INVALID_DEVICE;
}

static CUresult known(void *handle)
{
    LOCKED;
    return function_of(handle) ? OK : ERROR_INVALID_HANDLE;
}

EXPORT CUresult cuFuncSetCacheConfig(void *function, int config)
{
    ENTER(cuFuncSetCacheConfig);
    (void)config;
    return known(function);
}

EXPORT CUresult cuKernelSetCacheConfig(void *kernel, int config, CUdevice device)
{
    ENTER(cuKernelSetCacheConfig);
    (void)config;
    return device_valid(device) ? known(kernel) : ERROR_INVALID_DEVICE;
}

EXPORT CUresult cuFuncSetSharedMemConfig(void *function, int config)
{
    ENTER(cuFuncSetSharedMemConfig);
    (void)config;
    return known(function);
}

EXPORT CUresult cuFuncLoad(void *function)
{
    ENTER(cuFuncLoad);
    return known(function);
}

EXPORT CUresult cuFuncIsLoaded(int *state, void *function)
{
    ENTER(cuFuncIsLoaded);
    CUresult error = known(function);
    if (!error)
        *state = 1;
    return error;
}

static CUresult name_of(const char **out, void *handle)
{
    LOCKED;
    const struct function *f = function_of(handle);
    if (!f || !out)
        return ERROR_INVALID_HANDLE;
    *out = f->name;
    return OK;
}

EXPORT CUresult cuFuncGetName(const char **out, void *function)
{
    ENTER(cuFuncGetName);
    return name_of(out, function);
}

EXPORT CUresult cuKernelGetName(const char **out, void *kernel)
{
    ENTER(cuKernelGetName);
    return name_of(out, kernel);
}

static CUresult module_of(struct module **out, void *handle)
{
    LOCKED;
    const struct function *f = function_of(handle);
    if (!f || !out)
        return ERROR_INVALID_HANDLE;
    *out = f->module;
    return OK;
}

EXPORT CUresult cuFuncGetModule(struct module **out, void *function)
{
    ENTER(cuFuncGetModule);
    return module_of(out, function);
}

EXPORT CUresult cuKernelGetLibrary(struct module **out, void *kernel)
{
    ENTER(cuKernelGetLibrary);
    return module_of(out, kernel);
}

static CUresult parameter(void *handle, size_t index, size_t *offset, size_t *bytes)
{
    LOCKED;
    const struct function *f = function_of(handle);
    size_t size;
    if (!f || !offset)
        return ERROR_INVALID_HANDLE;
    if (!function_parameter(f, index, offset, &size))
        return ERROR_INVALID_VALUE;
    if (bytes)
        *bytes = size;
    return OK;
}

EXPORT CUresult cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes)
{
    ENTER(cuFuncGetParamInfo);
    return parameter(function, index, offset, bytes);
}

EXPORT CUresult cuKernelGetParamInfo(void *kernel, size_t index, size_t *offset, size_t *bytes)
{
    ENTER(cuKernelGetParamInfo);
    return parameter(kernel, index, offset, bytes);
}

static CUresult occupancy(int *blocks, void *handle, int block_threads)
{
    CUresult error = known(handle);
    if (!error && (!blocks || block_threads <= 0))
        error = ERROR_INVALID_VALUE;
    if (!error)
        *blocks = 2048 / block_threads > 32 ? 32 : 2048 / block_threads;
    return error;
}

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared)
{
    ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    (void)shared;
    return occupancy(blocks, function, threads);
}

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *function, int threads,
                                                                     size_t shared, unsigned flags)
{
    ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
    (void)shared, (void)flags;
    return occupancy(blocks, function, threads);
}

EXPORT CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, void *function, int blocks, int threads)
{
    ENTER(cuOccupancyAvailableDynamicSMemPerBlock);
    (void)blocks, (void)threads;
    CUresult error = known(function);
    if (!error)
        *bytes = 49152;
    return error;
}

EXPORT CUresult cuOccupancyMaxActiveClusters(int *clusters, void *function, const struct launch_config *config)
{
    ENTER(cuOccupancyMaxActiveClusters);
    (void)config;
    CUresult error = known(function);
    if (!error)
        *clusters = 4;
    return error;
}
