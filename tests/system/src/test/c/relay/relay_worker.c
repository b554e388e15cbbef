/*
 * Works through the relay and checks every result.
 *     relay_worker MODE SEED ROUNDS
 * MODE: launches, copies, allocations, or mixed. Says "ready", then works ROUNDS rounds (0: until a line comes on stdin, at least one),
 * then says "right ROUNDS". An error of CUDA or a wrong result ends it with 1. RELAY_WORKER_PAUSE_US: between rounds, for one that shows
 * that others go on and needs no processor of its own for that.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"
#include "scripted_image.h"

enum { COUNT = 4096, BATCH = 64, BLOCKS = 16 };

static void *fill, *stream;
static CUdeviceptr memory;
static unsigned state;

static unsigned next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void launch(unsigned value)
{
    uint64_t count = COUNT;
    void *parameters[] = {&memory, &value, &count};
    OKAY(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
}

static void launches(void)
{
    static unsigned got[COUNT];
    unsigned value = 0;
    for (int i = 0; i < BATCH; i++)
        launch(value = next());
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuMemcpyDtoH_v2(got, memory, sizeof got));
    for (int i = 0; i < COUNT; i++)
        EQUAL(value, got[i]);
}

static void copies(void)
{
    static unsigned char there[COUNT * 4], back[COUNT * 4];
    size_t bytes = 1 + next() % sizeof there;
    for (size_t i = 0; i < bytes; i++)
        there[i] = (unsigned char)next();
    OKAY(cuMemcpyHtoD_v2(memory, there, bytes));
    OKAY(cuMemcpyDtoH_v2(back, memory, bytes));
    EQUAL(0, memcmp(there, back, bytes));
}

static void allocations(void)
{
    CUdeviceptr block[BLOCKS];
    unsigned char first = (unsigned char)next(), got;
    for (int i = 0; i < BLOCKS; i++) {
        OKAY(cuMemAlloc_v2(&block[i], 1 + next() % 100000));
        OKAY(cuMemsetD8Async(block[i], (unsigned char)(first + i), 1, stream));
    }
    OKAY(cuStreamSynchronize(stream));
    for (int i = 0; i < BLOCKS; i++) {
        OKAY(cuMemcpyDtoH_v2(&got, block[i], 1));
        EQUAL((unsigned char)(first + i), got);
        OKAY(cuMemFree_v2(block[i]));
    }
}

static int told_to_end(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
}

int main(int argc, char **argv)
{
    void *context, *module;
    CHECK(argc == 4);
    static void (*const parts[])(void) = {launches, copies, allocations};
    static const char *const names[] = {"launches", "copies", "allocations"};
    void (*chosen)(void) = NULL;
    for (int i = 0; i < 3; i++)
        if (strcmp(argv[1], names[i]) == 0)
            chosen = parts[i];
    state = (unsigned)atol(argv[2]);
    int rounds = atoi(argv[3]), done = 0;
    const char *seconds = getenv("RELAY_WORKER_SECONDS");
    const char *pause = getenv("RELAY_WORKER_PAUSE_US");
    useconds_t pause_us = pause ? (useconds_t)atoi(pause) : 0;
    alarm(seconds ? (unsigned)atoi(seconds) : 120);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&memory, COUNT * sizeof(unsigned)));
    OKAY(cuModuleLoadData(&module, SCRIPTED_IMAGE));
    OKAY(cuModuleGetFunction(&fill, module, "scripted_fill"));
    printf("ready\n");
    fflush(stdout);
    for (; rounds ? done < rounds : done == 0 || !told_to_end(); done++) {
        (chosen ? chosen : parts[next() % 3])();
        if (pause_us != 0)
            usleep(pause_us);
    }
    OKAY(cuModuleUnload(module));
    OKAY(cuMemFree_v2(memory));
    OKAY(cuStreamDestroy_v2(stream));
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    printf("right %d\n", done);
    return 0;
}
