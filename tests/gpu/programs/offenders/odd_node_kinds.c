/* Nodes of each kind with odd parameters, and with what they use destroyed before or after they are instantiated. */
#include <stdlib.h>
#include <sys/mman.h>

#include "odd.h"

static void kernel_node_of_an_unloaded_module(void)
{
    CUDA_KERNEL_NODE_PARAMS params;
    CUgraph clone;
    CUgraphNode node = odd_kernel_node(the.graph);
    CALL(cuModuleUnload, the.module);
    CALL(cuGraphKernelNodeGetParams, node, &params);
    CALL(cuGraphClone, &clone, the.graph);
    odd_launch_graph(the.graph);
}

static void kernel_node_unloaded_before_launch(void)
{
    CUgraphExec executable;
    CUgraphExecUpdateResultInfo info;
    odd_kernel_node(the.graph);
    NEED(cuGraphInstantiate, &executable, the.graph, 0);
    CALL(cuModuleUnload, the.module);
    CALL(cuGraphExecUpdate, executable, the.graph, &info);
    CALL(cuGraphUpload, executable, the.stream);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuStreamSynchronize, the.stream);
    CALL(cuGraphExecDestroy, executable);
    CALL(cuGraphDestroy, the.graph);
}

static void kernel_node_without_parameters(void)
{
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS params = odd_kernel_params();
    params.kernelParams = NULL;
    CALL(cuGraphAddKernelNode, &node, the.graph, NULL, 0, &params);
    params.func = NULL;
    CALL(cuGraphAddKernelNode, &node, the.graph, NULL, 0, &params);
    odd_launch_graph(the.graph);
}

static void kernel_node_of_odd_sizes(void)
{
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS params = odd_kernel_params();
    params.gridDimX = 0;
    CALL(cuGraphAddKernelNode, &node, the.graph, NULL, 0, &params);
    params = odd_kernel_params();
    params.blockDimX = params.blockDimY = ~0u;
    CALL(cuGraphAddKernelNode, &node, the.graph, NULL, 0, &params);
    params = odd_kernel_params();
    params.sharedMemBytes = ~0u;
    CALL(cuGraphAddKernelNode, &node, the.graph, NULL, 0, &params);
    odd_launch_graph(the.graph);
}

static void kernel_node_with_extra(void)
{
    CUgraphNode node;
    size_t size = 1 << 20, small = 0;
    CUDA_KERNEL_NODE_PARAMS params = odd_kernel_params();
    params.kernelParams = NULL;
    void *large[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, the.pinned, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    void *none[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, the.pinned, CU_LAUNCH_PARAM_BUFFER_SIZE, &small,
                    CU_LAUNCH_PARAM_END};
    void *ends[] = {CU_LAUNCH_PARAM_END};
    params.extra = large;
    CALL(cuGraphAddKernelNode, &node, the.graph, NULL, 0, &params);
    params.extra = none;
    CALL(cuGraphAddKernelNode, &node, the.graph, NULL, 0, &params);
    params.extra = ends;
    CALL(cuGraphAddKernelNode, &node, the.graph, NULL, 0, &params);
}

static void copy_node_of_odd_sizes(void)
{
    CUgraphNode node;
    CUDA_MEMCPY3D params = odd_copy_params();
    params.WidthInBytes = 0;
    CALL(cuGraphAddMemcpyNode, &node, the.graph, NULL, 0, &params, the.context);
    params = odd_copy_params();
    params.Height = params.Depth = 0;
    CALL(cuGraphAddMemcpyNode, &node, the.graph, NULL, 0, &params, the.context);
    params = odd_copy_params();
    params.Height = 4;
    params.srcPitch = params.dstPitch = ~(size_t)0;
    CALL(cuGraphAddMemcpyNode, &node, the.graph, NULL, 0, &params, the.context);
    params.srcPitch = params.dstPitch = 16;
    CALL(cuGraphAddMemcpyNode, &node, the.graph, NULL, 0, &params, the.context);
    params = odd_copy_params();
    params.srcMemoryType = 77;
    CALL(cuGraphAddMemcpyNode, &node, the.graph, NULL, 0, &params, the.context);
    odd_launch_graph(the.graph);
}

static void copy_node_overlaps(void)
{
    CUgraphNode node;
    CUDA_MEMCPY3D params = odd_copy_params();
    params.dstDevice = the.memory + 16;
    CALL(cuGraphAddMemcpyNode, &node, the.graph, NULL, 0, &params, the.context);
    params.dstDevice = the.memory;
    CALL(cuGraphAddMemcpyNode, &node, the.graph, NULL, 0, &params, the.context);
    odd_launch_graph(the.graph);
}

static void copy_node_of_a_destroyed_array(void)
{
    CUarray array;
    CUgraphNode node;
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = 64, .Height = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CUDA_MEMCPY3D params = odd_copy_params();
    NEED(cuArrayCreate, &array, &shape);
    params.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    params.dstArray = array;
    params.WidthInBytes = 64;
    params.Height = 64;
    params.srcPitch = 64;
    CALL(cuGraphAddMemcpyNode, &node, the.graph, NULL, 0, &params, the.context);
    CALL(cuArrayDestroy, array);
    CALL(cuGraphMemcpyNodeGetParams, node, &params);
    odd_launch_graph(the.graph);
}

static void copy_node_of_freed_memory(void)
{
    CUgraphExec executable;
    odd_memcpy_node(the.graph);
    odd_memset_node(the.graph);
    CALL(cuMemFree, the.other_memory);
    CALL(cuGraphInstantiate, &executable, the.graph, 0);
    CALL(cuGraphExecDestroy, executable);
}

static void copy_node_of_host_memory_that_is_gone(void)
{
    CUgraphNode node;
    CUgraphExec executable = NULL;
    CUDA_MEMCPY3D params = odd_copy_params();
    void *pages = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CALL(cuMemHostRegister, pages, 65536, 0);
    params.srcMemoryType = CU_MEMORYTYPE_HOST;
    params.srcHost = pages;
    CALL(cuGraphAddMemcpyNode, &node, the.graph, NULL, 0, &params, the.context);
    CALL(cuGraphInstantiate, &executable, the.graph, 0);
    CALL(cuMemHostUnregister, pages);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuStreamSynchronize, the.stream);
}

