/* Captured work that uses what ends before the graph is launched: nodes do not count what they name. */
#include "odd.h"

static CUgraph end(CUstream stream)
{
    CUgraph graph = NULL;
    CALL(cuStreamEndCapture, stream, &graph);
    return graph;
}

static void begin(void)
{
    CALL(cuStreamBeginCapture, the.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
}

/* Loads and fills modules, so that what was freed holds something else. */
static void reuse(void)
{
    CUmodule module;
    CUdeviceptr memory;
    odd_say("cuModuleLoadData and cuMemAlloc, 20 times");
    for (int many = 0; many < 20; many++) {
        QUIET(cuModuleLoadData, &module, odd_text);
        if (QUIET(cuMemAlloc, &memory, 65536) == CUDA_SUCCESS)
            QUIET(cuMemsetD8, memory, 0xff, 65536);
    }
}

static void captured_module_unloaded(void)
{
    begin();
    odd_launch(the.add, the.stream);
    CALL(cuModuleUnload, the.module);
    CUgraph graph = end(the.stream);
    odd_launch_graph(graph);
}

static void captured_module_unloaded_afterwards(void)
{
    begin();
    odd_launch(the.add, the.stream);
    CUgraph graph = end(the.stream);
    CALL(cuModuleUnload, the.module);
    odd_launch_graph(graph);
}

static void captured_module_unloaded_before_launch(void)
{
    CUgraphExec executable = NULL;
    begin();
    odd_launch(the.add, the.stream);
    CUgraph graph = end(the.stream);
    CALL(cuGraphInstantiate, &executable, graph, 0);
    CALL(cuGraphDestroy, graph);
    CALL(cuModuleUnload, the.module);
    reuse();
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuStreamSynchronize, the.stream);
}

static void captured_module_replaced(void)
{
    begin();
    odd_launch(the.add, the.stream);
    CUgraph graph = end(the.stream);
    CALL(cuModuleUnload, the.module);
    reuse();
    odd_launch_graph(graph);
}

static void captured_library_unloaded(void)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CALL(cuLibraryLoadData, &library, odd_text, NULL, NULL, 0, NULL, NULL, 0);
    CALL(cuLibraryGetKernel, &kernel, library, "add");
    begin();
    odd_launch((CUfunction)kernel, the.stream);
    CUgraph graph = end(the.stream);
    CALL(cuLibraryUnload, library);
    odd_launch_graph(graph);
}

static void captured_attributes_module_unloaded(void)
{
    void *parameters[] = {&the.memory};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    config.hStream = the.stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    begin();
    CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
    CUgraph graph = end(the.stream);
    CALL(cuModuleUnload, the.module);
    odd_launch_graph(graph);
}

static void captured_variable_of_an_unloaded_module(void)
{
    CUdeviceptr variable = 0;
    size_t size;
    CALL(cuModuleGetGlobal, &variable, &size, the.module, "counter");
    begin();
    CALL(cuMemsetD32Async, variable, 7, 1, the.stream);
    CALL(cuMemcpyDtoDAsync, the.memory, variable, 4, the.stream);
    CUgraph graph = end(the.stream);
    CALL(cuModuleUnload, the.module);
    reuse();
    odd_launch_graph(graph);
}

static void captured_pinned_memory_freed(void)
{
    begin();
    CALL(cuMemcpyDtoHAsync, the.pinned, the.memory, 65536, the.stream);
    CALL(cuMemcpyHtoDAsync, the.memory, the.pinned, 65536, the.stream);
    CUgraph graph = end(the.stream);
    CALL(cuMemFreeHost, the.pinned);
    reuse();
    odd_launch_graph(graph);
}

static void captured_array_destroyed(void)
{
    CUarray array = NULL;
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = 4096, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CALL(cuArrayCreate, &array, &shape);
    begin();
    CALL(cuMemcpyHtoAAsync, array, 0, the.pinned, 4096, the.stream);
    CALL(cuMemcpyAtoHAsync, the.pinned, array, 0, 4096, the.stream);
    CUgraph graph = end(the.stream);
    CALL(cuArrayDestroy, array);
    reuse();
    odd_launch_graph(graph);
}

