/* Executable graphs: updated with what does not fit, and destroyed while they run. */
#include "odd.h"

enum { BUSY_MS = 200 };

/* A node that keeps a graph busy. */
static void add_busy_node(CUgraph graph)
{
    static uint64_t nanoseconds = BUSY_MS * 1000000ull;
    static void *parameters[] = {&nanoseconds};
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS params = odd_kernel_params();
    params.func = the.spins;
    params.kernelParams = parameters;
    NEED(cuGraphAddKernelNode, &node, graph, NULL, 0, &params);
}

static CUgraphExec executable_of(CUgraph graph)
{
    CUgraphExec executable = NULL;
    NEED(cuGraphInstantiate, &executable, graph, 0);
    return executable;
}

static void executable_destroyed_while_it_runs(void)
{
    add_busy_node(the.graph);
    CUgraphExec executable = executable_of(the.graph);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuGraphExecDestroy, executable);
    CALL(cuGraphExecDestroy, executable);
    CALL(cuGraphLaunch, executable, the.stream);
}

static void graph_destroyed_while_it_runs(void)
{
    add_busy_node(the.graph);
    CUgraphExec executable = executable_of(the.graph);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuGraphDestroy, the.graph);
    CALL(cuGraphDestroy, the.graph);
    CALL(cuGraphLaunch, executable, the.stream);
}

static void module_unloaded_while_a_graph_runs(void)
{
    add_busy_node(the.graph);
    odd_kernel_node(the.graph);
    CUgraphExec executable = executable_of(the.graph);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuModuleUnload, the.module);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuStreamSynchronize, the.stream);
}

static void executable_updated_while_it_runs(void)
{
    CUgraphExecUpdateResultInfo info;
    add_busy_node(the.graph);
    CUgraphExec executable = executable_of(the.graph);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuGraphExecUpdate, executable, the.graph, &info);
    CALL(cuGraphLaunch, executable, the.other_stream);
    CALL(cuStreamDestroy, the.stream);
    CALL(cuStreamDestroy, the.other_stream);
}

static void update_with_another_shape(void)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphNode one = odd_kernel_node(the.graph), two = odd_memset_node(the.graph);
    CALL(cuGraphAddDependencies, the.graph, &one, &two, NULL, 1);
    CUgraphExec executable = executable_of(the.graph);
    CALL(cuGraphExecUpdate, executable, the.other_graph, &info);
    odd_memset_node(the.other_graph);
    CALL(cuGraphExecUpdate, executable, the.other_graph, &info);
    odd_kernel_node(the.other_graph);
    CALL(cuGraphExecUpdate, executable, the.other_graph, &info);
    odd_child_node(the.other_graph, the.graph);
    CALL(cuGraphExecUpdate, executable, the.other_graph, &info);
    CALL(cuGraphExecUpdate, executable, the.other_graph, NULL);
    CALL(cuGraphLaunch, executable, the.stream);
}

static void update_with_a_destroyed_graph(void)
{
    CUgraphExecUpdateResultInfo info;
    odd_kernel_node(the.graph);
    CUgraphExec executable = executable_of(the.graph);
    CALL(cuGraphDestroy, the.graph);
    CALL(cuGraphExecUpdate, executable, the.graph, &info);
    CALL(cuGraphLaunch, executable, the.stream);
}

static void update_with_a_destroyed_node(void)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphNode one = odd_kernel_node(the.graph);
    odd_kernel_node(the.graph);
    CUgraphExec executable = executable_of(the.graph);
    CALL(cuGraphDestroyNode, one);
    CALL(cuGraphExecUpdate, executable, the.graph, &info);
    odd_kernel_node(the.graph);
    CALL(cuGraphExecUpdate, executable, the.graph, &info);
    CALL(cuGraphLaunch, executable, the.stream);
}

static void executable_nodes_of_another_graph(void)
{
    CUDA_KERNEL_NODE_PARAMS kernel = odd_kernel_params();
    CUDA_MEMSET_NODE_PARAMS fill = odd_memset_params();
    CUDA_MEMCPY3D copy = odd_copy_params();
    odd_kernel_node(the.graph);
    CUgraphExec executable = executable_of(the.graph);
    CUgraphNode other = odd_kernel_node(the.other_graph), other_fill = odd_memset_node(the.other_graph);
    CALL(cuGraphExecKernelNodeSetParams, executable, other, &kernel);
    CALL(cuGraphExecKernelNodeSetParams, executable, other_fill, &kernel);
    CALL(cuGraphExecMemsetNodeSetParams, executable, other_fill, &fill, the.context);
    CALL(cuGraphExecMemcpyNodeSetParams, executable, other, &copy, the.context);
    CALL(cuGraphNodeSetEnabled, executable, other, 0);
    CALL(cuGraphLaunch, executable, the.stream);
}

