/*
 * Makes and destroys many objects, and says how long each took.
 *     relay_plenty allocations|events|graphs COUNT first|last|context
 * They are destroyed one by one, from the first or from the last one on, or all with their context. Says "made N MS", "destroyed N MS".
 */
#include <string.h>
#include <time.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

static void **things;
static const char *kind;

static long ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static CUresult make(long i)
{
    if (strcmp(kind, "events") == 0)
        return cuEventCreate(&things[i], CU_EVENT_DISABLE_TIMING);
    if (strcmp(kind, "graphs") == 0)
        return cuGraphCreate(&things[i], 0);
    return cuMemAlloc_v2((CUdeviceptr *)&things[i], 256);
}

static CUresult destroy(long i)
{
    if (strcmp(kind, "events") == 0)
        return cuEventDestroy_v2(things[i]);
    if (strcmp(kind, "graphs") == 0)
        return cuGraphDestroy(things[i]);
    return cuMemFree_v2((CUdeviceptr)things[i]);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    long wanted = atol(argv[2]), count = 0;
    void *context;
    kind = argv[1];
    things = calloc((size_t)wanted, sizeof *things);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    long begin = ms();
    while (count < wanted && make(count) == 0)
        count++;
    OKAY(cuCtxSynchronize());
    printf("made %ld %ld\n", count, ms() - begin);
    fflush(stdout);
    begin = ms();
    if (strcmp(argv[3], "context") != 0)
        for (long i = 0; i < count; i++)
            OKAY(destroy(strcmp(argv[3], "last") == 0 ? count - 1 - i : i));
    else
        OKAY(cuDevicePrimaryCtxReset_v2(0));
    if (strcmp(argv[3], "context") != 0)
        OKAY(cuCtxSynchronize());
    printf("destroyed %ld %ld\n", count, ms() - begin);
    return 0;
}
