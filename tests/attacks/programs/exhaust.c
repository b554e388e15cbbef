/* Takes all there is of something, and floods. The victim must go on as if nothing was. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "cuda_constants.h"

enum { PROCESSES = 24, THREADS = 64, FLOOD = 60000, NODES = 60000, PARAMETER_NODES = 20000, COPIES = 8 };

static void memory(void)
{
    CUdeviceptr got;
    size_t size = (size_t)1 << 40;
    while (size >= (size_t)1 << 18) {
        if (cuMemAlloc(&got, size) != 0)
            size /= 2;
    }
    handle stream = 0;
    answer(cuMemAllocAsync(&got, (size_t)1 << 40, stream), "more than all");
}

/* As above, for as long as the program likes: the victim loads modules with variables meanwhile. */
static void memory_held(void)
{
    memory();
    usleep(2000000);
}

static void pinned(void)
{
    void *got;
    size_t taken = 0;
    /* As much as a machine of any size has, but not more than it takes a moment to fill. */
    for (int i = 0; i < 64 && cuMemHostAlloc(&got, (size_t)1 << 24, 0) == 0; i++)
        taken += (size_t)1 << 24;
    answer(cuMemHostAlloc(&got, (size_t)1 << 44, 0), "more than all");
    printf("took %zu\n", taken);
}

static void handles(void)
{
    handle made;
    int streams = 0, events = 0, graphs = 0;
    while (streams < 2000 && cuStreamCreate(&made, CU_STREAM_NON_BLOCKING) == 0)
        streams++;
    while (events < 20000 && cuEventCreate(&made, 0) == 0)
        events++;
    while (graphs < 5000 && cuGraphCreate(&made, 0) == 0)
        graphs++;
    printf("took %d %d %d\n", streams, events, graphs);
}

static void modules(void)
{
    static char code[4096];
    handle made;
    for (int i = 0; i < 300; i++) {
        snprintf(code, sizeof code,
                 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .b8 table[65536];\n"
                 ".visible .entry nothing_%d() { ret; }\n",
                 i);
        if (cuModuleLoadData(&made, code) != 0)
            break;
    }
}

static void ring(void)
{
    CUdeviceptr own = own_memory();
    for (int i = 0; i < FLOOD; i++)
        cuMemsetD8Async(own, (unsigned char)i, 16, 0);
    cuCtxSynchronize();
}

static void ring_never_read(void)
{
    CUdeviceptr own = own_memory();
    for (int i = 0; i < FLOOD; i++)
        cuMemsetD8Async(own, (unsigned char)i, 16, 0);
    _exit(0);
}

/* A stream that waits for a value that never comes: what is behind it waits with it, in the attacker alone. */
static void stuck_stream(void)
{
    CUdeviceptr own = own_memory();
    handle stream = 0;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    cuStreamWaitValue32(stream, own, 77, 1);
    for (int i = 0; i < 2000; i++)
        cuMemsetD8Async(own + 4096, 1, 16, stream);
    usleep(500000);
    _exit(0);
}

/* As above, in a stream that is destroyed while it waits, with several waits in sequence. */
static void stuck_destroyed(void)
{
    CUdeviceptr own = own_memory();
    handle stream = 0;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 1; i < 50; i++)
        cuStreamWaitValue32(stream, own + i % 3 * 4, i, 1);
    cuMemsetD8Async(own + 4096, 1, 16, stream);
    cuStreamDestroy(stream);
    usleep(200000);
    _exit(0);
}

/* The same in a stream whose capture failed: a wait that still takes it for captured does not wait for it. */
static void stuck_uncaptured(void)
{
    CUdeviceptr own = own_memory();
    handle stream = 0, forked = 0, event = 0, graph = 0;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuStreamCreate(&forked, CU_STREAM_NON_BLOCKING));
    NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    NEED(cuEventRecord(event, stream));
    NEED(cuStreamWaitEvent(forked, event, 0));
    cuMemsetD8Async(own + 4096, 1, 16, forked);
    cuStreamEndCapture(stream, &graph); /* not joined: refused, and over */
    for (unsigned i = 1; i < 50; i++)
        cuStreamWaitValue32(stream, own + i % 3 * 4, i, 1);
    usleep(200000);
    _exit(0);
}

