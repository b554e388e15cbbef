/* Launches of CUDA 3 and before: the shape and the parameters are put into the function first. */
#include <stdlib.h>
#include <string.h>

#include "relay/streams/launch.h"

#define LEGACY_PARAMETERS 4096u

static CUresult enter(CUfunction handle, struct function **function)
{
    struct relay_context *context;
    uint64_t wire;
    CUresult result = relay_enter(&context);
    return result != CUDA_SUCCESS ? result : function_of(context, handle, function, &wire);
}

CUresult relay_cuFuncSetBlockShape(CUfunction handle, int x, int y, int z)
{
    struct function *function;
    CUresult result = enter(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (x <= 0 || y <= 0 || z <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    function->legacy_block[0] = (uint32_t)x;
    function->legacy_block[1] = (uint32_t)y;
    function->legacy_block[2] = (uint32_t)z;
    return CUDA_SUCCESS;
}

CUresult relay_cuFuncSetSharedSize(CUfunction handle, unsigned int bytes)
{
    struct function *function;
    CUresult result = enter(handle, &function);
    if (result == CUDA_SUCCESS)
        function->legacy_shared = bytes;
    return result;
}

CUresult relay_cuParamSetSize(CUfunction handle, unsigned int bytes)
{
    struct function *function;
    CUresult result = enter(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (bytes > LEGACY_PARAMETERS)
        return CUDA_ERROR_INVALID_VALUE;
    function->legacy_bytes = bytes;
    return CUDA_SUCCESS;
}

static CUresult set(CUfunction handle, int offset, const void *from, unsigned bytes)
{
    struct function *function;
    CUresult result = enter(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!from || offset < 0 || bytes > LEGACY_PARAMETERS || (unsigned)offset > LEGACY_PARAMETERS - bytes)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&function->lock);
    if (!function->legacy_parameters)
        function->legacy_parameters = calloc(1, LEGACY_PARAMETERS);
    if (function->legacy_parameters)
        memcpy(function->legacy_parameters + offset, from, bytes);
    pthread_mutex_unlock(&function->lock);
    return function->legacy_parameters ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult relay_cuParamSeti(CUfunction function, int offset, unsigned int value)
{
    return set(function, offset, &value, sizeof value);
}

CUresult relay_cuParamSetf(CUfunction function, int offset, float value)
{
    return set(function, offset, &value, sizeof value);
}

CUresult relay_cuParamSetv(CUfunction function, int offset, void *from, unsigned int bytes)
{
    return set(function, offset, from, bytes);
}

static CUresult launch_grid(CUfunction handle, int width, int height, CUstream stream)
{
    static unsigned char none[LEGACY_PARAMETERS];
    struct function *function;
    CUresult result = enter(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (width <= 0 || height <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    size_t bytes = function->legacy_bytes;
    void *extra[] = {(void *)1, function->legacy_parameters ? function->legacy_parameters : none, (void *)2, &bytes,
                     NULL};
    const struct launch launch = {
        .function = handle,
        .grid = {(uint32_t)width, (uint32_t)height, 1},
        .block = {function->legacy_block[0], function->legacy_block[1], function->legacy_block[2]},
        .shared_bytes = function->legacy_shared,
        .stream = stream,
        .extra = extra,
    };
    return launch_kernel(&launch);
}

CUresult relay_cuLaunch(CUfunction function)
{
    return launch_grid(function, 1, 1, NULL);
}

CUresult relay_cuLaunchGrid(CUfunction function, int width, int height)
{
    return launch_grid(function, width, height, NULL);
}

CUresult relay_cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream)
{
    return launch_grid(function, width, height, stream);
}