static void captured_memory_unmapped(void)
{
    enum { CHUNK = 2 << 20 };
    CUdeviceptr place = 0;
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp of = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    CUmemAccessDesc access = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    access.location.type = of.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = of.location.id = the.device;
    CALL(cuMemAddressReserve, &place, CHUNK, 0, 0, 0);
    CALL(cuMemCreate, &handle, CHUNK, &of, 0);
    CALL(cuMemMap, place, CHUNK, 0, handle, 0);
    CALL(cuMemSetAccess, place, CHUNK, &access, 1);
    begin();
    CALL(cuMemsetD8Async, place, 1, CHUNK, the.stream);
    CUgraph graph = end(the.stream);
    CALL(cuMemUnmap, place, CHUNK);
    CALL(cuMemRelease, handle);
    reuse();
    odd_launch_graph(graph);
}

static void captured_device_memory_freed(void)
{
    begin();
    odd_launch(the.add, the.stream);
    CALL(cuMemsetD8Async, the.memory, 1, ODD_BYTES, the.stream);
    CALL(cuMemcpyDtoDAsync, the.other_memory, the.memory, ODD_BYTES, the.stream);
    CUgraph graph = end(the.stream);
    CALL(cuMemFree, the.memory);
    CALL(cuMemFree, the.other_memory);
    reuse();
    odd_launch_graph(graph);
}

static void captured_pool_destroyed(void)
{
    CUmemoryPool pool = NULL;
    CUdeviceptr memory = 0;
    CUmemPoolProps of = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED};
    of.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    of.location.id = the.device;
    CALL(cuMemPoolCreate, &pool, &of);
    begin();
    CALL(cuMemAllocFromPoolAsync, &memory, 65536, pool, the.stream);
    CALL(cuMemsetD8Async, memory, 1, 65536, the.stream);
    CALL(cuMemPoolDestroy, pool);
    CUgraph graph = end(the.stream);
    reuse();
    odd_launch_graph(graph);
    odd_launch_graph(graph);
}

static void captured_host_function_calls_the_driver(void)
{
    begin();
    CALL(cuLaunchHostFunc, the.stream, (CUhostFn)odd_say, "called");
    CUgraph graph = end(the.stream);
    odd_launch_graph(graph);
}

static void captured_executable_destroyed(void)
{
    CUgraphExec executable = NULL;
    odd_kernel_node(the.graph);
    CALL(cuGraphInstantiate, &executable, the.graph, 0);
    begin();
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuGraphExecDestroy, executable);
    CALL(cuGraphDestroy, the.graph);
    CUgraph graph = end(the.stream);
    CALL(cuModuleUnload, the.module);
    reuse();
    odd_launch_graph(graph);
}

static void captured_in_an_empty_context_of_its_own(void)
{
    CUcontext context = NULL;
    CUctxCreateParams params = {0};
    CUstream stream = NULL;
    if (CALL(cuCtxCreate, &context, &params, 0, the.device) != CUDA_SUCCESS)
        return;
    CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    CALL(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    CALL(cuMemsetD8Async, the.memory, 1, 4096, stream);
    CUgraph graph = end(stream);
    CALL(cuCtxDestroy, context);
    CALL(cuCtxSetCurrent, the.context);
    odd_launch_graph(graph);
}

const struct odd_case odd_captured[] = {
    ODD_CASE(captured_module_unloaded, "the module of a captured kernel is unloaded during the capture"),
    ODD_CASE(captured_module_unloaded_afterwards, "the module of a captured kernel is unloaded after the capture"),
    ODD_CASE(captured_module_unloaded_before_launch,
             "the module of a captured kernel is unloaded after the graph was made executable"),
    ODD_CASE(captured_module_replaced, "the module of a captured kernel is unloaded, and others are loaded"),
    ODD_CASE(captured_library_unloaded, "the library of a captured kernel is unloaded"),
    ODD_CASE(captured_attributes_module_unloaded, "the module of a kernel that was captured with attributes is unloaded"),
    ODD_CASE(captured_variable_of_an_unloaded_module, "the module of a captured variable is unloaded"),
    ODD_CASE(captured_pinned_memory_freed, "the pinned memory of captured copies is freed"),
    ODD_CASE(captured_array_destroyed, "the array of captured copies is destroyed"),
    ODD_CASE(captured_memory_unmapped, "the memory of a captured fill is unmapped"),
    ODD_CASE(captured_device_memory_freed, "the device memory of captured work is freed"),
    ODD_CASE(captured_pool_destroyed, "the pool of a captured allocation is destroyed"),
    ODD_CASE(captured_host_function_calls_the_driver, "a host function is captured"),
    ODD_CASE(captured_executable_destroyed, "a captured executable, its graph and its module end"),
    ODD_CASE(captured_in_an_empty_context_of_its_own, "the context of a capture is destroyed"),
    {0},
};