static void copy_node_of_freed_pinned_memory(void)
{
    CUgraphNode node;
    CUDA_MEMCPY3D params = odd_copy_params();
    params.srcMemoryType = CU_MEMORYTYPE_HOST;
    params.srcHost = the.pinned;
    CALL(cuGraphAddMemcpyNode, &node, the.graph, NULL, 0, &params, the.context);
    CALL(cuMemFreeHost, the.pinned);
    CALL(cuGraphMemcpyNodeGetParams, node, &params);
    CUgraphExec executable;
    CALL(cuGraphInstantiate, &executable, the.graph, 0);
}

static void fill_node_of_odd_sizes(void)
{
    static const size_t widths[] = {0, 1, 3, (size_t)1 << 40, ~(size_t)0};
    CUgraphNode node;
    for (unsigned element = 0; element < 9; element++)
        for (int at = 0; at < 5; at++) {
            CUDA_MEMSET_NODE_PARAMS params = odd_memset_params();
            params.elementSize = element;
            params.width = widths[at];
            params.height = widths[4 - at];
            params.pitch = at;
            CALL(cuGraphAddMemsetNode, &node, the.graph, NULL, 0, &params, the.context);
        }
}

static void fill_node_of_odd_addresses(void)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS params = odd_memset_params();
    params.dst = the.memory + 1;
    params.elementSize = 4;
    CALL(cuGraphAddMemsetNode, &node, the.graph, NULL, 0, &params, the.context);
    params = odd_memset_params();
    params.dst = (CUdeviceptr)(uintptr_t)the.pinned;
    CALL(cuGraphAddMemsetNode, &node, the.graph, NULL, 0, &params, the.context);
    params.dst = 0;
    CALL(cuGraphAddMemsetNode, &node, the.graph, NULL, 0, &params, the.context);
    params = odd_memset_params();
    CALL(cuGraphAddMemsetNode, &node, the.graph, NULL, 0, &params, NULL);
}

static void event_nodes_of_destroyed_events(void)
{
    CUgraphNode record, wait;
    CUevent event;
    NEED(cuEventCreate, &event, CU_EVENT_DEFAULT);
    CALL(cuGraphAddEventRecordNode, &record, the.graph, NULL, 0, event);
    CALL(cuGraphAddEventWaitNode, &wait, the.graph, &record, 1, event);
    CALL(cuEventDestroy, event);
    CALL(cuGraphEventRecordNodeGetEvent, record, &event);
    CALL(cuGraphEventWaitNodeSetEvent, wait, event);
    odd_launch_graph(the.graph);
}

static void event_node_destroyed_before_launch(void)
{
    CUgraphNode node;
    CUgraphExec executable;
    CUevent event;
    NEED(cuEventCreate, &event, CU_EVENT_DEFAULT);
    CALL(cuGraphAddEventRecordNode, &node, the.graph, NULL, 0, event);
    CALL(cuGraphInstantiate, &executable, the.graph, 0);
    CALL(cuEventDestroy, event);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuGraphExecEventRecordNodeSetEvent, executable, node, event);
    CALL(cuStreamSynchronize, the.stream);
}

