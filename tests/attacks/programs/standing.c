/*
 * Streams and kernels that stand still while a call wants the whole context: a driver waits in some calls for all streams
 * and lets nobody submit meanwhile. A program that stands still must keep only itself waiting, or be ended. The victim
 * loads modules and gives memory back all the time.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attack.h"
#include "cuda_constants.h"

enum { NEVER = 77, LONG_S = 9, SHORT_S = 1, MANY = 40 };

static const char *const module_text = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                       ".visible .entry nothing() { ret; }\n.visible .entry nothing_too() { ret; }\n";
static const char *const endless_text =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry endless(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<2>; .reg .pred %q;\n"
    "ld.param.u64 %d1, [p];\nagain: ld.volatile.global.u32 %r1, [%d1]; setp.ne.u32 %q, %r1, 77; @%q bra again; ret; }\n";

static void leave(int unused)
{
    (void)unused;
    _exit(0);
}

/* Whatever it is in by then. */
static void leave_after(unsigned seconds)
{
    signal(SIGALRM, leave);
    alarm(seconds);
}

static void stand(void)
{
    handle stream = 0;
    CUdeviceptr own = own_memory();
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuStreamWaitValue32(stream, own, NEVER, CU_STREAM_WAIT_VALUE_EQ));
}

static void load(void)
{
    handle module = 0, function = 0;
    cuModuleLoadData(&module, module_text);
    cuModuleGetFunction(&function, module, "nothing");
    cuModuleUnload(module);
}

static void loads(void)
{
    leave_after(SHORT_S);
    stand();
    load();
}

static void frees(void)
{
    void *pinned = NULL;
    handle array = 0;
    const struct array_shape shape = {256, 256, 0x20, 1};
    leave_after(SHORT_S);
    NEED(cuMemHostAlloc(&pinned, 1 << 16, 0));
    NEED(cuArrayCreate(&array, &shape));
    stand();
    cuArrayDestroy(array);
    cuMemFreeHost(pinned);
}

static void stays(void)
{
    leave_after(LONG_S);
    stand();
    ANSWER(cuCtxSynchronize());
}

static void many(void)
{
    handle stream = 0;
    CUdeviceptr own = own_memory();
    leave_after(LONG_S);
    for (int i = 0; i < MANY && cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == 0; i++)
        cuStreamWaitValue32(stream, own, NEVER, CU_STREAM_WAIT_VALUE_EQ);
    ANSWER(cuCtxSynchronize());
}

static void never_back(void *unused)
{
    (void)unused;
    pause();
}

static void host(void)
{
    handle stream = 0;
    leave_after(LONG_S);
    own_memory();
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuLaunchHostFunc(stream, never_back, NULL));
    ANSWER(cuCtxSynchronize());
}

/* A thread of its own changes pages meanwhile, for which the tenant's streams have to rest. */
static void *change_pages(void *unused)
{
    handle memory = 0;
    CUdeviceptr at = 0;
    const size_t bytes = 2 << 20;
    const struct allocation_properties properties = {.type = 1, .location = {1, 0}};
    const struct access access = {{1, 0}, 3};
    need(cuMemCreate(&memory, bytes, &properties, 0), "memory");
    need(cuMemAddressReserve(&at, bytes, 0, 0, 0), "addresses");
    for (;;) {
        cuMemMap(at, bytes, 0, memory, 0);
        cuMemSetAccess(at, bytes, &access, 1);
        cuMemUnmap(at, bytes);
    }
    return unused;
}

static void pages(void)
{
    pthread_t thread;
    handle stream = 0, module = 0, function = 0;
    CUdeviceptr own = own_memory();
    void *parameters[] = {&own};
    leave_after(SHORT_S);
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuModuleLoadData(&module, endless_text));
    NEED(cuModuleGetFunction(&function, module, "endless"));
    NEED(cuMemsetD32(own, NEVER, 1)); /* it ends at once */
    NEED(cuLaunchHostFunc(stream, never_back, NULL));
    NEED(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    need(pthread_create(&thread, NULL, change_pages, NULL), "a thread");
    pause();
}

