/*
 * A workload: batches of launches, each followed by a synchronisation.
 *     worker [key=value ...]
 * kernel_us, batch (launches), host_us (host work after each batch), ms (how long; 0: for ever), iterations, bytes
 * (allocated and checked after every batch), graph (launch a captured graph instead), wait (for a line on stdin first),
 * told (work until a line comes on stdin, one batch at least).
 * Prints "ready", then at the end "done ITERATIONS". Every batch leaves a mark in memory that is checked, so a lost or
 * doubled piece of work is seen.
 */
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

static long long kernel_us = 1000, batch = 4, host_us, ms = 1000, iterations, bytes = 4096, graph, wait_for_line, told;
static void *context, *sleeper, *filler, *stream;

static struct {
    const char *key;
    long long *value;
} const keys[] = {
    {"kernel_us", &kernel_us}, {"batch", &batch}, {"host_us", &host_us},    {"ms", &ms},    {"iterations", &iterations},
    {"bytes", &bytes},         {"graph", &graph}, {"wait", &wait_for_line}, {"told", &told}};

static void read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *equal = strchr(argv[i], '=');
        CHECK(equal);
        *equal = 0;
        size_t k = 0;
        while (k < sizeof keys / sizeof keys[0] && strcmp(keys[k].key, argv[i]) != 0)
            k++;
        CHECK(k < sizeof keys / sizeof keys[0]);
        *keys[k].value = atoll(equal + 1);
    }
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static int told_to_end(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return told && poll(&input, 1, 0) > 0;
}

/* Takes a line byte by byte, so that the next one stays where told_to_end looks for it. */
static void take_line(void)
{
    char c;
    do
        CHECK(read(STDIN_FILENO, &c, 1) == 1);
    while (c != '\n');
}

static void submit(CUdeviceptr memory, uint32_t mark)
{
    uint64_t us = (uint64_t)kernel_us, words = (uint64_t)bytes / 4;
    void *sleep_parameters[] = {&us}, *fill_parameters[] = {&memory, &mark, &words};
    for (long long i = 0; i < batch; i++)
        OKAY(cuLaunchKernel(sleeper, 1, 1, 1, 1, 1, 1, 0, stream, sleep_parameters, NULL));
    OKAY(cuLaunchKernel(filler, 1, 1, 1, 1, 1, 1, 0, stream, fill_parameters, NULL));
}

static void *captured(CUdeviceptr memory)
{
    void *made, *exec;
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    submit(memory, 7);
    OKAY(cuStreamEndCapture(stream, &made));
    OKAY(cuGraphInstantiateWithFlags(&exec, made, 0));
    return exec;
}

int main(int argc, char **argv)
{
    void *module, *exec = NULL;
    CUdeviceptr memory;
    read_arguments(argc, argv);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&sleeper, module, "scripted_sleep_us"));
    OKAY(cuModuleGetFunction(&filler, module, "scripted_fill"));
    OKAY(cuMemAlloc_v2(&memory, (size_t)bytes));
    if (graph)
        exec = captured(memory);
    printf("ready\n");
    fflush(stdout);
    if (wait_for_line)
        take_line();
    uint64_t end = now_ns() + (uint64_t)ms * 1000000;
    long long done = 0;
    uint32_t *last; /* pinned, so that the copy returns at once and the synchronisation waits */
    OKAY(cuMemHostAlloc((void **)&last, 4, 0));
    while ((ms == 0 || now_ns() < end) && (iterations == 0 || done < iterations) && !(done && told_to_end())) {
        uint32_t mark = exec ? 7 : (uint32_t)done + 1;
        if (exec)
            OKAY(cuGraphLaunch(exec, stream));
        else
            submit(memory, mark);
        OKAY(cuMemcpyDtoHAsync_v2(last, memory + (CUdeviceptr)bytes - 4, 4, stream));
        OKAY(cuStreamSynchronize(stream));
        EQUAL(mark, *last);
        done++;
        for (uint64_t until = now_ns() + (uint64_t)host_us * 1000; host_us && now_ns() < until;)
            if (host_us > 200)
                usleep(100);
    }
    printf("done %lld\n", done);
    return 0;
}
