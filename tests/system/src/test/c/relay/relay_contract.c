/*
 * What a program sees in space sharing when something goes wrong, as CONTRACT.md says. First argument:
 *   fault      launches a kernel that faults: the error stays, for every later call
 *   bystander  says "ready", waits for a line, and sees that the device is lost; then says "told"
 *   async      a memset that the executor's driver refuses (401 as its error): told once, by the next synchronisation
 *   limit      64 MiB are allowed, to the byte
 *   forked     a child of a process that has used CUDA: told so by every call, and the parent does not notice
 *   pinned     more pinned memory than the executor's host has: refused, and what there is can be used
 */
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

#define MIB ((size_t)1 << 20)

/* The scripted driver knows a kernel by its name. */
static const char IMAGE[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry scripted_fault() { ret; }\n";

static void *stream;

static int lost(CUresult result)
{
    return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static void fault(void)
{
    void *module, *faulty;
    CUdeviceptr memory;
    OKAY(cuModuleLoadData(&module, IMAGE));
    OKAY(cuModuleGetFunction(&faulty, module, "scripted_fault"));
    OKAY(cuLaunchKernel(faulty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    EQUAL(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    for (int i = 0; i < 3; i++) {
        CHECK(lost(cuStreamSynchronize(stream)));
        CHECK(lost(cuMemAlloc_v2(&memory, MIB)));
        CHECK(lost(cuCtxSynchronize()));
        CHECK(lost(cuLaunchKernel(faulty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL)));
    }
    printf("faulted\n");
}

static void bystander(void)
{
    CUdeviceptr memory;
    char line[16];
    OKAY(cuMemAlloc_v2(&memory, MIB));
    printf("ready\n");
    fflush(stdout);
    CHECK(fgets(line, sizeof line, stdin));
    CUresult result = 0;
    for (int i = 0; i < 200 && result == 0; i++) { /* the fault is another program's: soon, not at once */
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        result = cuStreamSynchronize(stream);
    }
    CHECK(lost(result));
    CHECK(lost(cuMemFree_v2(memory)));
    printf("told\n");
}

static void async(void)
{
    CUdeviceptr memory;
    unsigned value = 1;
    OKAY(cuMemAlloc_v2(&memory, MIB));
    OKAY(cuMemsetD32Async(memory, 7, 100, stream)); /* nobody waits for its answer */
    EQUAL(CUDA_ERROR_ILLEGAL_STATE, cuStreamSynchronize(stream));
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuMemsetD32Async(memory, 8, 100, stream));
    OKAY(cuMemcpyDtoHAsync_v2(&value, memory, sizeof value, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(8, value);
    printf("async ok\n");
}

static void limit(void)
{
    CUdeviceptr first, second;
    size_t free_bytes = 0, total = 0;
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(64 * MIB, total);
    OKAY(cuMemAlloc_v2(&first, 48 * MIB));
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&second, 16 * MIB + 1));
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(16 * MIB, free_bytes);
    OKAY(cuMemAlloc_v2(&second, 16 * MIB));
    OKAY(cuMemFree_v2(first));
    OKAY(cuMemAlloc_v2(&first, 47 * MIB));
    OKAY(cuMemFree_v2(second));
    OKAY(cuMemFree_v2(first));
    printf("limit ok\n");
}

/* What a child may do with its parent's context, as with the driver: nothing; its own start is refused too. */
static int child_of(CUdeviceptr memory)
{
    unsigned value = 1;
    void *other;
    CUdeviceptr fresh;
    const CUresult results[] = {cuMemAlloc_v2(&fresh, MIB),
                                cuMemcpyDtoH_v2(&value, memory, sizeof value),
                                cuMemsetD32Async(memory, 3, 100, stream),
                                cuStreamSynchronize(stream),
                                cuCtxSynchronize(),
                                cuStreamCreate(&other, CU_STREAM_NON_BLOCKING),
                                cuInit(0),
                                cuDevicePrimaryCtxRetain(&other, 0)};
    for (unsigned i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i] == 0) {
            fprintf(stderr, "call %u of the child succeeds\n", i);
            return 1;
        }
    return value == 1 ? 0 : 2;
}

static void forked(void)
{
    CUdeviceptr memory;
    unsigned value = 1;
    OKAY(cuMemAlloc_v2(&memory, MIB));
    OKAY(cuMemsetD32Async(memory, 7, 100, stream));
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            _exit(child_of(memory));
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        EQUAL(0, status);
        OKAY(cuMemcpyDtoHAsync_v2(&value, memory, sizeof value, stream));
        OKAY(cuStreamSynchronize(stream));
        EQUAL(7, value); /* also not what the child wrote into what it took for a ring */
    }
    printf("forked ok\n");
}

static void pinned(void)
{
    static unsigned char source[3 * MIB], target[3 * MIB];
    CUdeviceptr memory;
    void *host;
    for (int i = 0; i < 20; i++)
        EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemHostAlloc(&host, 256 * MIB, 0));
    OKAY(cuMemHostAlloc(&host, 4 * MIB, 0));
    OKAY(cuMemAlloc_v2(&memory, 4 * MIB));
    for (size_t i = 0; i < sizeof source; i++)
        ((unsigned char *)host)[i] = source[i] = (unsigned char)(i * 2654435761u >> 24);
    OKAY(cuMemcpyHtoD_v2(memory, host, sizeof source));
    OKAY(cuMemcpyDtoH_v2(target, memory, sizeof target));
    EQUAL(0, memcmp(source, target, sizeof source));
    OKAY(cuMemFreeHost(host));
    printf("pinned ok\n");
}

static _Atomic long ran;

static void count_one(void *unused)
{
    (void)unused;
    ran++;
}

static _Atomic int go_on;

static void wait_for_go(void *unused)
{
    (void)unused;
    while (!go_on)
        usleep(100);
}

/* More events that were not complete when they were asked about than a device has words: streams keep some of their own. */
static void events(void)
{
    enum { TOGETHER = 8 };
    void *other, *event;
    CUdeviceptr memory;
    CUresult result = CUDA_ERROR_NOT_READY;
    long asked = 0;
    while (result == CUDA_ERROR_NOT_READY && asked < 20000) {
        go_on = 0;
        OKAY(cuLaunchHostFunc(stream, wait_for_go, NULL));
        for (int i = 0; i < TOGETHER && result == CUDA_ERROR_NOT_READY; i++) {
            OKAY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
            OKAY(cuEventRecord(event, stream));
            result = cuEventQuery(event);
            asked++;
        }
        go_on = 1;
        OKAY(cuStreamSynchronize(stream));
    }
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, result);
    OKAY(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&memory, MIB));
    OKAY(cuMemsetD32Async(memory, 1, 1, other));
    OKAY(cuStreamSynchronize(other));
    printf("events ok\n");
}

