/* Launches of kernels and of functions of the program. */
#include <string.h>

#include "entry.h"
#include "modules/function.h"
#include "streams/stream.h"

static bool dimensions_valid(const unsigned grid[3], const unsigned block[3])
{
    for (int i = 0; i < 3; i++)
        if (grid[i] == 0 || block[i] == 0)
            return false;
    return (uint64_t)block[0] * block[1] * block[2] <= 1024;
}

static CUresult launch(struct stream *s, void *function, const unsigned grid[3], const unsigned block[3],
                       void **parameters, void **extra)
{
    if (!dimensions_valid(grid, block))
        return ERROR_INVALID_VALUE;
    LOCKED;
    struct work *w;
    CUresult error = function_work(function, grid[0] * grid[1] * grid[2], parameters, extra, &w);
    return error ? error : stream_submit(s, w);
}

#define DIMENSIONS                                                                                                     \
    void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,     \
        void *stream, void **parameters

SUBMISSION_PAIR(cuLaunchKernel, (DIMENSIONS, void **extra),
                ((void)shared,
                 launch(target, function, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, parameters, extra)))
SUBMISSION_PAIR(cuLaunchCooperativeKernel, (DIMENSIONS),
                ((void)shared,
                 launch(target, function, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, parameters, NULL)))

/* The stream is a field of the configuration here. */
static void *stream_of(const struct launch_config *config)
{
    return config ? config->stream : NULL;
}

static CUresult launch_configured(struct stream *s, const struct launch_config *config, void *function,
                                  void **parameters, void **extra)
{
    return config ? launch(s, function, config->grid, config->block, parameters, extra) : ERROR_INVALID_VALUE;
}

STREAM_PAIR_AS(cuLaunchKernelEx, _ptsz, true,
               (const struct launch_config *config, void *function, void **parameters, void **extra), stream_of(config),
               launch_configured(target, config, function, parameters, extra))

static CUresult host_function(struct stream *s, void (*function)(void *), void *data)
{
    if (!function)
        return ERROR_INVALID_VALUE;
    LOCKED;
    struct work *w = work_new(WORK_HOST);
    w->as.host.function = function;
    w->as.host.data = data;
    return stream_submit(s, w);
}

static CUresult callback(struct stream *s, void (*function)(void *, CUresult, void *), void *data, unsigned flags)
{
    if (!function || flags)
        return ERROR_INVALID_VALUE;
    LOCKED;
    if (s->capture) { /* callbacks, unlike host functions, cannot be captured */
        return ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    struct work *w = work_new(WORK_CALLBACK);
    w->as.callback.function = function;
    w->as.callback.data = data;
    return stream_submit(s, w);
}

SUBMISSION_PAIR(cuLaunchHostFunc, (void *stream, void (*function)(void *), void *data),
                host_function(target, function, data))
SUBMISSION_PAIR(cuStreamAddCallback,
                (void *stream, void (*function)(void *, CUresult, void *), void *data, unsigned flags),
                callback(target, function, data, flags))