static void event_nodes_of_odd_events(void)
{
    CUgraphNode node;
    CUevent shared;
    CALL(cuEventCreate, &shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    CALL(cuGraphAddEventRecordNode, &node, the.graph, NULL, 0, shared);
    CALL(cuGraphAddEventWaitNode, &node, the.graph, NULL, 0, the.event);
    CALL(cuGraphAddEventRecordNode, &node, the.graph, &node, 1, the.event);
    CALL(cuGraphAddEventWaitNode, &node, the.graph, &node, 1, the.event);
    odd_launch_graph(the.graph);
}

static void memory_nodes_freed_twice(void)
{
    CUgraphNode allocation, node;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = 4096};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.location.id = the.device;
    if (CALL(cuGraphAddMemAllocNode, &allocation, the.graph, NULL, 0, &params) != CUDA_SUCCESS)
        return;
    CALL(cuGraphAddMemFreeNode, &node, the.graph, NULL, 0, params.dptr);
    CALL(cuGraphAddMemFreeNode, &node, the.graph, &allocation, 1, params.dptr);
    CALL(cuGraphAddMemFreeNode, &node, the.graph, &allocation, 1, params.dptr);
    CALL(cuGraphAddMemFreeNode, &node, the.other_graph, NULL, 0, params.dptr);
    CALL(cuMemFree, params.dptr);
    CALL(cuGraphDestroyNode, allocation);
    CALL(cuGraphClone, &the.other_graph, the.graph);
    odd_launch_graph(the.graph);
}

static void memory_nodes_of_odd_sizes(void)
{
    static const size_t sizes[] = {0, 1, (size_t)1 << 50, ~(size_t)0};
    CUgraphNode node;
    for (int at = 0; at < 4; at++) {
        CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = sizes[at]};
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        CALL(cuGraphAddMemAllocNode, &node, the.graph, NULL, 0, &params);
        params.poolProps.location.id = 77;
        params.poolProps.handleTypes = 77;
        CALL(cuGraphAddMemAllocNode, &node, the.graph, NULL, 0, &params);
    }
    CALL(cuGraphAddMemFreeNode, &node, the.graph, NULL, 0, the.memory);
}

static void batch_nodes_of_odd_operations(void)
{
    static CUstreamBatchMemOpParams operations[300];
    CUgraphNode node;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.ctx = the.context, .paramArray = operations};
    CALL(cuGraphAddBatchMemOpNode, &node, the.graph, NULL, 0, &params);
    params.count = 1;
    for (unsigned kind = 0; kind < 9; kind++) {
        operations[0].operation = kind;
        CALL(cuGraphAddBatchMemOpNode, &node, the.graph, NULL, 0, &params);
    }
    for (int at = 0; at < 300; at++) {
        operations[at].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        operations[at].writeValue.address = the.memory;
    }
    params.count = 300;
    CALL(cuGraphAddBatchMemOpNode, &node, the.graph, NULL, 0, &params);
}

static void callback(void *data)
{
    CALL(cuCtxSynchronize);
    CALL(cuMemFree, *(CUdeviceptr *)data);
    CALL(cuGraphDestroy, the.graph);
}

static void host_node_calls_the_driver(void)
{
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS params = {.fn = callback, .userData = &the.other_memory};
    CALL(cuGraphAddHostNode, &node, the.graph, NULL, 0, &params);
    odd_launch_graph(the.graph);
}

const struct odd_case odd_node_kinds[] = {
    ODD_CASE(kernel_node_of_an_unloaded_module,
             "the module of a kernel node is unloaded, then the node is asked and launched"),
    ODD_CASE(kernel_node_unloaded_before_launch, "the module of an instantiated kernel node is unloaded"),
    ODD_CASE(kernel_node_without_parameters, "kernel nodes without parameters and without a function"),
    ODD_CASE(kernel_node_of_odd_sizes, "kernel nodes of odd grids, blocks and shared memory"),
    ODD_CASE(kernel_node_with_extra, "kernel nodes with parameters of odd sizes"),
    ODD_CASE(copy_node_of_odd_sizes, "copy nodes of odd sizes, pitches and memory types"),
    ODD_CASE(copy_node_overlaps, "copy nodes whose source and destination overlap"),
    ODD_CASE(copy_node_of_a_destroyed_array, "the array of a copy node is destroyed before it is instantiated"),
    ODD_CASE(copy_node_of_freed_memory, "the memory of nodes is freed before they are instantiated"),
    ODD_CASE(copy_node_of_host_memory_that_is_gone, "the host memory of a copy node is unregistered before the launch"),
    ODD_CASE(copy_node_of_freed_pinned_memory, "the pinned memory of a copy node is freed before it is instantiated"),
    ODD_CASE(fill_node_of_odd_sizes, "fill nodes of odd elements, widths and heights"),
    ODD_CASE(fill_node_of_odd_addresses, "fill nodes of odd addresses and without a context"),
    ODD_CASE(event_nodes_of_destroyed_events, "the event of event nodes is destroyed before they are instantiated"),
    ODD_CASE(event_node_destroyed_before_launch, "the event of an instantiated node is destroyed"),
    ODD_CASE(event_nodes_of_odd_events, "event nodes of events for other processes and without times"),
    ODD_CASE(memory_nodes_freed_twice, "the memory of an allocation node is freed several times"),
    ODD_CASE(memory_nodes_of_odd_sizes, "allocation nodes of odd sizes and places"),
    ODD_CASE(batch_nodes_of_odd_operations, "nodes of odd operations on memory"),
    ODD_CASE(host_node_calls_the_driver, "a host node calls the driver"),
    {0},
};
