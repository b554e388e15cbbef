/* Kernel launches. */
#include "runtime.h"

/* What <<<>>> leaves for the stub function of the kernel. Launches in the arguments of a launch nest. */
#define NESTED 16
struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    CUstream stream;
};
static __thread struct configuration pushed[NESTED];
static __thread int depth;

/* cudaLaunchConfig_t */
struct runtime_launch_config {
    dim3 grid, block;
    size_t shared_bytes;
    CUstream stream;
    void *attributes;
    unsigned attribute_count;
};

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream stream);
EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream stream)
{
    if (depth == NESTED)
        return 1; /* not launched: the caller skips the stub */
    pushed[depth++] = (struct configuration){grid, block, shared_bytes, stream};
    return 0;
}

EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
    if (depth == 0)
        return keep(cudaErrorMissingConfiguration);
    const struct configuration *top = &pushed[--depth];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *(CUstream *)stream = top->stream;
    return cudaSuccess;
}

/* A wrong value of the driver is a wrong configuration here, unless the kernel itself is wrong. */
static cudaError_t as_launch(cudaError_t result)
{
    return keep(result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : result);
}

static cudaError_t launch(CUkernel kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                          CUstream stream, bool cooperative)
{
    if (shared_bytes > UINT32_MAX)
        return keep(cudaErrorInvalidConfiguration);
    CUfunction function = (CUfunction)kernel;
    if (cooperative)
        return as_launch(cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                   (unsigned)shared_bytes, stream, arguments));
    return as_launch(cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared_bytes,
                                    stream, arguments, NULL));
}

static cudaError_t launch_function(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                   CUstream stream, bool cooperative)
{
    CUkernel kernel;
    cudaError_t failed = find_kernel(function, &kernel);
    return failed ? failed : launch(kernel, grid, block, arguments, shared_bytes, stream, cooperative);
}

static cudaError_t launch_extended(const struct runtime_launch_config *config, const void *function, void **arguments,
                                   bool per_thread)
{
    if (!config || config->shared_bytes > UINT32_MAX)
        return keep(cudaErrorInvalidValue);
    CUkernel kernel;
    cudaError_t failed = find_kernel(function, &kernel);
    if (failed)
        return failed;
    struct driver_launch_config driver = {
        .grid = {config->grid.x, config->grid.y, config->grid.z},
        .block = {config->block.x, config->block.y, config->block.z},
        .shared_bytes = (unsigned)config->shared_bytes,
        .stream = stream_of(config->stream, per_thread),
        .attributes = config->attributes,
        .attribute_count = config->attribute_count,
    };
    return as_launch(cuLaunchKernelEx(&driver, (CUfunction)kernel, arguments, NULL));
}

#define LAUNCH(suffix, per_thread)                                                                                     \
    EXPORT cudaError_t cudaLaunchKernel##suffix(const void *, dim3, dim3, void **, size_t, CUstream);                  \
    EXPORT cudaError_t cudaLaunchKernel##suffix(const void *function, dim3 grid, dim3 block, void **arguments,         \
                                                size_t shared_bytes, CUstream stream)                                  \
    {                                                                                                                  \
        return launch_function(function, grid, block, arguments, shared_bytes, stream_of(stream, per_thread), false);  \
    }                                                                                                                  \
    EXPORT cudaError_t cudaLaunchCooperativeKernel##suffix(const void *, dim3, dim3, void **, size_t, CUstream);       \
    EXPORT cudaError_t cudaLaunchCooperativeKernel##suffix(const void *function, dim3 grid, dim3 block,                \
                                                           void **arguments, size_t shared_bytes, CUstream stream)     \
    {                                                                                                                  \
        return launch_function(function, grid, block, arguments, shared_bytes, stream_of(stream, per_thread), true);   \
    }                                                                                                                  \
    EXPORT cudaError_t __cudaLaunchKernel##suffix(CUkernel, dim3, dim3, void **, size_t, CUstream);                    \
    EXPORT cudaError_t __cudaLaunchKernel##suffix(CUkernel kernel, dim3 grid, dim3 block, void **arguments,            \
                                                  size_t shared_bytes, CUstream stream)                                \
    {                                                                                                                  \
        cudaError_t failed = enter();                                                                                  \
        if (!failed && !kernel)                                                                                        \
            failed = keep(cudaErrorInvalidDeviceFunction);                                                             \
        return failed ? failed                                                                                         \
                      : launch(kernel, grid, block, arguments, shared_bytes, stream_of(stream, per_thread), false);    \
    }                                                                                                                  \
    EXPORT cudaError_t cudaLaunchKernelExC##suffix(const struct runtime_launch_config *, const void *, void **);       \
    EXPORT cudaError_t cudaLaunchKernelExC##suffix(const struct runtime_launch_config *config, const void *function,   \
                                                   void **arguments)                                                   \
    {                                                                                                                  \
        return launch_extended(config, function, arguments, per_thread);                                               \
    }

LAUNCH(, false)
LAUNCH(_ptsz, true)

EXPORT cudaError_t __cudaGetKernel(CUkernel *kernel, const void *function);
EXPORT cudaError_t __cudaGetKernel(CUkernel *kernel, const void *function)
{
    return kernel ? find_kernel(function, kernel) : keep(cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGetKernel(CUkernel *kernel, const void *function);
EXPORT cudaError_t cudaGetKernel(CUkernel *kernel, const void *function)
{
    return __cudaGetKernel(kernel, function);
}

EXPORT cudaError_t cudaGetFuncBySymbol(CUfunction *found, const void *function);
EXPORT cudaError_t cudaGetFuncBySymbol(CUfunction *found, const void *function)
{
    CUkernel kernel;
    if (!found)
        return keep(cudaErrorInvalidValue);
    cudaError_t failed = find_kernel(function, &kernel);
    return failed ? failed : keep(cuKernelGetFunction(found, kernel));
}

/* ---- Occupancy with a launch configuration ------------------------------------------------------------------------ */

#define CLUSTERS(name, driver)                                                                                         \
    EXPORT cudaError_t name(int *, const void *, const struct runtime_launch_config *);                                \
    EXPORT cudaError_t name(int *value, const void *function, const struct runtime_launch_config *config)              \
    {                                                                                                                  \
        CUkernel kernel;                                                                                               \
        if (!config || !value || config->shared_bytes > UINT32_MAX)                                                    \
            return keep(cudaErrorInvalidValue);                                                                        \
        cudaError_t failed = find_kernel(function, &kernel);                                                           \
        if (failed)                                                                                                    \
            return failed;                                                                                             \
        struct driver_launch_config with = {                                                                           \
            .grid = {config->grid.x, config->grid.y, config->grid.z},                                                  \
            .block = {config->block.x, config->block.y, config->block.z},                                              \
            .shared_bytes = (unsigned)config->shared_bytes,                                                            \
            .stream = config->stream,                                                                                  \
            .attributes = config->attributes,                                                                          \
            .attribute_count = config->attribute_count,                                                                \
        };                                                                                                             \
        return keep(driver(value, (CUfunction)kernel, (void *)&with));                                                 \
    }

CLUSTERS(cudaOccupancyMaxActiveClusters, cuOccupancyMaxActiveClusters)
CLUSTERS(cudaOccupancyMaxPotentialClusterSize, cuOccupancyMaxPotentialClusterSize)
