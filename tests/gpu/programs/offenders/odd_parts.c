/* What many cases of `odd_calls` begin with: nodes, graphs and launches. */
#include "odd.h"

CUgraph odd_new_graph(void)
{
    CUgraph graph = NULL;
    NEED(cuGraphCreate, &graph, 0);
    return graph;
}

CUgraphNode odd_empty_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    NEED(cuGraphAddEmptyNode, &node, graph, NULL, 0);
    return node;
}

CUDA_KERNEL_NODE_PARAMS odd_kernel_params(void)
{
    static void *parameters[1];
    parameters[0] = &the.memory;
    CUDA_KERNEL_NODE_PARAMS params = {0};
    params.func = the.add;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = parameters;
    return params;
}

CUDA_MEMSET_NODE_PARAMS odd_memset_params(void)
{
    CUDA_MEMSET_NODE_PARAMS params = {0};
    params.dst = the.memory;
    params.elementSize = 1;
    params.width = 4096;
    params.height = 1;
    return params;
}

CUDA_MEMCPY3D odd_copy_params(void)
{
    CUDA_MEMCPY3D params = {0};
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    params.srcDevice = the.memory;
    params.dstDevice = the.other_memory;
    params.WidthInBytes = 4096;
    params.Height = params.Depth = 1;
    return params;
}

CUgraphNode odd_kernel_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    CUDA_KERNEL_NODE_PARAMS params = odd_kernel_params();
    NEED(cuGraphAddKernelNode, &node, graph, NULL, 0, &params);
    return node;
}

CUgraphNode odd_memset_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    CUDA_MEMSET_NODE_PARAMS params = odd_memset_params();
    NEED(cuGraphAddMemsetNode, &node, graph, NULL, 0, &params, the.context);
    return node;
}

CUgraphNode odd_memcpy_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    CUDA_MEMCPY3D params = odd_copy_params();
    NEED(cuGraphAddMemcpyNode, &node, graph, NULL, 0, &params, the.context);
    return node;
}

CUgraphNode odd_child_node(CUgraph graph, CUgraph child)
{
    CUgraphNode node = NULL;
    NEED(cuGraphAddChildGraphNode, &node, graph, NULL, 0, child);
    return node;
}

CUgraph odd_inner(CUgraphNode node)
{
    CUgraph inner = NULL;
    NEED(cuGraphChildGraphNodeGetGraph, node, &inner);
    return inner;
}

void odd_launch_graph(CUgraph graph)
{
    CUgraphExec executable = NULL;
    if (CALL(cuGraphInstantiate, &executable, graph, 0) != CUDA_SUCCESS)
        return;
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuStreamSynchronize, the.stream);
    CALL(cuGraphExecDestroy, executable);
}

void odd_keep_busy(CUstream stream, uint64_t milliseconds)
{
    uint64_t nanoseconds = milliseconds * 1000000;
    void *parameters[] = {&nanoseconds};
    CALL(cuLaunchKernel, the.spins, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}

CUresult odd_launch(CUfunction function, CUstream stream)
{
    void *parameters[] = {&the.memory};
    return CALL(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}
