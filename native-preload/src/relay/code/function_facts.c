/* Queries on functions and kernels besides attributes: parameters, names, modules and libraries. */
#include <stdlib.h>
#include <string.h>

#include "relay/code/functions.h"
#include "relay/wire/message.h"
#include "relay/code/modules.h"
#include "relay/code/names.h"

#define NAME_BYTES 32768u

static CUresult enter(const void *handle, struct relay_context **context, struct function **function, uint64_t *wire)
{
    CUresult result = relay_enter(context);
    return result != CUDA_SUCCESS ? result : function_of(*context, handle, function, wire);
}

static CUresult parameter(const void *handle, size_t index, size_t *offset, size_t *bytes)
{
    struct relay_context *context;
    struct function *function;
    uint64_t wire;
    CUresult result = enter(handle, &context, &function, &wire);
    if (result != CUDA_SUCCESS)
        return result;
    if (!offset || index >= function->parameters)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = function->parameter[index].offset;
    if (bytes)
        *bytes = function->parameter[index].size;
    return CUDA_SUCCESS;
}

CUresult relay_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    return parameter(function, index, offset, bytes);
}

CUresult relay_cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    return parameter(kernel, index, offset, bytes);
}

/* The name stays valid as long as the function: it is kept with it. */
static CUresult name_of(const void *handle, unsigned entry, const char **name)
{
    struct relay_context *context;
    struct function *function;
    uint64_t wire;
    CUresult result = enter(handle, &context, &function, &wire);
    if (result != CUDA_SUCCESS || !name)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&function->lock);
    if (!function->name) {
        char *room = calloc(1, NAME_BYTES + 1);
        result = room ? MESSAGE_CALL(context, entry, OUT(room, NAME_BYTES), VALUE(wire)) : CUDA_ERROR_OUT_OF_MEMORY;
        if (result == CUDA_SUCCESS && !(function->name = strdup(room)))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        free(room);
    }
    if (result == CUDA_SUCCESS)
        *name = function->name;
    pthread_mutex_unlock(&function->lock);
    return result;
}

CUresult relay_cuFuncGetName(const char **name, CUfunction function)
{
    return name_of(function, ENTRY_cuFuncGetName, name);
}

CUresult relay_cuKernelGetName(const char **name, CUkernel kernel)
{
    return name_of(kernel, ENTRY_cuKernelGetName, name);
}

CUresult relay_cuKernelGetFunction(CUfunction *answer, CUkernel kernel)
{
    struct relay_context *context;
    struct function *function;
    uint64_t wire;
    CUresult result = enter(kernel, &context, &function, &wire);
    if (result != CUDA_SUCCESS || !answer)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    if (function->handle == 0)
        return CUDA_ERROR_INVALID_HANDLE;
    *answer = (CUfunction)(uintptr_t)function->handle;
    return CUDA_SUCCESS;
}

CUresult relay_cuFuncGetModule(CUmodule *module, CUfunction handle)
{
    struct relay_context *context;
    struct function *function;
    uint64_t wire, answer = 0;
    CUresult result = enter(handle, &context, &function, &wire);
    if (result != CUDA_SUCCESS || !module)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(context, ENTRY_cuFuncGetModule, OUT(&answer, 8), VALUE(wire));
    if (result == CUDA_SUCCESS) {
        module_known(context, answer);
        *module = (CUmodule)(uintptr_t)answer;
    }
    return result;
}

/* A function has a handle only when the executor has loaded it. */
CUresult relay_cuFuncIsLoaded(int *state, CUfunction handle)
{
    struct relay_context *context;
    struct function *function;
    uint64_t wire;
    CUresult result = enter(handle, &context, &function, &wire);
    if (result != CUDA_SUCCESS || !state)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}
