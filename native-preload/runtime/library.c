/* Libraries loaded by the program itself, and entries of the driver by name. */
#include "runtime.h"

FORWARD(cudaLibraryLoadData, cuLibraryLoadData,
        (CUlibrary * library, const void *code, void *jit_options, void **jit_values, unsigned jit_count, void *options,
         void **values, unsigned count),
        (library, code, jit_options, jit_values, jit_count, options, values, count))
FORWARD(cudaLibraryLoadFromFile, cuLibraryLoadFromFile,
        (CUlibrary * library, const char *path, void *jit_options, void **jit_values, unsigned jit_count, void *options,
         void **values, unsigned count),
        (library, path, jit_options, jit_values, jit_count, options, values, count))
FORWARD(cudaLibraryUnload, cuLibraryUnload, (CUlibrary library), (library))
FORWARD(cudaLibraryGetKernel, cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char *name),
        (kernel, library, name))
FORWARD(cudaLibraryGetGlobal, cuLibraryGetGlobal, (void **address, size_t *bytes, CUlibrary library, const char *name),
        ((void *)address, bytes, library, name))
FORWARD(cudaLibraryGetManaged, cuLibraryGetManaged,
        (void **address, size_t *bytes, CUlibrary library, const char *name), ((void *)address, bytes, library, name))
FORWARD(cudaLibraryGetUnifiedFunction, cuLibraryGetUnifiedFunction,
        (void **function, CUlibrary library, const char *name), (function, library, name))
FORWARD(cudaLibraryGetKernelCount, cuLibraryGetKernelCount, (unsigned *count, CUlibrary library), (count, library))
FORWARD(cudaLibraryEnumerateKernels, cuLibraryEnumerateKernels, (CUkernel * kernels, unsigned count, CUlibrary library),
        (kernels, count, library))

EXPORT cudaError_t cudaGetExportTable(const void **table, const void *id);
EXPORT cudaError_t cudaGetExportTable(const void **table, const void *id)
{
    return keep(cuGetExportTable(table, (void *)id));
}

static cudaError_t entry_point(const char *symbol, void **function, int version, unsigned long long flags, int *status)
{
    int found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    cudaError_t failed = start();
    if (failed)
        return failed;
    cudaError_t result = cuGetProcAddress_v2(symbol, function, version, flags, (void *)&found);
    if (status)
        *status = found;
    /* Not finding a name is an answer where the caller asked for the status. */
    return result == CUDA_ERROR_NOT_FOUND && status ? cudaSuccess : keep(result);
}

#define ENTRY_POINTS(suffix, twin)                                                                                     \
    EXPORT cudaError_t cudaGetDriverEntryPoint##suffix(const char *, void **, unsigned long long, int *);              \
    EXPORT cudaError_t cudaGetDriverEntryPoint##suffix(const char *symbol, void **function, unsigned long long flags,  \
                                                       int *status)                                                    \
    {                                                                                                                  \
        return entry_point(symbol, function, RUNTIME_MAJOR * 1000, flags ? flags : twin, status);                      \
    }                                                                                                                  \
    EXPORT cudaError_t cudaGetDriverEntryPointByVersion##suffix(const char *, void **, unsigned, unsigned long long,   \
                                                                int *);                                                \
    EXPORT cudaError_t cudaGetDriverEntryPointByVersion##suffix(const char *symbol, void **function, unsigned version, \
                                                                unsigned long long flags, int *status)                 \
    {                                                                                                                  \
        return entry_point(symbol, function, (int)version, flags ? flags : twin, status);                              \
    }

ENTRY_POINTS(, 0)
ENTRY_POINTS(_ptsz, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