static void *work(void *unused)
{
    CUdeviceptr got;
    handle stream = 0, context = 0;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    for (int i = 0; i < 40; i++) {
        if (cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == 0 && cuMemAlloc(&got, 4096) == 0) {
            cuMemsetD8Async(got, 1, 4096, stream);
            cuStreamSynchronize(stream);
            cuMemFree(got);
            cuStreamDestroy(stream);
        }
    }
    return unused;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    int started = 0;
    while (started < THREADS && pthread_create(&thread[started], NULL, work, NULL) == 0)
        started++;
    while (started > 0)
        pthread_join(thread[--started], NULL);
}

static void processes(void)
{
    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            execl("/proc/self/exe", "exhaust", "one_of_many", (char *)NULL);
            _exit(1);
        }
    while (wait(NULL) > 0) {
    }
}

static void one_of_many(void)
{
    own_memory();
}

static void limits(void)
{
    cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)1 << 40); /* stack */
    cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)512 << 10);
    cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, (size_t)1 << 40); /* printf's buffer */
    cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, (size_t)1 << 40); /* heap */
    cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, (size_t)1 << 34);
    cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 1 << 20);
    cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, (size_t)1 << 40);
}

/* A driver takes local memory for all threads that the device can run at once, from the context that all share. */
static void local_memory(void)
{
    static const char code[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry deep(.param .u64 out) {\n"
        ".reg .b32 %r<4>; .reg .b64 %d<6>; .local .align 8 .b8 much[524000];\n"
        "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4096; mov.u64 %d3, much;\n"
        "add.u64 %d4, %d3, %d2; st.local.u32 [%d4], %r1; ld.local.u32 %r2, [%d4+8]; st.global.u32 [%d1], %r2; ret; }\n";
    handle module = 0, function = 0;
    CUdeviceptr own = own_memory();
    void *parameters[] = {&own};
    NEED(cuModuleLoadData(&module, code));
    NEED(cuModuleGetFunction(&function, module, "deep"));
    LATER(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, parameters, NULL));
}

static void graph_nodes(void)
{
    handle graph = 0, node = 0, made = 0;
    NEED(cuGraphCreate(&graph, 0));
    for (int i = 0, nodes = count_of(20000); i < nodes && cuGraphAddEmptyNode(&node, graph, NULL, 0) == 0; i++) {
    }
    for (int i = 0; i < 3 && cuGraphInstantiate(&made, graph, 0) == 0; i++)
        cuGraphLaunch(made, 0);
    cuCtxSynchronize();
}

/* Each has the one before it twice. */
static void graph_doubling(void)
{
    handle graph = 0, larger = 0, node = 0;
    CUresult result = 0;
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    for (int i = 0; i < 40 && result == 0; i++) {
        NEED(cuGraphCreate(&larger, 0));
        for (int twice = 0; twice < 2 && result == 0; twice++)
            result = cuGraphAddChildGraphNode(&node, larger, NULL, 0, graph);
        graph = larger;
    }
    answer(result, "a graph of 2^40 nodes");
}

/* As much as there may be of what a driver keeps in host memory: nodes with 4 KB each, and copies of them. */
static void graph_parameters(void)
{
    static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry much(.param .align 8 .b8 all[4000]) { ret; }\n";
    static char all[4096];
    void *parameters[] = {all};
    handle module = 0, function = 0, graph = 0, node = 0, copy = 0;
    CUresult result = 0;
    NEED(cuModuleLoadData(&module, code));
    NEED(cuModuleGetFunction(&function, module, "much"));
    NEED(cuGraphCreate(&graph, 0));
    struct kernel_node much = {.function = function, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters};
    for (int i = 0; i < PARAMETER_NODES && result == 0; i++)
        result = cuGraphAddKernelNode(&node, graph, NULL, 0, &much);
    answer(result, "a graph with 80 MB of parameters");
    for (int i = 0; i < COPIES; i++)
        result = i % 2 == 0 ? cuGraphClone(&copy, graph) : cuGraphInstantiate(&copy, graph, 0);
    cuGraphDestroy(graph);
}

/* Kernels that wait for nothing, all beside each other: a driver that makes them executable looks for streams for them. */
static void graph_wide(void)
{
    static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    handle module = 0, function = 0, graph = 0, node = 0, made = 0;
    CUresult result = 0;
    NEED(cuModuleLoadData(&module, code));
    NEED(cuModuleGetFunction(&function, module, "nothing"));
    NEED(cuGraphCreate(&graph, 0));
    struct kernel_node nothing = {.function = function, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    for (int i = 0, nodes = count_of(PARAMETER_NODES); i < nodes && result == 0; i++)
        result = cuGraphAddKernelNode(&node, graph, NULL, 0, &nothing);
    for (int i = 0; i < COPIES; i++)
        cuGraphInstantiate(&made, graph, 0);
    cuGraphDestroy(graph);
}

/* The graph that took long to make goes at once. */
static void graph_ends(void)
{
    uint64_t outcome[4] = {0}; /* CUgraphExecUpdateResultInfo */
    handle graph = 0, node = 0, before = 0, copy = 0, made = 0, event = 0;
    int nodes = count_of(NODES);
    NEED(cuGraphCreate(&graph, 0));
    for (int i = 0; i < nodes && cuGraphAddEmptyNode(&node, graph, &before, before != 0) == 0; i++) {
        before = i % 3 == 0 ? node : before;
        cuEventCreate(&event, 0);
    }
    cuGraphClone(&copy, graph);
    for (int i = 0; i < 3 && cuGraphInstantiate(&made, graph, 0) == 0; i++) {
        cuGraphLaunch(made, 0);
        cuGraphExecUpdate(made, copy, outcome);
        cuGraphLaunch(made, 0);
    }
    cuCtxSynchronize();
    cuGraphExecDestroy(made);
    cuGraphDestroy(copy);
    cuGraphDestroy(graph);
}

static void contexts(void)
{
    handle made = 0;
    CUresult result = 0;
    for (int i = 0; i < 1000 && result == 0; i++)
        result = cuCtxCreate(&made, 0, 0);
    answer(result, "1,000 contexts");
}

static void killed(void)
{
    CUdeviceptr own = own_memory();
    for (int i = 0; i < 1000; i++)
        cuMemsetD8Async(own, 1, OWN_BYTES, 0);
    kill(getpid(), SIGKILL);
}

static const struct attack attacks[] = {
    {"memory", REFUSED, "takes all of the device's memory", memory},
    {"memory_held", REFUSED, "takes all of the device's memory and keeps it for a while", memory_held},
    {"pinned", REFUSED, "takes pinned memory without end", pinned},
    {"handles", HARMLESS, "makes streams, events and graphs without end", handles},
    {"modules", HARMLESS, "loads modules without end", modules},
    {"ring", HARMLESS, "fills its ring as fast as it can", ring},
    {"ring_never_read", HARMLESS, "fills its ring and goes", ring_never_read},
    {"stuck_stream", HARMLESS, "leaves streams that wait for what never comes", stuck_stream},
    {"stuck_destroyed", HARMLESS, "destroys streams that wait for what never comes", stuck_destroyed},
    {"stuck_uncaptured", HARMLESS, "leaves a stream that waits after its capture failed", stuck_uncaptured},
    {"threads", HARMLESS, "works in many threads at once", threads},
    {"processes", HARMLESS, "comes as many processes at once", processes},
    {"one_of_many", HARMLESS, "is one of them", one_of_many},
    {"local_memory", REFUSED, "a kernel whose local memory would take the device", local_memory},
    {"limits", HARMLESS, "raises the limits of the context to take its memory", limits},
    {"graph_nodes", HARMLESS, "makes and launches graphs of very many nodes", graph_nodes},
    {"graph_doubling", REFUSED, "puts graphs into graphs, each twice", graph_doubling},
    {"graph_parameters", REFUSED " 90", "makes and copies a graph whose nodes have parameters of 4 KB", graph_parameters},
    {"graph_wide", HARMLESS " 90", "makes executable graphs of very many kernels beside each other", graph_wide},
    {"graph_ends", HARMLESS " 90", "clones, launches, updates and destroys a graph of very many nodes", graph_ends},
    {"contexts", REFUSED, "makes contexts without end", contexts},
    {"killed", HARMLESS, "dies with work in progress", killed},
};
ATTACKS(attacks)
