/* Contexts, devices and their limits: destroyed, popped and reset while there is work, and asked with odd numbers. */
#include <cudaProfiler.h>
#include <pthread.h>

#include "odd.h"

static void primary_context_destroyed(void)
{
    CUcontext popped;
    odd_keep_busy(the.stream, 100);
    CALL(cuCtxDestroy, the.context);
    CALL(cuCtxDetach, the.context);
    CALL(cuCtxPopCurrent, &popped);
    CALL(cuCtxPopCurrent, &popped);
    CALL(cuStreamSynchronize, the.stream);
    CALL(cuCtxPushCurrent, the.context);
    CALL(cuCtxPushCurrent, NULL);
    CALL(cuCtxPopCurrent, &popped);
    CALL(cuCtxSetCurrent, the.context);
}

static void primary_context_reset_in_mid_work(void)
{
    odd_keep_busy(the.stream, 100);
    CALL(cuDevicePrimaryCtxReset, the.device);
    CALL(cuStreamSynchronize, the.stream);
    odd_launch(the.add, the.stream);
    CALL(cuMemFree, the.memory);
    CALL(cuGraphDestroy, the.graph);
    CALL(cuDevicePrimaryCtxRetain, &the.context, the.device);
    CALL(cuCtxSetCurrent, the.context);
}

static void primary_context_released_too_often(void)
{
    odd_keep_busy(the.stream, 100);
    CALL(cuDevicePrimaryCtxRelease, the.device);
    CALL(cuDevicePrimaryCtxRelease, the.device);
    CALL(cuDevicePrimaryCtxRelease, the.device);
    odd_launch(the.add, the.stream);
    CALL(cuModuleUnload, the.module);
    CALL(cuDevicePrimaryCtxRetain, &the.context, the.device);
    CALL(cuCtxSetCurrent, the.context);
}

static void context_destroyed_with_work(void)
{
    CUcontext context;
    CUctxCreateParams params = {0};
    CUstream stream;
    CUdeviceptr memory = 0;
    if (CALL(cuCtxCreate, &context, &params, 0, the.device) != CUDA_SUCCESS)
        return;
    CALL(cuStreamCreate, &stream, 0);
    CALL(cuMemAlloc, &memory, 4096);
    CALL(cuMemsetD8Async, memory, 1, 4096, stream);
    CALL(cuMemsetD8Async, memory, 1, 4096, the.stream);
    odd_launch(the.add, stream);
    CALL(cuCtxDestroy, context);
    CALL(cuCtxDestroy, context);
    CALL(cuStreamSynchronize, stream);
    CALL(cuMemFree, memory);
    CALL(cuCtxSetCurrent, the.context);
}

static void contexts_mixed(void)
{
    CUcontext context, of;
    CUctxCreateParams params = {0};
    CUgraphExec executable;
    CUevent event;
    if (CALL(cuCtxCreate, &context, &params, 0, the.device) != CUDA_SUCCESS)
        return;
    CALL(cuEventCreate, &event, 0);
    CALL(cuEventRecord, event, the.stream);
    CALL(cuStreamGetCtx, the.stream, &of);
    CALL(cuCtxSynchronize);
    odd_kernel_node(the.graph);
    CALL(cuGraphInstantiate, &executable, the.graph, 0);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuCtxSetCurrent, the.context);
    CALL(cuCtxDestroy, context);
    CALL(cuEventRecord, event, the.stream);
    CALL(cuEventDestroy, event);
}

static void contexts_of_odd_flags(void)
{
    CUcontext context;
    CUctxCreateParams params = {0};
    CUexecAffinityParam affinity = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT};
    CALL(cuCtxCreate, &context, &params, ~0u, the.device);
    params.execAffinityParams = &affinity;
    params.numExecAffinityParams = 1;
    CALL(cuCtxCreate, &context, &params, 0, the.device);
    params.numExecAffinityParams = -1;
    CALL(cuCtxCreate, &context, &params, 0, the.device);
    CALL(cuDevicePrimaryCtxSetFlags, the.device, ~0u);
    CALL(cuCtxSetFlags, ~0u);
    CALL(cuCtxSetCurrent, the.context);
}

static void pushed_10000_times(void)
{
    CUcontext popped;
    odd_say("cuCtxPushCurrent, 10000 times");
    for (int many = 0; many < 10000; many++)
        QUIET(cuCtxPushCurrent, the.context);
    for (int many = 0; many < 10003; many++)
        QUIET(cuCtxPopCurrent, &popped);
    CALL(cuCtxPopCurrent, &popped);
    CALL(cuCtxSetCurrent, the.context);
}

