/* The entries that launch kernels. */
#include "relay/streams/launch.h"

CUresult relay_cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                              unsigned int block_x, unsigned int block_y, unsigned int block_z,
                              unsigned int shared_bytes, CUstream stream, void **parameters, void **extra)
{
    const struct launch launch = {
        .function = function,
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .shared_bytes = shared_bytes,
        .stream = stream,
        .parameters = parameters,
        .extra = extra,
    };
    return launch_kernel(&launch);
}

CUresult relay_cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                         unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                         unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                         void **parameters)
{
    const struct launch launch = {
        .function = function,
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .shared_bytes = shared_bytes,
        .stream = stream,
        .cooperative = true,
        .parameters = parameters,
    };
    return launch_kernel(&launch);
}

CUresult relay_cuLaunchKernelEx(const void *configuration, CUfunction function, void **parameters, void **extra)
{
    const struct layout_launch_config *config = configuration;
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    const struct launch launch = {
        .function = function,
        .grid = {config->grid[0], config->grid[1], config->grid[2]},
        .block = {config->block[0], config->block[1], config->block[2]},
        .shared_bytes = config->shared_bytes,
        .stream = (CUstream)(uintptr_t)config->stream,
        .parameters = parameters,
        .extra = extra,
        .attributes = (const void *)(uintptr_t)config->attributes,
        .attribute_count = config->attribute_count,
    };
    return launch_kernel(&launch);
}

/* The stream is in the configuration. In this twin, 0 means the per-thread stream. */
CUresult relay_cuLaunchKernelEx_ptsz(const void *configuration, CUfunction function, void **parameters, void **extra)
{
    if (!configuration)
        return CUDA_ERROR_INVALID_VALUE;
    struct layout_launch_config config = *(const struct layout_launch_config *)configuration;
    if (config.stream == 0)
        config.stream = TESSERA_STREAM_PER_THREAD;
    return relay_cuLaunchKernelEx(&config, function, parameters, extra);
}