/* Each bound is reported, and a program within it goes on. */
static void graph_functions(void)
{
    struct {
        void (*function)(void *);
        void *data;
    } parameters = {count_one, NULL};
    void *graph, *node;
    CUresult result = 0;
    long made = 0;
    OKAY(cuGraphCreate(&graph, 0));
    while (made < 16384 && (result = cuGraphAddHostNode(&node, graph, NULL, 0, &parameters)) == 0)
        made++;
    EQUAL(8192, made);
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, result);
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuGraphDestroy(graph));
    OKAY(cuLaunchHostFunc(stream, count_one, NULL));
    OKAY(cuCtxSynchronize());
    EQUAL(1, ran);
    printf("graph functions ok\n");
}

static void contexts(void)
{
    void *last = NULL, *made;
    CUresult result;
    int count = 0;
    while ((result = cuCtxCreate_v2(&made, 0, 0)) == 0 && count++ < 1000)
        last = made;
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, result);
    EQUAL(255, count); /* and the primary one */
    OKAY(cuCtxDestroy_v2(last));
    OKAY(cuCtxCreate_v2(&made, 0, 0));
    printf("contexts ok\n");
}

static void much_pinned(void)
{
    void *block, *last = NULL;
    CUresult result;
    while ((result = cuMemHostAlloc(&block, 64 * MIB, 0)) == 0)
        last = block;
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, result);
    OKAY(cuMemFreeHost(last));
    OKAY(cuMemHostAlloc(&block, 64 * MIB, 0));
    printf("much pinned ok\n");
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"fault", fault},       {"bystander", bystander},    {"async", async},   {"limit", limit},
        {"forked", forked},     {"pinned", pinned},          {"events", events}, {"graph_functions", graph_functions},
        {"contexts", contexts}, {"much_pinned", much_pinned}};
    void *context;
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        if (count == 2 && strcmp(arguments[1], modes[i].name) == 0) {
            modes[i].run();
            return 0;
        }
    return 2;
}