static void executable_nodes_set_as_other_kinds(void)
{
    CUDA_KERNEL_NODE_PARAMS kernel = odd_kernel_params();
    CUDA_MEMSET_NODE_PARAMS fill = odd_memset_params();
    CUDA_MEMCPY3D copy = odd_copy_params();
    CUDA_HOST_NODE_PARAMS host = {0};
    CUgraphNode nodes[] = {odd_empty_node(the.graph), odd_kernel_node(the.graph), odd_memset_node(the.graph),
                           odd_memcpy_node(the.graph), odd_child_node(the.graph, the.other_graph)};
    CUgraphExec executable = executable_of(the.graph);
    for (int at = 0; at < 5; at++) {
        CALL(cuGraphExecKernelNodeSetParams, executable, nodes[at], &kernel);
        CALL(cuGraphExecMemsetNodeSetParams, executable, nodes[at], &fill, the.context);
        CALL(cuGraphExecMemcpyNodeSetParams, executable, nodes[at], &copy, the.context);
        CALL(cuGraphExecHostNodeSetParams, executable, nodes[at], &host);
        CALL(cuGraphExecChildGraphNodeSetParams, executable, nodes[at], the.graph);
        CALL(cuGraphExecEventRecordNodeSetEvent, executable, nodes[at], the.event);
        for (unsigned type = 0; type < 16; type++) {
            CUgraphNodeParams params = {.type = type};
            CALL(cuGraphExecNodeSetParams, executable, nodes[at], &params);
        }
    }
    CALL(cuGraphLaunch, executable, the.stream);
}

static void executable_nodes_enabled(void)
{
    CUgraphNode nodes[] = {odd_empty_node(the.graph), odd_kernel_node(the.graph), odd_memset_node(the.graph),
                           odd_memcpy_node(the.graph), odd_child_node(the.graph, the.other_graph)};
    unsigned enabled;
    CUgraphExec executable = executable_of(the.graph);
    for (int at = 0; at < 5; at++) {
        CALL(cuGraphNodeSetEnabled, executable, nodes[at], 0);
        CALL(cuGraphNodeSetEnabled, executable, nodes[at], 77);
        CALL(cuGraphNodeGetEnabled, executable, nodes[at], &enabled);
        CALL(cuGraphNodeSetEnabled, executable, nodes[at], 0);
    }
    CALL(cuGraphLaunch, executable, the.stream);
}

static void executable_kernel_from_another_module(void)
{
    CUmodule module;
    CUDA_KERNEL_NODE_PARAMS params = odd_kernel_params();
    CUgraphNode node = odd_kernel_node(the.graph);
    CUgraphExec executable = executable_of(the.graph);
    NEED(cuModuleLoadData, &module, odd_text);
    NEED(cuModuleGetFunction, &params.func, module, "add");
    CALL(cuGraphExecKernelNodeSetParams, executable, node, &params);
    CALL(cuModuleUnload, module);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuStreamSynchronize, the.stream);
    CALL(cuGraphExecKernelNodeSetParams, executable, node, &params);
}

static void instantiated_with_odd_flags(void)
{
    CUgraphExec executable;
    odd_kernel_node(the.graph);
    for (int bit = 0; bit < 64; bit++)
        CALL(cuGraphInstantiate, &executable, the.graph, 1ull << bit);
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD};
    params.hUploadStream = the.stream;
    CALL(cuGraphInstantiateWithParams, &executable, the.graph, &params);
    params.flags = ~0ull;
    CALL(cuGraphInstantiateWithParams, &executable, the.graph, &params);
}

