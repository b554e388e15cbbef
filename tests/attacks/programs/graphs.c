/* Nodes of graphs that name the victim's memory: when made, when changed, in the executable, in a clone, by an update. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "attack.h"
#include "cuda_constants.h"

static handle graph, executable, node, context;
static CUdeviceptr victim, own;

static void begin(void)
{
    victim = fact("device");
    own = own_memory();
    NEED(cuDevicePrimaryCtxRetain(&context, 0));
    NEED(cuGraphCreate(&graph, 0));
}

static void run(void)
{
    handle made = executable;
    if (!made && cuGraphInstantiate(&made, graph, 0) != 0)
        return;
    cuGraphLaunch(made, 0);
    cuCtxSynchronize();
    loot_device(own, LOOT_BYTES);
}

static struct copy_3d copy_of(CUdeviceptr to, CUdeviceptr from)
{
    return (struct copy_3d){.source_type = 2,
                            .source_device = from,
                            .target_type = 2,
                            .target_device = to,
                            .width = LOOT_BYTES,
                            .height = 1,
                            .depth = 1};
}

static struct memset_node memset_of(CUdeviceptr to)
{
    return (struct memset_node){.target = to, .value = 7, .element_bytes = 4, .width = 16, .height = 1};
}

static void copies(void)
{
    begin();
    struct copy_3d from = copy_of(own, victim), to = copy_of(victim, own), own_copy = copy_of(own, own + 4096);
    ANSWER(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &from, context));
    ANSWER(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &to, context));
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &own_copy, context));
    ANSWER(cuGraphMemcpyNodeSetParams(node, &from));
    NEED(cuGraphInstantiate(&executable, graph, 0));
    ANSWER(cuGraphExecMemcpyNodeSetParams(executable, node, &to, context));
    ANSWER(cuGraphExecMemcpyNodeSetParams(executable, node, &from, context));
    run();
}

static void array_boxes(void)
{
    handle array = 0;
    begin();
    NEED(cuArrayCreate(&array, &(struct array_shape){16, 32, 3, 1}));
    struct copy_3d from = copy_of(own, 0), to = copy_of(0, own), own_copy = copy_of(own, own + 4096);
    from.source_type = to.target_type = 3;
    from.source_array = to.target_array = array;
    from.source_y = to.target_y = ((size_t)1 << 63) - 32;
    from.width = to.width = 64;
    from.height = to.height = 32;
    from.target_pitch = to.source_pitch = 64;
    ANSWER(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &from, context));
    ANSWER(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &to, context));
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &own_copy, context));
    ANSWER(cuGraphMemcpyNodeSetParams(node, &from));
    NEED(cuGraphInstantiate(&executable, graph, 0));
    ANSWER(cuGraphExecMemcpyNodeSetParams(executable, node, &to, context));
    ANSWER(cuGraphExecMemcpyNodeSetParams(executable, node, &from, context));
    run();
}

static void memsets(void)
{
    begin();
    struct memset_node set = memset_of(victim), own_set = memset_of(own), wide = memset_of(own), tall = memset_of(own);
    wide.width = (size_t)1 << 62;
    tall.pitch = victim - own;
    tall.height = 2;
    ANSWER(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, context));
    ANSWER(cuGraphAddMemsetNode(&node, graph, NULL, 0, &wide, context));
    ANSWER(cuGraphAddMemsetNode(&node, graph, NULL, 0, &tall, context));
    NEED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &own_set, context));
    ANSWER(cuGraphMemsetNodeSetParams(node, &set));
    NEED(cuGraphInstantiate(&executable, graph, 0));
    ANSWER(cuGraphExecMemsetNodeSetParams(executable, node, &set, context));
    ANSWER(cuGraphExecMemsetNodeSetParams(executable, node, &tall, context));
    run();
}

static void operations(void)
{
    begin();
    struct memory_operation write = {.operation = 5, .address = victim, .value = 7}, own_write = write;
    own_write.address = own;
    struct operations_node bad = {context, 1, &write, 0}, good = {context, 1, &own_write, 0};
    ANSWER(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &bad));
    NEED(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &good));
    NEED(cuGraphInstantiate(&executable, graph, 0));
    ANSWER(cuGraphExecBatchMemOpNodeSetParams(executable, node, &bad));
    run();
}

static void any(void)
{
    begin();
    struct any_node set = {.type = 2}, move = {.type = 1}, release = {.type = 11};
    struct memset_node target = memset_of(victim);
    struct copy_3d copy = copy_of(own, victim);
    memcpy(set.body, &target, sizeof target);
    memcpy(move.body + 16, &copy, sizeof copy);
    memcpy(release.body, &victim, sizeof victim);
    ANSWER(cuGraphAddNode(&node, graph, NULL, NULL, 0, &set));
    ANSWER(cuGraphAddNode(&node, graph, NULL, NULL, 0, &move));
    ANSWER(cuGraphAddNode(&node, graph, NULL, NULL, 0, &release));
    run();
}

static void frees(void)
{
    begin();
    ANSWER(cuGraphAddMemFreeNode(&node, graph, NULL, 0, victim));
    ANSWER(cuGraphAddMemFreeNode(&node, graph, NULL, 0, fact("pool")));
    run();
}

/*
 * A graph's objects remain in its clone and its executable after their memory was freed and may belong to another
 * client.
 */
