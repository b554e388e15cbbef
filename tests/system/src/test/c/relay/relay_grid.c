/*
 * Launches a large grid again and again, each block of which takes some time, and looks whether every block has run once as the block that it
 * is, before what is launched behind it in the same stream. Between two launches other blocks are few.
 *     relay_grid MICROSECONDS
 * Says "ready", "launched COUNT" after each launch that was right, and ends when a line has come on stdin.
 */
#include <poll.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { X = 30, Y = 9, Z = 8, BLOCKS = X * Y * Z };

/*
 * The only thread of each block counts it at its place, waits, and adds what is special about it to the sum behind it.
 */
#define IMAGE                                                                                                          \
    ".version 8.0\n.target sm_50\n.address_size 64\n"                                                                  \
    ".visible .global .u32 runs;\n"                                                                                    \
    ".visible .entry blocks(.param .u64 out, .param .u64 us)\n"                                                        \
    "{\n .reg .u64 %until, %now, %at, %off;\n .reg .u32 %x, %y, %z, %nx, %ny, %place, %old;\n .reg .pred %early;\n"    \
    " ld.param.u64 %until, [us];\n mul.lo.u64 %until, %until, 1000;\n"                                                 \
    " mov.u64 %now, %globaltimer;\n add.u64 %until, %until, %now;\n"                                                   \
    " ld.param.u64 %at, [out];\n mov.u32 %x, %ctaid.x;\n mov.u32 %y, %ctaid.y;\n mov.u32 %z, %ctaid.z;\n"              \
    " mov.u32 %nx, %nctaid.x;\n mov.u32 %ny, %nctaid.y;\n"                                                             \
    " mad.lo.u32 %place, %z, %ny, %y;\n mad.lo.u32 %place, %place, %nx, %x;\n"                                         \
    " mul.wide.u32 %off, %place, 4;\n add.u64 %at, %at, %off;\n"                                                       \
    " atom.global.add.u32 %old, [%at], 1;\n mov.u64 %off, runs;\n cvta.global.u64 %off, %off;\n"                       \
    " atom.add.u32 %old, [%off], 1;\n"                                                                                 \
    "again:\n mov.u64 %now, %globaltimer;\n setp.lt.u64 %early, %now, %until;\n @%early bra again;\n ret;\n}\n"        \
    ".visible .entry behind(.param .u64 out)\n"                                                                        \
    "{\n .reg .u64 %at, %count;\n .reg .u32 %runs;\n ld.param.u64 %at, [out];\n mov.u64 %count, runs;\n"               \
    " cvta.global.u64 %count, %count;\n ld.u32 %runs, [%count];\n st.global.u32 [%at], %runs;\n ret;\n}\n"

static int told_to_end(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
}

int main(int argc, char **argv)
{
    void *context, *module, *blocks, *behind, *stream;
    uint64_t counts = 0, seen = 0;
    static unsigned host[BLOCKS];
    unsigned runs = 0;
    CHECK(argc == 2);
    uint64_t us = (uint64_t)atol(argv[1]);
    alarm(240);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&counts, sizeof host));
    OKAY(cuMemAlloc_v2(&seen, sizeof runs));
    OKAY(cuMemsetD8_v2(counts, 0, sizeof host));
    OKAY(cuModuleLoadData(&module, IMAGE));
    OKAY(cuModuleGetFunction(&blocks, module, "blocks"));
    OKAY(cuModuleGetFunction(&behind, module, "behind"));
    printf("ready\n");
    fflush(stdout);
    void *parameters[] = {&counts, &us}, *of_behind[] = {&seen};
    for (unsigned launched = 1; !told_to_end(); launched++) {
        OKAY(cuLaunchKernel(blocks, X, Y, Z, 1, 1, 1, 0, stream, parameters, NULL));
        OKAY(cuLaunchKernel(behind, 1, 1, 1, 1, 1, 1, 0, stream, of_behind, NULL));
        OKAY(cuStreamSynchronize(stream));
        OKAY(cuMemcpyDtoH_v2(&runs, seen, sizeof runs));
        OKAY(cuMemcpyDtoH_v2(host, counts, sizeof host));
        CHECK(runs == launched * BLOCKS);
        for (int i = 0; i < BLOCKS; i++)
            CHECK(host[i] == launched);
        printf("launched %u\n", launched);
        fflush(stdout);
    }
    OKAY(cuMemFree_v2(counts));
    OKAY(cuMemFree_v2(seen));
    OKAY(cuStreamDestroy_v2(stream));
    OKAY(cuModuleUnload(module));
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    return 0;
}
