/*
 * Memory that is exported for the first time while it moves, is in use, and other threads work: half of the allocations of
 * each thread, one after the other; the other half go on moving.
 *     swap_exports KEY=VALUE...
 * ms (how long at least), threads, seed. Ends with "done CHECKS EXPORTS REFUSALS": exports that found a capture of their own
 * open; the first wrong word ends it with 1.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { SLOTS = 8, MAX_THREADS = 8, LARGEST = 5 << 20 };

static long long ms = 1000, threads = 3, seed = 1;
static void *context, *filler;
static unsigned long checks, exports, refusals;

struct worker {
    uint64_t random;
    uint32_t value;
    void *stream;
    struct {
        CUdeviceptr pointer;
        uint64_t bytes;
        uint32_t value;
        CUipcMemHandle handle;
        int exported;
    } slots[SLOTS];
};

static uint64_t next(struct worker *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random * 0x2545f4914f6cdd1dULL >> 16;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void fill(struct worker *w, int i)
{
    uint64_t words = w->slots[i].bytes / 4;
    w->slots[i].value = ++w->value;
    void *parameters[] = {&w->slots[i].pointer, &w->slots[i].value, &words};
    OKAY(cuLaunchKernel(filler, 1, 1, 1, 1, 1, 1, 0, w->stream, parameters, NULL));
}

static void check_slot(struct worker *w, int i)
{
    uint32_t words[2];
    OKAY(cuStreamSynchronize(w->stream));
    OKAY(cuMemcpyDtoH_v2(&words[0], w->slots[i].pointer, 4));
    OKAY(cuMemcpyDtoH_v2(&words[1], w->slots[i].pointer + w->slots[i].bytes - 4, 4));
    EQUAL(w->slots[i].value, words[0]);
    EQUAL(w->slots[i].value, words[1]);
    __atomic_fetch_add(&checks, 1, __ATOMIC_RELAXED);
}

/* With work of the stream's own under way; the handle is the same ever after. */
static void export(struct worker *w, int i)
{
    CUipcMemHandle handle;
    fill(w, i);
    OKAY(cuIpcGetMemHandle(&handle, w->slots[i].pointer + next(w) % w->slots[i].bytes));
    CHECK(!w->slots[i].exported || memcmp(&handle, &w->slots[i].handle, sizeof handle) == 0);
    w->slots[i].handle = handle;
    w->slots[i].exported = 1;
    __atomic_fetch_add(&exports, 1, __ATOMIC_RELAXED);
}

static void capture(struct worker *w, int i)
{
    void *graph, *exec;
    CUipcMemHandle handle;
    OKAY(cuStreamBeginCapture_v2(w->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    fill(w, i);
    CUresult result = cuIpcGetMemHandle(&handle, w->slots[SLOTS - 1].pointer);
    CHECK(result == 0 || result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    __atomic_fetch_add(&refusals, result != 0, __ATOMIC_RELAXED);
    OKAY(cuStreamEndCapture(w->stream, &graph));
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OKAY(cuGraphLaunch(exec, w->stream));
    OKAY(cuStreamSynchronize(w->stream));
    OKAY(cuGraphExecDestroy(exec));
    OKAY(cuGraphDestroy(graph));
}

static void allocate(struct worker *w, int i)
{
    uint64_t most = next(w) % 2 ? LARGEST : 65536;
    memset(&w->slots[i], 0, sizeof w->slots[i]);
    w->slots[i].bytes = (next(w) % most / 4 + 1) * 4;
    OKAY(cuMemAlloc_v2(&w->slots[i].pointer, w->slots[i].bytes));
    fill(w, i);
}

static void *work(void *argument)
{
    struct worker *w = argument;
    uint64_t until = now_ms() + (uint64_t)ms;
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&w->stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < SLOTS; i++)
        allocate(w, i);
    for (int step = 0; step < 4 * SLOTS || now_ms() < until; step++) {
        int i = (int)(next(w) % SLOTS);
        check_slot(w, i);
        if (step % 4 == 0 && step / 4 < SLOTS / 2)
            export(w, step / 4);
        else if (next(w) % 8 == 0)
            capture(w, i);
        else if (w->slots[i].exported && next(w) % 16 == 0)
            export(w, i);
        else
            fill(w, i);
    }
    for (int i = 0; i < SLOTS; i++) {
        check_slot(w, i);
        OKAY(cuMemFree_v2(w->slots[i].pointer));
    }
    return NULL;
}

static void read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        CHECK(sscanf(argv[i], "ms=%lld", &ms) == 1 || sscanf(argv[i], "threads=%lld", &threads) == 1 ||
              sscanf(argv[i], "seed=%lld", &seed) == 1);
    CHECK(threads > 0 && threads <= MAX_THREADS);
}

int main(int argc, char **argv)
{
    static struct worker workers[MAX_THREADS];
    pthread_t ids[MAX_THREADS];
    void *module;
    read_arguments(argc, argv);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&filler, module, "scripted_fill"));
    for (int i = 0; i < threads; i++) {
        workers[i].random = (uint64_t)seed * 0x9e3779b97f4a7c15ULL + (uint64_t)i + 1;
        workers[i].value = (uint32_t)(i + 1) << 24;
        EQUAL(0, pthread_create(&ids[i], NULL, work, &workers[i]));
    }
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("done %lu %lu %lu\n", checks, exports, refusals);
    return 0;
}