static void limits_odd(void)
{
    static const size_t values[] = {0, 1, (size_t)1 << 50, ~(size_t)0};
    size_t value;
    for (unsigned id = 0; id < 12; id++)
        for (int at = 0; at < 4; at++) {
            CALL(cuCtxSetLimit, id, values[at]);
            CALL(cuCtxGetLimit, &value, id);
        }
    CALL(cuCtxSetLimit, 0x7fffffff, 1);
    CALL(cuCtxSetCacheConfig, 77);
    CALL(cuCtxSetSharedMemConfig, 77);
    odd_launch(the.add, the.stream);
}

static void limit_of_the_stack_in_mid_work(void)
{
    odd_keep_busy(the.stream, 100);
    CALL(cuCtxSetLimit, CU_LIMIT_STACK_SIZE, 0);
    odd_launch(the.add, the.stream);
    CALL(cuCtxSetLimit, CU_LIMIT_STACK_SIZE, 4 << 10);
    odd_launch(the.add, the.stream);
    CALL(cuCtxSetLimit, CU_LIMIT_STACK_SIZE, 1 << 30);
    odd_launch(the.add, the.stream);
}

static void limit_of_printf_and_heap(void)
{
    CALL(cuCtxSetLimit, CU_LIMIT_PRINTF_FIFO_SIZE, 1);
    CALL(cuCtxSetLimit, CU_LIMIT_PRINTF_FIFO_SIZE, (size_t)1 << 40);
    CALL(cuCtxSetLimit, CU_LIMIT_MALLOC_HEAP_SIZE, (size_t)1 << 40);
    CALL(cuCtxSetLimit, CU_LIMIT_PERSISTING_L2_CACHE_SIZE, ~(size_t)0);
    CALL(cuCtxResetPersistingL2Cache);
    odd_launch(the.add, the.stream);
}

static void graph_memory_trimmed(void)
{
    cuuint64_t value = ~0ull;
    CALL(cuDeviceGraphMemTrim, the.device);
    CALL(cuDeviceGraphMemTrim, 77);
    for (unsigned id = 0; id < 6; id++) {
        CALL(cuDeviceGetGraphMemAttribute, the.device, id, &value);
        value = ~0ull;
        CALL(cuDeviceSetGraphMemAttribute, the.device, id, &value);
    }
}

static void devices_asked_oddly(void)
{
    int value, priority;
    CUdevice device;
    char name[8];
    static char attributes[4096];
    CUdevprop properties;
    for (int id = -2; id < 160; id++)
        CALL(cuDeviceGetAttribute, &value, id, the.device);
    CALL(cuDeviceGetAttribute, &value, 1, -1);
    CALL(cuDeviceGetAttribute, &value, 1, 0x7fffffff);
    CALL(cuDeviceGetName, name, 0, the.device);
    CALL(cuDeviceGetName, name, -1, the.device);
    CALL(cuDeviceGetByPCIBusId, &device, "ffffffffff:ff:ff.ff");
    CALL(cuDeviceGetByPCIBusId, &device, "");
    CALL(cuDeviceGetPCIBusId, name, 1, the.device);
    CALL(cuDeviceGetPCIBusId, name, -1, the.device);
    CALL(cuDeviceGetProperties, &properties, 77);
    CALL(cuDeviceCanAccessPeer, &value, the.device, the.device);
    CALL(cuCtxEnablePeerAccess, the.context, 0);
    CALL(cuCtxEnablePeerAccess, the.context, ~0u);
    CALL(cuCtxDisablePeerAccess, the.context);
    CALL(cuDeviceGetP2PAttribute, &value, 77, the.device, the.device);
    CALL(cuDeviceGetNvSciSyncAttributes, attributes, the.device, 77);
    CALL(cuFlushGPUDirectRDMAWrites, 77, 77);
    CALL(cuCtxGetStreamPriorityRange, NULL, &priority);
}

