/*
 * The function of export table 6e163fbe that cuFFT calls, as observed on driver 580. Its arguments are a context, a module,
 * a visitor function and an address for the visitor. It calls the visitor once for each kernel of the module, with the
 * address, the kernel's CUfunction, its name, and two zeros. It returns the number of kernels.
 */
#include "relay/entry/module_functions.h"

#include <stdint.h>
#include <stdlib.h>

#include "relay_stubs.h"

/* More than any module has: a bound on the loop if the count is wrong. */
#define MOST_FUNCTIONS 65536u

typedef void (*visit)(void *with, CUfunction function, const char *name, uintptr_t zero, uintptr_t also_zero);

static uintptr_t visit_all(CUmodule module, visit visitor, void *with)
{
    unsigned count = 0;
    uintptr_t visited = 0;
    if (relay_cuModuleGetFunctionCount(&count, module) != CUDA_SUCCESS || count == 0 || count > MOST_FUNCTIONS)
        return 0;
    CUfunction *functions = calloc(count, sizeof *functions);
    if (functions && relay_cuModuleEnumerateFunctions(functions, count, module) == CUDA_SUCCESS) {
        for (unsigned i = 0; i < count; i++) {
            const char *name = NULL;
            if (!functions[i] || relay_cuFuncGetName(&name, functions[i]) != CUDA_SUCCESS)
                continue;
            visitor(with, functions[i], name, 0, 0);
            visited++;
        }
    }
    free(functions);
    return visited;
}

uintptr_t module_each_function(CUcontext context, CUmodule module, void *visitor, void *with)
{
    CUcontext current = NULL;
    if (!visitor || !relay_context_of(context))
        return 0;
    bool other = context && (relay_cuCtxGetCurrent(&current) != CUDA_SUCCESS || current != context);
    if (other && relay_cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return 0;
    uintptr_t visited = visit_all(module, (visit)visitor, with);
    if (other)
        relay_cuCtxPopCurrent_v2(&current);
    return visited;
}