static void stale(void)
{
    begin();
    CUdeviceptr gone = 0;
    handle clone = 0;
    NEED(cuMemAlloc(&gone, OWN_BYTES));
    struct copy_3d copy = copy_of(own, gone);
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    NEED(cuGraphInstantiate(&executable, graph, 0));
    NEED(cuGraphClone(&clone, graph));
    NEED(cuMemFree(gone));
    run();
    executable = 0;
    graph = clone;
    run();
}

static void captured(void)
{
    begin();
    handle stream = 0;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    answer(cuMemcpyDtoDAsync(own, victim, LOOT_BYTES, stream), "copy");
    CUresult ended = cuStreamEndCapture(stream, &graph);
    if (ended == 0)
        run();
}

static void updated(void)
{
    begin();
    handle other = 0, set = 0;
    struct memset_node own_set = memset_of(own), bad = memset_of(victim);
    unsigned char information[64] = {0};
    NEED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &own_set, context));
    NEED(cuGraphInstantiate(&executable, graph, 0));
    NEED(cuGraphCreate(&other, 0));
    answer(cuGraphAddMemsetNode(&set, other, NULL, 0, &bad, context), "node of the update");
    cuGraphExecUpdate(executable, other, information);
    run();
}

/* Nothing but memsets, which no word ends; as many as a graph takes, and launches until it goes. */
static void moves(void)
{
    CUdeviceptr large = 0;
    enum { BYTES = 64 << 20, NODES = 5000, LAUNCHES = 400 };
    begin();
    NEED(cuMemAlloc(&large, BYTES));
    struct memset_node set = memset_of(large);
    set.element_bytes = 1;
    set.width = BYTES;
    for (int i = 0; i < NODES; i++) {
        handle before = node;
        if (cuGraphAddMemsetNode(&node, graph, i ? &before : NULL, i != 0, &set, context) != 0)
            break;
    }
    NEED(cuGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < LAUNCHES; i++)
        NEED(cuGraphLaunch(executable, 0));
    usleep(300000);
    _exit(0);
}

static const char nothing_text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";

/* Three streams of it capture, one into a graph that is there; what the captures name is freed and unloaded before it dies. */
static void dies_capturing(void)
{
    begin();
    for (int i = 0; i < 3; i++) {
        handle stream = 0, module = 0, function = 0;
        void *pinned = NULL;
        NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        NEED(cuMemHostAlloc(&pinned, 1 << 16, 0));
        NEED(cuModuleLoadData(&module, nothing_text));
        NEED(cuModuleGetFunction(&function, module, "nothing"));
        NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        NEED(cuMemcpyHtoDAsync(own, pinned, 1 << 16, stream));
        NEED(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
        NEED(cuMemsetD32Async(own, 7, 64, stream));
        if (i == 1)
            cuMemFreeHost(pinned);
        if (i == 2)
            cuModuleUnload(module);
    }
    raise(SIGKILL);
}

static const struct attack attacks[] = {
    {"copies", REFUSED, "copy nodes made, changed, and changed in the executable to reach the victim", copies},
    {"array_boxes", REFUSED, "copies boxes of an array that begin so far away that a sum wraps", array_boxes},
    {"memsets", REFUSED, "memset nodes made, changed, and changed in the executable, with pitch and overflow", memsets},
    {"operations", REFUSED, "memory operation nodes on the victim's memory", operations},
    {"any", REFUSED, "nodes of the general form on the victim's memory", any},
    {"frees", REFUSED, "nodes that free the victim's memory", frees},
    {"stale", HARMLESS, "launches a graph and a clone whose memory was freed", stale},
    {"dies_capturing", ENDS, "is killed while three of its streams capture, and what they name is gone already",
     dies_capturing},
    {"moves", ENDS, "leaves a queue of graphs of memsets behind that is as long as may be", moves},
    {"captured", HARMLESS, "captures a copy of the victim's memory and launches it", captured},
    {"updated", REFUSED, "updates an executable by a graph that writes the victim's memory", updated},
};
ATTACKS(attacks)