static void green_contexts_odd(void)
{
    CUdevResource whole, parts[4], rest;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    CUcontext context = NULL;
    CUstream stream = NULL;
    unsigned count = 4;
    if (CALL(cuDeviceGetDevResource, the.device, &whole, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS)
        return;
    CALL(cuDevSmResourceSplitByCount, parts, &count, &whole, &rest, ~0u, 0);
    count = ~0u;
    CALL(cuDevSmResourceSplitByCount, NULL, &count, &whole, &rest, 0, 1);
    count = 4;
    CALL(cuDevSmResourceSplitByCount, parts, &count, &whole, &rest, ~0u, 1000000);
    count = 1;
    CALL(cuDevSmResourceSplitByCount, parts, &count, &whole, &whole, 0, 8);
    CALL(cuDevResourceGenerateDesc, &description, parts, 0);
    CALL(cuDevResourceGenerateDesc, &description, parts, 1);
    CALL(cuGreenCtxCreate, &green, description, the.device, 0);
    if (CALL(cuGreenCtxCreate, &green, description, the.device, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS)
        return;
    CALL(cuCtxFromGreenCtx, &context, green);
    CALL(cuGreenCtxStreamCreate, &stream, green, 0, 0);
    CALL(cuGreenCtxStreamCreate, &stream, green, CU_STREAM_NON_BLOCKING, -1000);
    odd_keep_busy(stream, 100);
    CALL(cuCtxDestroy, context);
    CALL(cuGreenCtxDestroy, green);
    CALL(cuGreenCtxDestroy, green);
    CALL(cuStreamSynchronize, stream);
}

static void profiler_odd(void)
{
    CALL(cuProfilerStop);
    CALL(cuProfilerStart);
    CALL(cuProfilerStart);
    CALL(cuProfilerStop);
    CALL(cuProfilerStop);
}

static void asked_for_entries_oddly(void)
{
    void *entry;
    CUdriverProcAddressQueryResult how;
    static char long_name[70000];
    memset(long_name, 'c', sizeof long_name - 1);
    CALL(cuGetProcAddress, long_name, &entry, 12000, 0, &how);
    CALL(cuGetProcAddress, "", &entry, 12000, 0, &how);
    CALL(cuGetProcAddress, "cuMemAlloc", &entry, -1, 0, &how);
    CALL(cuGetProcAddress, "cuMemAlloc", &entry, 0x7fffffff, ~0ull, NULL);
    const char *text;
    CALL(cuGetErrorName, -1, &text);
    CALL(cuGetErrorString, 0x7fffffff, &text);
}

static void *work(void *unused)
{
    (void)unused;
    void *parameters[] = {&the.memory};
    QUIET(cuCtxSetCurrent, the.context);
    for (int many = 0; many < 300; many++) {
        CUgraphNode node;
        QUIET(cuGraphAddEmptyNode, &node, the.graph, NULL, 0);
        QUIET(cuLaunchKernel, the.add, 1, 1, 1, 1, 1, 1, 0, the.stream, parameters, NULL);
        QUIET(cuGraphDestroyNode, node);
    }
    return NULL;
}

static void threads_change_one_graph(void)
{
    pthread_t threads[8];
    int started = 0;
    odd_say("8 threads add nodes to one graph and destroy them");
    while (started < 8 && pthread_create(&threads[started], NULL, work, NULL) == 0)
        started++;
    while (started > 0)
        pthread_join(threads[--started], NULL);
    odd_launch_graph(the.graph);
}

const struct odd_case odd_contexts[] = {
    ODD_CASE(primary_context_destroyed, "the primary context is destroyed, popped and pushed while it works"),
    ODD_CASE(primary_context_reset_in_mid_work, "the primary context is reset while it works"),
    ODD_CASE(primary_context_released_too_often, "the primary context is released too often while it works"),
    ODD_CASE(context_destroyed_with_work, "a context is destroyed while it works, and what it made is used"),
    ODD_CASE(contexts_mixed, "what one context made is used in another one"),
    ODD_CASE(contexts_of_odd_flags, "contexts of odd flags and affinities"),
    ODD_CASE(pushed_10000_times, "a context is pushed 10,000 times and popped more often"),
    ODD_CASE(limits_odd, "each limit of no and of huge values"),
    ODD_CASE(limit_of_the_stack_in_mid_work, "the limit of the stack changes while kernels run"),
    ODD_CASE(limit_of_printf_and_heap, "limits of printf, heap and cache of odd values"),
    ODD_CASE(graph_memory_trimmed, "the memory of graphs is trimmed and set"),
    ODD_CASE(devices_asked_oddly, "devices are asked with odd ids, names and lengths"),
    ODD_CASE(green_contexts_odd, "parts of a device of odd sizes, destroyed while they work"),
    ODD_CASE(profiler_odd, "the profiler is started and stopped too often"),
    ODD_CASE(asked_for_entries_oddly, "entries of odd names and versions are looked up"),
    ODD_CASE(threads_change_one_graph, "eight threads change one graph at once"),
    {0},
};
