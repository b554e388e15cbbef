/* Every kind of graph node through the driver API: made, asked for, changed, run. One line each, with "ok" or "WRONG". */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult result = (call);                                                                                      \
        if (result != CUDA_SUCCESS) {                                                                                  \
            const char *name = "?";                                                                                    \
            cuGetErrorName(result, &name);                                                                             \
            printf("FAILED %s: %s\n", #call, name);                                                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static const char *const code = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                ".visible .entry add(.param .u64 to, .param .u32 amount) {\n"
                                "  .reg .b32 %r<3>; .reg .b64 %d<2>;\n"
                                "  ld.param.u64 %d1, [to]; ld.param.u32 %r1, [amount];\n"
                                "  atom.global.add.u32 %r2, [%d1], %r1;\n  ret;\n}\n";

static CUstream stream;
static CUdeviceptr data;
static CUfunction add;

static void say(const char *what, long got, long wanted)
{
    printf("%s %ld %s\n", what, got, got == wanted ? "ok" : "WRONG");
}

static unsigned value(void)
{
    unsigned got = 0;
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(&got, data, sizeof got));
    return got;
}

static void run(CUgraph graph)
{
    CUgraphExec exec;
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(exec));
}

static CUgraphNode set_to(CUgraph graph, unsigned to)
{
    CUgraphNode node;
    CUcontext context;
    CUDA_MEMSET_NODE_PARAMS memset_to = {.dst = data, .value = to, .elementSize = 4, .width = 1, .height = 1};
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &memset_to, context));
    return node;
}

static CUgraphNode add_to(CUgraph graph, CUgraphNode after, unsigned amount)
{
    CUgraphNode node;
    void *parameters[] = {&data, &amount};
    CUDA_KERNEL_NODE_PARAMS launch = {.func = add,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = parameters};
    CHECK(cuGraphAddKernelNode(&node, graph, &after, after != NULL, &launch));
    return node;
}

static void kernels(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_to(graph, set_to(graph, 100), 7);
    CUDA_KERNEL_NODE_PARAMS asked;
    CHECK(cuGraphKernelNodeGetParams(node, &asked));
    say("kernel parameter told", *(unsigned *)asked.kernelParams[1], 7);
    say("kernel's function told", asked.func == add, 1);
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    say("kernel node", value(), 107);
    unsigned amount = 9;
    void *parameters[] = {&data, &amount};
    asked.kernelParams = parameters;
    CHECK(cuGraphExecKernelNodeSetParams(exec, node, &asked));
    CHECK(cuGraphLaunch(exec, stream));
    say("kernel node changed in the executable", value(), 109);
    amount = 11;
    CHECK(cuGraphKernelNodeSetParams(node, &asked));
    CUgraphExecUpdateResultInfo info;
    CHECK(cuGraphExecUpdate(exec, graph, &info));
    CHECK(cuGraphLaunch(exec, stream));
    say("updated", value(), 111);
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

static void memsets_and_copies(unsigned *pinned)
{
    CUgraph graph;
    CUgraphNode copy;
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphNode set = set_to(graph, 5);
    CUDA_MEMSET_NODE_PARAMS told;
    CHECK(cuGraphMemsetNodeGetParams(set, &told));
    say("memset told", told.value, 5);
    told.value = 6;
    CHECK(cuGraphMemsetNodeSetParams(set, &told));
    CUDA_MEMCPY3D down = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = data,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = pinned,
                          .WidthInBytes = 4,
                          .Height = 1,
                          .Depth = 1};
    CHECK(cuGraphAddMemcpyNode(&copy, graph, &set, 1, &down, context));
    CUDA_MEMCPY3D asked;
    CHECK(cuGraphMemcpyNodeGetParams(copy, &asked));
    say("copy told", asked.dstHost == pinned && asked.WidthInBytes == 4, 1);
    *pinned = 0;
    run(graph);
    say("memset and copy", *pinned, 6);
    asked.dstHost = pinned + 1;
    CHECK(cuGraphMemcpyNodeSetParams(copy, &asked));
    run(graph);
    say("copy elsewhere", pinned[1], 6);
    CHECK(cuGraphDestroy(graph));
}

static void called(void *with)
{
    ++*(int *)with;
}

static void host_functions(void)
{
    int first = 0, second = 0;
    CUgraph graph, clone;
    CUgraphNode node, twin;
    CUDA_HOST_NODE_PARAMS call = {called, &first}, told;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddHostNode(&node, graph, NULL, 0, &call));
    CUgraphNodeType type;
    CHECK(cuGraphNodeGetType(node, &type));
    say("host node's type", type, CU_GRAPH_NODE_TYPE_HOST);
    CHECK(cuGraphHostNodeGetParams(node, &told));
    say("host node told", told.fn == called && told.userData == &first, 1);
    run(graph);
    run(graph);
    say("host node", first, 2);
    CHECK(cuGraphClone(&clone, graph));
    CHECK(cuGraphNodeFindInClone(&twin, node, clone));
    CHECK(cuGraphNodeGetType(twin, &type));
    say("its clone's type", type, CU_GRAPH_NODE_TYPE_HOST);
    call.userData = &second;
    CHECK(cuGraphHostNodeSetParams(node, &call));
    run(graph);
    run(clone);
    say("host node changed", first * 10 + second, 31);
    CHECK(cuGraphDestroy(clone));
    CHECK(cuGraphDestroy(graph));
}