static void run_for_ever(void)
{
    handle module = 0, function = 0, stream = 0;
    CUdeviceptr own = own_memory();
    void *parameters[] = {&own};
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuModuleLoadData(&module, endless_text));
    NEED(cuModuleGetFunction(&function, module, "endless"));
    NEED(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
}

static void kernel_loads(void)
{
    leave_after(LONG_S);
    run_for_ever();
    load();
    ANSWER(cuCtxSynchronize());
}

static void kernel_frees(void)
{
    void *pinned = NULL;
    leave_after(LONG_S);
    NEED(cuMemHostAlloc(&pinned, 1 << 16, 0));
    run_for_ever();
    cuMemFreeHost(pinned);
    ANSWER(cuCtxSynchronize());
}

/* Kernels that were short until now share an event behind the last of them; the endless one is in the middle. */
static void kernel_behind_short(void)
{
    handle module = 0, other = 0, function = 0, stream = 0;
    CUdeviceptr own = own_memory();
    void *parameters[] = {&own};
    leave_after(LONG_S);
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuModuleLoadData(&other, module_text));
    NEED(cuModuleGetFunction(&function, other, "nothing"));
    NEED(cuModuleLoadData(&module, endless_text));
    NEED(cuModuleGetFunction(&function, module, "endless"));
    NEED(cuMemsetD32(own, NEVER, 1)); /* it ends at once */
    for (int burst = 0; burst < 6; burst++) {
        for (int i = 0; i < 300; i++)
            NEED(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
        NEED(cuStreamSynchronize(stream));
        usleep(150000);
    }
    for (int i = 0; i < 3; i++)
        NEED(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    NEED(cuMemsetD32Async(own, 0, 1, stream));
    NEED(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    cuModuleUnload(other);
    ANSWER(cuCtxSynchronize());
}

/* A graph that waits is left alone: nothing else may hide in it. */
static void graph(void)
{
    handle module = 0, function = 0, stream = 0, made = 0, node = 0, executable = 0, context = 0;
    CUdeviceptr own = own_memory();
    void *parameters[] = {&own};
    struct memory_operation wait = {
        .operation = 1, .address = own + 64, .value = NEVER, .flags = CU_STREAM_WAIT_VALUE_EQ};
    leave_after(LONG_S);
    NEED(cuDevicePrimaryCtxRetain(&context, 0));
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuModuleLoadData(&module, endless_text));
    NEED(cuModuleGetFunction(&function, module, "endless"));
    struct kernel_node kernel = {
        .function = function, .grid = {4096, 1, 1}, .block = {256, 1, 1}, .parameters = parameters};
    struct operations_node operations = {.context = context, .count = 1, .operations = &wait};
    NEED(cuGraphCreate(&made, 0));
    NEED(cuGraphAddKernelNode(&node, made, NULL, 0, &kernel));
    NEED(cuGraphAddBatchMemOpNode(&node, made, NULL, 0, &operations));
    NEED(cuGraphInstantiate(&executable, made, 0));
    NEED(cuGraphLaunch(executable, stream));
    ANSWER(cuCtxSynchronize());
}

static const struct attack attacks[] = {
    {"loads", HARMLESS, "loads a module while a stream of its own waits for what never comes", loads},
    {"frees", HARMLESS, "frees an array and pinned memory while a stream of its own waits for what never comes", frees},
    {"stays", ENDS, "stays, and a stream of its own waits for what never comes", stays},
    {"many", ENDS, "stays, and forty streams of its own wait for what never comes", many},
    {"host", ENDS, "stays, and a stream of its own waits for a host function that does not return", host},
    {"pages", ENDS,
     "goes while it changes pages and a stream of its own waits for a host function that does not return", pages},
    {"graph", ENDS, "stays, and a graph of its own waits for what never comes beside a kernel that never ends", graph},
    {"kernel_loads", ENDS, "loads a module while a kernel of its own runs for ever", kernel_loads},
    {"kernel_behind_short", ENDS, "unloads a module while a kernel of its own runs for ever behind many short ones",
     kernel_behind_short},
    {"kernel_frees", ENDS, "frees pinned memory while a kernel of its own runs for ever", kernel_frees},
};
ATTACKS(attacks)
