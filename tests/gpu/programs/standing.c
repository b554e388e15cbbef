/*
 * What else in a context stands still while one of its streams does:
 *     standing wait|kernel|managed OPERATION
 * A stream waits for a value that nobody writes (wait), or runs a kernel that waits for one in pinned memory (kernel) or in
 * managed memory that lies on the device (managed). Then the operation is done in another thread, then an old event is asked,
 * then a kernel that is loaded already is launched in another stream. Prints a JSON object: the operation, its CUresult, its
 * time, those of the query and of the launch in milliseconds (-1: not over after 2 s), how long after the value was written
 * all work was done, and the first error after that. `standing list` names the operations. CUDA_MODULE_LOADING counts.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "standing.h"

static const char *const spin =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry spin(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<2>; .reg .pred %q;\n"
    "ld.param.u64 %d1, [p];\nagain: ld.volatile.global.u32 %r1, [%d1]; setp.ne.u32 %q, %r1, 77; @%q bra again; ret; }\n";

static CUfunction spinning;
static CUdeviceptr word;
static uint32_t *volatile host_word;

static atomic_int over, outcome;

static void *in_thread(void *operation)
{
    cuCtxSetCurrent(world.context);
    atomic_store(&outcome, (*(int (**)(void))operation)());
    atomic_store(&over, 1);
    return NULL;
}

/* Milliseconds until the operation returns; -1: it has not, and its thread goes on. */
static double timed(int (*operation)(void), int *result)
{
    static int (*kept[4])(void);
    static int used;
    pthread_t thread;
    int64_t begin = now_ns();
    kept[used] = operation;
    atomic_store(&over, 0);
    if (pthread_create(&thread, NULL, in_thread, &kept[used++]) != 0)
        exit(1);
    while (!atomic_load(&over) && now_ns() - begin < PATIENCE_MS * 1000000ll)
        usleep(50);
    *result = atomic_load(&over) ? atomic_load(&outcome) : 0;
    return atomic_load(&over) ? (double)(now_ns() - begin) / 1e6 : -1;
}

static CUevent old;

static int ask_event(void)
{
    int result = cuEventQuery(old);
    return result == CUDA_ERROR_NOT_READY ? 0 : result;
}

static int launch_first(void)
{
    int result = launch(world.first);
    int64_t begin = now_ns();
    while (!result && (result = cuStreamQuery(world.runs)) == CUDA_ERROR_NOT_READY &&
           now_ns() - begin < PATIENCE_MS * 1000000ll) {
        result = 0;
        usleep(50);
    }
    if (!result && now_ns() - begin >= PATIENCE_MS * 1000000ll)
        pause(); /* it does not return, as far as its caller knows */
    return result;
}

static void begin(const char *how)
{
    void *host;
    int device;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&world.context, device));
    CHECK(cuCtxSetCurrent(world.context));
    CHECK(cuMemAlloc_v2(&world.memory, BYTES));
    CHECK(cuMemHostAlloc(&host, 4096, 2));
    CHECK(cuMemHostGetDevicePointer_v2(&word, host, 0));
    host_word = host;
    if (strcmp(how, "managed") == 0) {
        CHECK(cuMemAllocManaged(&word, 65536, 1));
        host_word = (uint32_t *)(uintptr_t)word;
    }
    *host_word = 0;
    if (strcmp(how, "managed") == 0) {
        CHECK(cuMemAdvise(word, 65536, PREFERRED_LOCATION, device));
        CHECK(cuMemPrefetchAsync(word, 65536, device, NULL));
    }
    CHECK(cuStreamCreate(&world.stands, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&world.runs, CU_STREAM_NON_BLOCKING));
    CHECK(cuModuleLoadData(&world.loaded, two_kernels));
    CHECK(cuModuleGetFunction(&world.first, world.loaded, "first"));
    CHECK(launch(world.first));
    CUmodule spins;
    if (strcmp(how, "wait") != 0) {
        CHECK(cuModuleLoadData(&spins, spin));
        CHECK(cuModuleGetFunction(&spinning, spins, "spin"));
        CHECK(cuFuncLoad(spinning));
    }
    CHECK(cuCtxSynchronize());
}

static void stand_still(void)
{
    void *parameters[] = {&word};
    if (spinning)
        CHECK(cuLaunchKernel(spinning, 1, 1, 1, 1, 1, 1, 0, world.stands, parameters, NULL));
    else
        CHECK(cuStreamWaitValue32_v2(world.stands, word, GO, CU_STREAM_WAIT_VALUE_EQ));
    usleep(100000);
}

static int is_way(const char *how)
{
    return strcmp(how, "wait") == 0 || strcmp(how, "kernel") == 0 || strcmp(how, "managed") == 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (int i = 0; i < operation_count; i++)
            puts(operations[i].name);
        return 0;
    }
    int chosen = 0;
    while (argc == 3 && chosen < operation_count && strcmp(argv[2], operations[chosen].name) != 0)
        chosen++;
    if (argc != 3 || chosen == operation_count || !is_way(argv[1])) {
        fprintf(stderr, "usage: %s wait|kernel|managed OPERATION, or %s list\n", argv[0], argv[0]);
        return 2;
    }
    begin(argv[1]);
    if (operations[chosen].before)
        CHECK(operations[chosen].before());
    CHECK(cuEventCreate(&old, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventRecord(old, world.runs));
    CHECK(cuCtxSynchronize());
    stand_still();
    int result, later;
    double took = timed(operations[chosen].run, &result);
    double asked = timed(ask_event, &later);
    double then = timed(launch_first, &later);
    int64_t written = now_ns();
    *host_word = GO;
    int after = cuCtxSynchronize();
    printf("{\"operation\":\"%s\",\"how\":\"%s\",\"error\":%d,\"ms\":%.2f,\"query_ms\":%.2f,\"launch_ms\":%.2f,"
           "\"end_ms\":%.2f,\"after\":%d}\n",
           operations[chosen].name, argv[1], result, took, asked, then, (double)(now_ns() - written) / 1e6,
           after ? after : later);
    fflush(stdout);
    _exit(0);
}
