/*
 * What the gate costs: nanoseconds per cuLaunchKernel on a driver that returns at once, called directly and through
 * the preload library, in turn, in one process.
 *
 *   gate_bench DRIVER LIBRARY                  times both; one line of JSON
 *   gate_bench DRIVER LIBRARY direct|through N makes N launches one way, for an instruction counter around it
 *
 * TESSERA_DRIVER must name DRIVER too: the library opens it itself. Exit status 1 with a sentence on any failure.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Odd, so that the median is a block that was measured. */
#define BLOCKS 101
#define CALLS_PER_BLOCK 200000
#define WARMUP_BLOCKS 5

typedef int launch_function(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **parameters,
                            void **extra);

static void fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("gate_bench: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(1);
}

static void *entry(void *library, const char *path, const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        fail("%s has no %s", path, name);
    return found;
}

/* Opens a driver, or what stands for one, and takes it to where a program may launch. */
static launch_function *ready_to_launch(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail("%s", dlerror());
    int (*init)(unsigned) = (int (*)(unsigned))entry(library, path, "cuInit");
    int (*retain)(void **, int) = (int (*)(void **, int))entry(library, path, "cuDevicePrimaryCtxRetain");
    int (*set_current)(void *) = (int (*)(void *))entry(library, path, "cuCtxSetCurrent");
    void *context = NULL;
    int result = init(0);
    if (result == 0)
        result = retain(&context, 0);
    if (result == 0)
        result = set_current(context);
    if (result != 0)
        fail("%s: no context, error %d", path, result);
    return (launch_function *)entry(library, path, "cuLaunchKernel");
}

/* The call goes through a volatile pointer, as a program's does through the loader's table. */
static void launch_many(launch_function *launch, long calls)
{
    launch_function *volatile pointer = launch;
    void *parameters[1] = {NULL};
    for (long i = 0; i < calls; i++) {
        int result = pointer((void *)pointer, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL);
        if (result != 0)
            fail("a launch answered %d", result);
    }
}

static double block_ns(launch_function *launch)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    launch_many(launch, CALLS_PER_BLOCK);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double elapsed_ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    return elapsed_ns / CALLS_PER_BLOCK;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void measure(launch_function *direct, launch_function *through)
{
    static double direct_ns[BLOCKS], through_ns[BLOCKS], difference_ns[BLOCKS];
    for (int i = 0; i < WARMUP_BLOCKS; i++) {
        block_ns(direct);
        block_ns(through);
    }
    for (int i = 0; i < BLOCKS; i++) {
        direct_ns[i] = block_ns(direct);
        through_ns[i] = block_ns(through);
        difference_ns[i] = through_ns[i] - direct_ns[i];
    }
    qsort(direct_ns, BLOCKS, sizeof *direct_ns, ascending);
    qsort(through_ns, BLOCKS, sizeof *through_ns, ascending);
    qsort(difference_ns, BLOCKS, sizeof *difference_ns, ascending);
    const int middle = BLOCKS / 2, tenth = BLOCKS / 10;
    printf("{\"direct_ns\": %.3f, \"through_ns\": %.3f, \"difference_ns\": %.3f, \"ratio\": %.3f, "
           "\"difference_low_ns\": %.3f, \"difference_high_ns\": %.3f, \"blocks\": %d, \"calls_per_block\": %d}\n",
           direct_ns[middle], through_ns[middle], difference_ns[middle], through_ns[middle] / direct_ns[middle],
           difference_ns[tenth], difference_ns[BLOCKS - 1 - tenth], BLOCKS, CALLS_PER_BLOCK);
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 5)
        fail("usage: gate_bench DRIVER LIBRARY [direct|through CALLS]");
    const char *named = getenv("TESSERA_DRIVER");
    if (!named || strcmp(named, argv[1]) != 0)
        fail("TESSERA_DRIVER has to name %s: else the library would open another driver", argv[1]);
    launch_function *direct = ready_to_launch(argv[1]);
    launch_function *through = ready_to_launch(argv[2]);
    if (direct == through)
        fail("%s answers with the driver's own cuLaunchKernel: nothing stands between", argv[2]);
    if (argc == 3)
        measure(direct, through);
    else
        launch_many(strcmp(argv[3], "direct") == 0 ? direct : through, strtol(argv[4], NULL, 10));
    return 0;
}
