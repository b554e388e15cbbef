/*
 * Work on several devices or contexts of one process, each piece checked by a mark in memory.
 *     devices MODE KERNEL_US ORDINAL...
 * MODE: alternate (one thread, a batch on each device in turn), threads (a thread for each device), contexts (one
 * thread, two contexts for each device; every eighth round the second one is destroyed with work in it, and made
 * again). Prints "ready", waits for a line on stdin, then works until the next one and prints "done" and the batches of
 * each device.
 */
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { MAX_PLACES = 16, LAUNCHES = 3, WORDS = 256, ROUNDS_OF_A_CONTEXT = 8 };

static struct place {
    CUdevice device;
    void *context, *stream, *sleeper, *filler;
    CUdeviceptr memory;
    unsigned batches;
} places[MAX_PLACES];

static uint64_t kernel_us;

/* The line is left where it is, so that every thread sees it. */
static int told_to_end(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
}

/* Takes a line byte by byte, so that the next one stays where told_to_end looks for it. */
static void take_line(void)
{
    char c;
    do
        CHECK(read(STDIN_FILENO, &c, 1) == 1);
    while (c != '\n');
}

static void open_place(struct place *p, CUdevice device, int created)
{
    void *module;
    p->device = device;
    if (created)
        OKAY(cuCtxCreate_v2(&p->context, 0, device));
    else
        OKAY(cuDevicePrimaryCtxRetain(&p->context, device));
    OKAY(cuCtxSetCurrent(p->context));
    OKAY(cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&p->sleeper, module, "scripted_sleep_us"));
    OKAY(cuModuleGetFunction(&p->filler, module, "scripted_fill"));
    OKAY(cuMemAlloc_v2(&p->memory, WORDS * 4));
}

static void sleep_on(const struct place *p, uint64_t us)
{
    void *parameters[] = {&us};
    OKAY(cuLaunchKernel(p->sleeper, 1, 1, 1, 1, 1, 1, 0, p->stream, parameters, NULL));
}

static void batch(struct place *p)
{
    uint32_t mark = ++p->batches * 31 + (uint32_t)p->device, last = 0;
    uint64_t words = WORDS;
    void *parameters[] = {&p->memory, &mark, &words};
    CUdevice device;
    OKAY(cuCtxSetCurrent(p->context));
    OKAY(cuCtxGetDevice(&device));
    EQUAL(p->device, device);
    for (int i = 0; i < LAUNCHES; i++)
        sleep_on(p, kernel_us);
    OKAY(cuLaunchKernel(p->filler, 1, 1, 1, 1, 1, 1, 0, p->stream, parameters, NULL));
    OKAY(cuStreamSynchronize(p->stream));
    OKAY(cuMemcpyDtoH_v2(&last, p->memory + (WORDS - 1) * 4, 4));
    EQUAL(mark, last);
}

/* Destroys the context while its work runs, perhaps in the middle of a drain. The count of batches goes on. */
static void renew(struct place *p)
{
    unsigned batches = p->batches;
    OKAY(cuCtxSetCurrent(p->context));
    for (int i = 0; i < 4 * LAUNCHES; i++)
        sleep_on(p, kernel_us);
    OKAY(cuCtxDestroy_v2(p->context));
    open_place(p, p->device, 1);
    p->batches = batches;
}

static void *work_on(void *place)
{
    while (!told_to_end())
        batch(place);
    return NULL;
}

int main(int argc, char **argv)
{
    CHECK(argc > 3 && argc - 3 <= MAX_PLACES / 2);
    const char *mode = argv[1];
    int contexts = strcmp(mode, "contexts") == 0, threads = strcmp(mode, "threads") == 0, count = 0;
    CHECK(contexts || threads || strcmp(mode, "alternate") == 0);
    kernel_us = strtoull(argv[2], NULL, 10);
    OKAY(cuInit(0));
    for (int i = 3; i < argc; i++) {
        open_place(&places[count++], atoi(argv[i]), contexts);
        if (contexts)
            open_place(&places[count++], atoi(argv[i]), 1);
    }
    printf("ready\n");
    fflush(stdout);
    take_line();
    pthread_t started[MAX_PLACES];
    for (int i = 0; threads && i < count; i++)
        OKAY(pthread_create(&started[i], NULL, work_on, &places[i]));
    for (int i = 0; threads && i < count; i++)
        OKAY(pthread_join(started[i], NULL));
    for (unsigned round = 1; !threads && !told_to_end(); round++)
        for (int i = 0; i < count; i++) {
            batch(&places[i]);
            if (contexts && i % 2 && round % ROUNDS_OF_A_CONTEXT == 0)
                renew(&places[i]);
        }
    printf("done");
    for (int i = 0; i < count; i++)
        printf(" %u", places[i].batches);
    printf("\n");
    return 0;
}