static void device_graph_of_what_it_cannot_hold(void)
{
    CUgraphExec executable = NULL;
    odd_child_node(the.graph, the.other_graph);
    odd_memset_node(the.graph);
    CALL(cuGraphInstantiate, &executable, the.graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    CALL(cuGraphInstantiate, &executable, the.other_graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    if (executable) {
        CALL(cuGraphUpload, executable, the.stream);
        CALL(cuGraphLaunch, executable, the.stream);
        CALL(cuGraphExecDestroy, executable);
    }
}

static void executable_launched_after_its_stream(void)
{
    odd_kernel_node(the.graph);
    CUgraphExec executable = executable_of(the.graph);
    CALL(cuGraphUpload, executable, the.stream);
    CALL(cuStreamDestroy, the.stream);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuGraphLaunch, executable, NULL);
    CALL(cuGraphLaunch, executable, CU_STREAM_PER_THREAD);
}

static void executable_with_memory_launched_twice(void)
{
    CUgraphNode node;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = 1 << 20};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.location.id = the.device;
    if (CALL(cuGraphAddMemAllocNode, &node, the.graph, NULL, 0, &params) != CUDA_SUCCESS)
        return;
    CUgraphExec executable = executable_of(the.graph), again;
    CALL(cuGraphInstantiate, &again, the.graph, 0);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuGraphLaunch, again, the.stream);
    CALL(cuMemFreeAsync, params.dptr, the.stream);
    CALL(cuMemFreeAsync, params.dptr, the.stream);
    CALL(cuGraphExecDestroy, executable);
    CALL(cuDeviceGraphMemTrim, the.device);
}

static void nothing(void *data)
{
    (void)data;
}

static void user_objects_of_odd_counts(void)
{
    CUuserObject object;
    CALL(cuUserObjectCreate, &object, NULL, nothing, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    CALL(cuUserObjectCreate, &object, NULL, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    CALL(cuGraphRetainUserObject, the.graph, object, 0, 0);
    CALL(cuGraphRetainUserObject, the.graph, object, 0x7fffffff, 0);
    CALL(cuGraphRetainUserObject, the.graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE);
    CALL(cuUserObjectRetain, object, 0x7fffffff);
    CALL(cuUserObjectRelease, object, 5);
    CALL(cuGraphReleaseUserObject, the.graph, object, 1);
    CALL(cuGraphReleaseUserObject, the.graph, object, 1000);
    CALL(cuGraphReleaseUserObject, the.other_graph, object, 1);
    CALL(cuGraphDestroy, the.graph);
}

static void graph_printed(void)
{
    odd_memcpy_node(the.graph);
    odd_kernel_node(the.graph);
    CALL(cuModuleUnload, the.module);
    CALL(cuGraphDebugDotPrint, the.graph, "/dev/null", ~0u);
    CALL(cuGraphDebugDotPrint, the.graph, "/nowhere/at/all", 1);
    CALL(cuGraphDebugDotPrint, the.graph, "", 1);
}

const struct odd_case odd_executables[] = {
    ODD_CASE(executable_destroyed_while_it_runs, "an executable is destroyed twice while it runs"),
    ODD_CASE(graph_destroyed_while_it_runs, "a graph is destroyed twice while its executable runs"),
    ODD_CASE(module_unloaded_while_a_graph_runs, "the module of a graph that runs is unloaded"),
    ODD_CASE(executable_updated_while_it_runs,
             "an executable is updated and launched while it runs, and the streams destroyed"),
    ODD_CASE(update_with_another_shape, "an executable is updated with graphs of another shape"),
    ODD_CASE(update_with_a_destroyed_graph, "an executable is updated with a graph that was destroyed"),
    ODD_CASE(update_with_a_destroyed_node, "an executable is updated with its graph without a node"),
    ODD_CASE(executable_nodes_of_another_graph, "nodes of another graph are set in an executable"),
    ODD_CASE(executable_nodes_set_as_other_kinds, "nodes of an executable are set as other kinds"),
    ODD_CASE(executable_nodes_enabled, "nodes of every kind are switched off and on"),
    ODD_CASE(executable_kernel_from_another_module, "a node's kernel becomes one of another module, which is unloaded"),
    ODD_CASE(instantiated_with_odd_flags, "a graph is instantiated with each flag"),
    ODD_CASE(device_graph_of_what_it_cannot_hold, "graphs that the device shall launch hold what they cannot"),
    ODD_CASE(executable_launched_after_its_stream, "an executable is launched in a stream that was destroyed"),
    ODD_CASE(executable_with_memory_launched_twice,
             "an executable that allocates is launched twice before the memory is freed"),
    ODD_CASE(user_objects_of_odd_counts, "objects of graphs with counts that are too large"),
    ODD_CASE(graph_printed, "a graph of an unloaded kernel is printed to odd files"),
    {0},
};
