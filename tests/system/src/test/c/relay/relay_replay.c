/*
 * Launches kernels that take long, again and again, and compares their results with the processor's. `steps` changes numbers in place, one
 * step after the other: what is left of a run in the middle is no result, and running it again from there gives wrong ones. `apart` writes the
 * same numbers to another place.
 *     relay_replay STEPS MILLISECONDS
 * Each of the steps computes in a loop, so long that a launch takes about the time. Says "ready", "launched COUNT" after each pair of launches that was right, and ends when a line has come
 * on stdin.
 */
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { BLOCKS = 2, THREADS = 2, NUMBERS = BLOCKS * THREADS };

#define BEGIN(kernel, parameters)                                                                                      \
    ".visible .entry " kernel "(" parameters ", .param .u32 steps, .param .u64 turns)\n"                               \
    "{\n .reg .u64 %to, %from, %off, %turn, %turns;\n .reg .u32 %i, %n, %b, %x, %left;\n .reg .pred %again;\n"         \
    " mov.u32 %i, %tid.x;\n mov.u32 %n, %ntid.x;\n mov.u32 %b, %ctaid.x;\n mad.lo.u32 %i, %b, %n, %i;\n"               \
    " mul.wide.u32 %off, %i, 4;\n ld.param.u32 %left, [steps];\n ld.param.u64 %turns, [turns];\n"

#define WAIT                                                                                                           \
    " mov.u64 %turn, %turns;\n"                                                                                        \
    "compute:\n sub.u64 %turn, %turn, 1;\n setp.ne.u64 %again, %turn, 0;\n @%again bra compute;\n"                     \
    " sub.u32 %left, %left, 1;\n setp.ne.u32 %again, %left, 0;\n @%again bra step;\n"

#define STEPS                                                                                                          \
    BEGIN("steps", ".param .u64 x")                                                                                    \
    " ld.param.u64 %to, [x];\n add.u64 %to, %to, %off;\n"                                                              \
    "step:\n ld.global.u32 %x, [%to];\n mad.lo.u32 %x, %x, 1664525, 1013904223;\n st.global.u32 [%to], %x;\n" WAIT     \
    " ret;\n}\n"

#define APART                                                                                                          \
    BEGIN("apart", ".param .u64 y, .param .u64 x")                                                                     \
    " ld.param.u64 %to, [y];\n add.u64 %to, %to, %off;\n ld.param.u64 %from, [x];\n add.u64 %from, %from, %off;\n"     \
    " ld.global.u32 %x, [%from];\n"                                                                                    \
    "step:\n mad.lo.u32 %x, %x, 1664525, 1013904223;\n st.global.u32 [%to], %x;\n" WAIT " ret;\n}\n"

static const char image[] = ".version 8.0\n.target sm_50\n.address_size 64\n" STEPS APART;

static int told_to_end(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
}

/* How long a launch takes that computes for `turns` in each step, in ms. */
static double launch_ms(void *kernel, void *stream, void **parameters)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    OKAY(cuLaunchKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, parameters, NULL));
    OKAY(cuStreamSynchronize(stream));
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
}

static void after(unsigned *numbers, unsigned steps)
{
    for (int i = 0; i < NUMBERS; i++)
        for (unsigned step = 0; step < steps; step++)
            numbers[i] = numbers[i] * 1664525u + 1013904223u;
}

static void check(CUdeviceptr at, const unsigned *expected)
{
    static unsigned found[NUMBERS];
    OKAY(cuMemcpyDtoH_v2(found, at, sizeof found));
    for (int i = 0; i < NUMBERS; i++)
        CHECK(found[i] == expected[i]);
}

int main(int argc, char **argv)
{
    void *context, *module, *in_place, *apart, *stream;
    CUdeviceptr x = 0, y = 0;
    static unsigned numbers[NUMBERS], next[NUMBERS];
    CHECK(argc == 3);
    unsigned steps = (unsigned)atol(argv[1]);
    uint64_t turns = 100000;
    alarm(240);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&x, sizeof numbers));
    OKAY(cuMemAlloc_v2(&y, sizeof numbers));
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (unsigned)i;
    OKAY(cuMemcpyHtoD_v2(x, numbers, sizeof numbers));
    OKAY(cuModuleLoadData(&module, image));
    OKAY(cuModuleGetFunction(&in_place, module, "steps"));
    OKAY(cuModuleGetFunction(&apart, module, "apart"));
    void *of_steps[] = {&x, &steps, &turns}, *of_apart[] = {&y, &x, &steps, &turns};
    double ms = launch_ms(apart, stream, of_apart); /* makes its code, too */
    for (int i = 0; i < 5; i++) {
        double again = launch_ms(apart, stream, of_apart);
        ms = again < ms ? again : ms;
    }
    turns = (uint64_t)((double)turns * atof(argv[2]) / ms) + 1;
    printf("ready\n");
    fflush(stdout);
    for (unsigned launched = 1; !told_to_end(); launched++) {
        OKAY(cuLaunchKernel(in_place, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, of_steps, NULL));
        OKAY(cuLaunchKernel(apart, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, of_apart, NULL));
        OKAY(cuStreamSynchronize(stream));
        after(numbers, steps);
        check(x, numbers);
        for (int i = 0; i < NUMBERS; i++)
            next[i] = numbers[i];
        after(next, steps);
        check(y, next);
        printf("launched %u\n", launched);
        fflush(stdout);
    }
    OKAY(cuMemFree_v2(x));
    OKAY(cuMemFree_v2(y));
    OKAY(cuStreamDestroy_v2(stream));
    OKAY(cuModuleUnload(module));
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    return 0;
}