static void children_and_events(void)
{
    CUgraph child, graph, told;
    CUgraphNode node, record, wait;
    CUevent event;
    CHECK(cuEventCreate(&event, 0));
    CHECK(cuGraphCreate(&child, 0));
    add_to(child, set_to(child, 40), 2);
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    CHECK(cuGraphAddEventRecordNode(&record, graph, &node, 1, event));
    CHECK(cuGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    CHECK(cuGraphChildGraphNodeGetGraph(node, &told));
    size_t nodes = 0;
    CHECK(cuGraphGetNodes(told, NULL, &nodes));
    say("child's nodes", (long)nodes, 2);
    run(graph);
    CHECK(cuEventSynchronize(event));
    say("child graph", value(), 42);
    CHECK(cuGraphDestroy(graph));
    CHECK(cuGraphDestroy(child));
    CHECK(cuEventDestroy(event));
}

static void memory_operations(void)
{
    CUgraph graph;
    CUgraphNode node;
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    CUstreamBatchMemOpParams write = {
        .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = data, .value = 77}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS operations = {context, 1, &write, 0}, told;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &operations));
    CHECK(cuGraphBatchMemOpNodeGetParams(node, &told));
    say("operations told", told.count == 1 && told.paramArray[0].writeValue.value == 77, 1);
    run(graph);
    say("memory operations", value(), 77);
    CHECK(cuGraphDestroy(graph));
}

static void allocations(void)
{
    CUgraph graph;
    CUgraphNode make, set, copy, end;
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    CUDA_MEM_ALLOC_NODE_PARAMS asked = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                        .bytesize = 4096},
                               told;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemAllocNode(&make, graph, NULL, 0, &asked));
    CHECK(cuGraphMemAllocNodeGetParams(make, &told));
    say("allocation told", told.dptr == asked.dptr && told.bytesize == 4096, 1);
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = asked.dptr, .value = 31, .elementSize = 4, .width = 1024, .height = 1};
    CHECK(cuGraphAddMemsetNode(&set, graph, &make, 1, &fill, context));
    CUDA_MEMCPY3D out = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = asked.dptr + 4092,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = data,
                         .WidthInBytes = 4,
                         .Height = 1,
                         .Depth = 1};
    CHECK(cuGraphAddMemcpyNode(&copy, graph, &set, 1, &out, context));
    CHECK(cuGraphAddMemFreeNode(&end, graph, &copy, 1, asked.dptr));
    run(graph);
    say("allocation node", value(), 31);
    CHECK(cuGraphDestroy(graph));
}

static void any_nodes(void)
{
    CUgraph graph;
    CUgraphNode set, launch, host;
    int calls = 0;
    unsigned amount = 3;
    void *parameters[] = {&data, &amount};
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphNodeParams node = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    node.memset = (CUDA_MEMSET_NODE_PARAMS_v2){
        .dst = data, .value = 20, .elementSize = 4, .width = 1, .height = 1, .ctx = context};
    CHECK(cuGraphAddNode(&set, graph, NULL, NULL, 0, &node));
    memset(&node, 0, sizeof node);
    node.type = CU_GRAPH_NODE_TYPE_KERNEL;
    node.kernel = (CUDA_KERNEL_NODE_PARAMS_v3){.func = add,
                                               .gridDimX = 2,
                                               .gridDimY = 1,
                                               .gridDimZ = 1,
                                               .blockDimX = 1,
                                               .blockDimY = 1,
                                               .blockDimZ = 1,
                                               .kernelParams = parameters};
    CHECK(cuGraphAddNode(&launch, graph, &set, NULL, 1, &node));
    amount = 4;
    CHECK(cuGraphNodeSetParams(launch, &node));
    memset(&node, 0, sizeof node);
    node.type = CU_GRAPH_NODE_TYPE_HOST;
    node.host = (CUDA_HOST_NODE_PARAMS_v2){.fn = called, .userData = &calls};
    CHECK(cuGraphAddNode(&host, graph, &launch, NULL, 1, &node));
    run(graph);
    say("nodes by their parameters", value() * 10 + (unsigned)calls, 281);
    CHECK(cuGraphDestroy(graph));
}

static void captures(void)
{
    CUgraph graph, same;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphNode set = set_to(graph, 8);
    CHECK(cuStreamBeginCaptureToGraph(stream, graph, &set, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    unsigned amount = 1;
    void *parameters[] = {&data, &amount};
    CHECK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    CHECK(cuStreamEndCapture(stream, &same));
    say("captured into the graph", same == graph, 1);
    run(graph);
    say("its result", value(), 9);
    CHECK(cuGraphDestroy(graph));
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    unsigned *pinned;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, code));
    CHECK(cuModuleGetFunction(&add, module, "add"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&data, 256));
    CHECK(cuMemHostAlloc((void **)&pinned, 4096, 0));
    kernels();
    memsets_and_copies(pinned);
    host_functions();
    children_and_events();
    memory_operations();
    allocations();
    any_nodes();
    captures();
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFree(data));
    return 0;
}
