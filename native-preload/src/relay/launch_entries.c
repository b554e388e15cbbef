/* The entries that launch kernels. */
#include "capture.h"
#include "launch.h"

static CUresult launch_plain(CUfunction function, const uint32_t *grid, const uint32_t *block, unsigned shared_bytes,
                             CUstream stream, bool per_thread, bool cooperative, void **parameters, void **extra)
{
    const struct launch launch = {
        .function = function,
        .grid = {grid[0], grid[1], grid[2]},
        .block = {block[0], block[1], block[2]},
        .shared_bytes = shared_bytes,
        .stream = stream,
        .per_thread = per_thread,
        .cooperative = cooperative,
        .parameters = parameters,
        .extra = extra,
    };
    return launch_kernel(&launch);
}

static CUresult launch_configured(const struct layout_launch_config *config, CUfunction function, bool per_thread,
                                  void **parameters, void **extra)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    const struct launch launch = {
        .function = function,
        .grid = {config->grid[0], config->grid[1], config->grid[2]},
        .block = {config->block[0], config->block[1], config->block[2]},
        .shared_bytes = config->shared_bytes,
        .stream = (CUstream)(uintptr_t)config->stream,
        .per_thread = per_thread,
        .parameters = parameters,
        .extra = extra,
        .attributes = (const void *)(uintptr_t)config->attributes,
        .attribute_count = config->attribute_count,
    };
    return launch_kernel(&launch);
}

#define LAUNCH_ENTRY(name, per_thread)                                                                                 \
    CUresult relay_##name(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,            \
                          unsigned int by, unsigned int bz, unsigned int shared_bytes, CUstream stream,                \
                          void **parameters, void **extra)                                                             \
    {                                                                                                                  \
        return launch_plain(f, (const uint32_t[]){gx, gy, gz}, (const uint32_t[]){bx, by, bz}, shared_bytes, stream,   \
                            per_thread, false, parameters, extra);                                                     \
    }
LAUNCH_ENTRY(cuLaunchKernel, false)
LAUNCH_ENTRY(cuLaunchKernel_ptsz, true)

#define COOPERATIVE_ENTRY(name, per_thread)                                                                            \
    CUresult relay_##name(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,            \
                          unsigned int by, unsigned int bz, unsigned int shared_bytes, CUstream stream,                \
                          void **parameters)                                                                           \
    {                                                                                                                  \
        return launch_plain(f, (const uint32_t[]){gx, gy, gz}, (const uint32_t[]){bx, by, bz}, shared_bytes, stream,   \
                            per_thread, true, parameters, NULL);                                                       \
    }
COOPERATIVE_ENTRY(cuLaunchCooperativeKernel, false)
COOPERATIVE_ENTRY(cuLaunchCooperativeKernel_ptsz, true)

CUresult relay_cuLaunchKernelEx(const void *config, CUfunction f, void **parameters, void **extra)
{
    return launch_configured(config, f, false, parameters, extra);
}

CUresult relay_cuLaunchKernelEx_ptsz(const void *config, CUfunction f, void **parameters, void **extra)
{
    return launch_configured(config, f, true, parameters, extra);
}
