/* Launches: odd sizes, parameters and attributes, and what is asked about occupancy. */
#include "odd.h"

static void launches_of_odd_sizes(void)
{
    void *parameters[] = {&the.memory};
    CALL(cuLaunchKernel, the.add, 0, 1, 1, 1, 1, 1, 0, the.stream, parameters, NULL);
    CALL(cuLaunchKernel, the.add, 1, 1, 1, 0, 0, 0, 0, the.stream, parameters, NULL);
    CALL(cuLaunchKernel, the.add, ~0u, ~0u, ~0u, 1, 1, 1, 0, the.stream, parameters, NULL);
    CALL(cuLaunchKernel, the.add, 1, 65536, 65536, 1, 1, 1, 0, the.stream, parameters, NULL);
    CALL(cuLaunchKernel, the.add, 1, 1, 1, 65536, 65536, 1, 0, the.stream, parameters, NULL);
    CALL(cuLaunchKernel, the.add, 1, 1, 1, 1u << 31, 2, 1, 0, the.stream, parameters, NULL);
    CALL(cuLaunchKernel, the.add, 1, 1, 1, 1, 1, 1, ~0u, the.stream, parameters, NULL);
    CALL(cuLaunchKernel, the.add, 1, 1, 1, 1, 1, 1, 1u << 20, the.stream, parameters, NULL);
}

static void launches_without_parameters(void)
{
    void *parameters[] = {&the.memory};
    void *ends[] = {CU_LAUNCH_PARAM_END};
    CALL(cuLaunchKernel, the.add, 1, 1, 1, 1, 1, 1, 0, the.stream, NULL, NULL);
    CALL(cuLaunchKernel, the.add, 1, 1, 1, 1, 1, 1, 0, the.stream, NULL, ends);
    CALL(cuLaunchKernel, the.add, 1, 1, 1, 1, 1, 1, 0, the.stream, parameters, ends);
    CALL(cuLaunchKernel, NULL, 1, 1, 1, 1, 1, 1, 0, the.stream, parameters, NULL);
}

static void launches_with_extra(void)
{
    static const size_t sizes[] = {0, 1, 7, 8, 9, 4096, 32764, 40000, 65536};
    for (unsigned at = 0; at < sizeof sizes / sizeof *sizes; at++) {
        size_t size = sizes[at];
        memcpy(the.pinned, &the.memory, 8);
        void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, the.pinned, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                         CU_LAUNCH_PARAM_END};
        CALL(cuLaunchKernel, the.add, 1, 1, 1, 1, 1, 1, 0, the.stream, NULL, extra);
    }
    void *half[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, the.pinned, CU_LAUNCH_PARAM_END};
    CALL(cuLaunchKernel, the.add, 1, 1, 1, 1, 1, 1, 0, the.stream, NULL, half);
    size_t size = 8;
    void *other[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CALL(cuLaunchKernel, the.add, 1, 1, 1, 1, 1, 1, 0, the.stream, NULL, other);
}

static void cooperative_launches_odd(void)
{
    void *parameters[] = {&the.memory};
    CALL(cuLaunchCooperativeKernel, the.add, 1u << 20, 1, 1, 1024, 1, 1, 0, the.stream, parameters);
    CALL(cuLaunchCooperativeKernel, the.add, 0, 0, 0, 0, 0, 0, 0, the.stream, parameters);
    CALL(cuLaunchCooperativeKernel, the.add, 1, 1, 1, 1, 1, 1, ~0u, the.stream, parameters);
    CUDA_LAUNCH_PARAMS many[2] = {{.function = the.add, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1}};
    many[0].blockDimX = many[0].blockDimY = many[0].blockDimZ = 1;
    many[0].hStream = the.stream;
    many[0].kernelParams = parameters;
    many[1] = many[0];
    CALL(cuLaunchCooperativeKernelMultiDevice, many, 2, 0);
    CALL(cuLaunchCooperativeKernelMultiDevice, many, 0, ~0u);
}

static CUlaunchConfig small(CUlaunchAttribute *attributes, unsigned count)
{
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    config.hStream = the.stream;
    config.attrs = attributes;
    config.numAttrs = count;
    return config;
}

static void launch_attributes_of_every_id(void)
{
    void *parameters[] = {&the.memory};
    for (unsigned id = 0; id < 24; id++)
        for (int filled = 0; filled < 2; filled++) {
            CUlaunchAttribute attribute = {0};
            if (filled &&
                (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT || id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT ||
                 id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE))
                continue; /* an invented handle */
            memset(&attribute.value, filled ? 0xff : 0, sizeof attribute.value);
            attribute.id = id;
            CUlaunchConfig config = small(&attribute, 1);
            CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
        }
}

static void launch_attributes_1000(void)
{
    static CUlaunchAttribute attributes[1000];
    void *parameters[] = {&the.memory};
    for (int at = 0; at < 1000; at++) {
        attributes[at].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        attributes[at].value.priority = at;
    }
    CUlaunchConfig config = small(attributes, 1000);
    CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
    config.attrs = NULL;
    config.numAttrs = 0;
    CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
    config.numAttrs = 1;
    config.attrs = attributes;
    attributes[0].id = 0x7fffffff;
    CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
    CALL(cuLaunchKernelEx, NULL, the.add, parameters, NULL);
}

static void launch_clusters_odd(void)
{
    static const unsigned sizes[] = {0, 1, 3, 16, 1000, 1u << 31, ~0u};
    void *parameters[] = {&the.memory};
    int clusters;
    for (int at = 0; at < 7; at++) {
        CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
        attribute.value.clusterDim.x = sizes[at];
        attribute.value.clusterDim.y = sizes[(at + 1) % 7];
        attribute.value.clusterDim.z = 1;
        CUlaunchConfig config = small(&attribute, 1);
        CALL(cuOccupancyMaxActiveClusters, &clusters, the.add, &config);
        CALL(cuOccupancyMaxPotentialClusterSize, &clusters, the.add, &config);
        CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
        attribute.value.clusterDim.y = 1;
        CALL(cuOccupancyMaxActiveClusters, &clusters, the.add, &config);
        CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
    }
}

static void launch_events_odd(void)
{
    void *parameters[] = {&the.memory};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT};
    CUlaunchConfig config = small(&attribute, 1);
    attribute.value.programmaticEvent.event = the.event;
    attribute.value.programmaticEvent.flags = 77;
    CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
    attribute.value.programmaticEvent.flags = 0;
    CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
    CALL(cuEventDestroy, the.event);
    CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
    attribute.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    attribute.value.launchCompletionEvent.event = the.event;
    CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
}

static void launch_updatable_nodes_odd(void)
{
    void *parameters[] = {&the.memory};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE};
    CUlaunchConfig config = small(&attribute, 1);
    CUgraph graph;
    attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
    CALL(cuStreamBeginCapture, the.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    CALL(cuLaunchKernelEx, &config, the.add, parameters, NULL);
    CALL(cuStreamEndCapture, the.stream, &graph);
    odd_launch_graph(graph);
    odd_launch_graph(graph);
}

static int no_memory(int block)
{
    return block > 100 ? 1 << 30 : -1;
}

static size_t CUDA_CB shared_of(int block)
{
    return (size_t)no_memory(block);
}

static void occupancy_odd(void)
{
    static const int values[] = {0, -1, 1, 0x7fffffff, -0x7fffffff};
    int blocks, size;
    size_t bytes;
    for (int at = 0; at < 5; at++) {
        CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, the.add, values[at], (size_t)values[at]);
        CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, &blocks, the.add, values[at], 0, ~0u);
        CALL(cuOccupancyMaxPotentialBlockSize, &blocks, &size, the.add, NULL, (size_t)values[at], values[at]);
        CALL(cuOccupancyAvailableDynamicSMemPerBlock, &bytes, the.add, values[at], values[4 - at]);
    }
    CALL(cuOccupancyMaxPotentialBlockSize, &blocks, &size, the.add, shared_of, 0, 0);
    CALL(cuOccupancyMaxPotentialBlockSizeWithFlags, &blocks, &size, the.add, shared_of, ~(size_t)0, -1, ~0u);
}

/* A kernel of 32,000 bytes of parameters, given fewer and more. */
static void launch_of_many_parameters(void)
{
    static const char *const text =
        ".version 8.1\n.target sm_70\n.address_size 64\n"
        ".visible .entry many(.param .align 8 .b8 p[32000]) { .reg .b64 %d<2>;\nld.param.u64 %d1, [p+31992]; ret; }\n";
    CUmodule module = NULL;
    CUfunction function = NULL;
    void *parameters[] = {the.pinned};
    size_t size = 8;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, the.pinned, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    if (CALL(cuModuleLoadData, &module, text) != CUDA_SUCCESS ||
        CALL(cuModuleGetFunction, &function, module, "many") != CUDA_SUCCESS)
        return;
    CALL(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, the.stream, parameters, NULL);
    CALL(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, the.stream, NULL, extra);
    size = 65000;
    CALL(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, the.stream, NULL, extra);
}

static void launches_by_old_calls(void)
{
    CALL(cuLaunch, the.add);
    CALL(cuFuncSetBlockShape, the.add, -1, 0, 0);
    CALL(cuFuncSetSharedSize, the.add, ~0u);
    CALL(cuParamSetSize, the.add, ~0u);
    CALL(cuParamSeti, the.add, 0x7fffffff, 1);
    CALL(cuParamSetv, the.add, -8, the.pinned, 16);
    CALL(cuParamSetv, the.add, 4000, the.pinned, 4096);
    CALL(cuLaunchGrid, the.add, -1, -1);
    CALL(cuLaunchGridAsync, the.add, 0, 0, the.stream);
}

const struct odd_case odd_launches[] = {
    ODD_CASE(launches_of_odd_sizes, "launches of odd grids, blocks and shared memory"),
    ODD_CASE(launches_without_parameters, "launches without parameters or function"),
    ODD_CASE(launches_with_extra, "launches with parameters of odd sizes"),
    ODD_CASE(cooperative_launches_odd, "cooperative launches that are too large, and of two functions on one device"),
    ODD_CASE(launch_attributes_of_every_id, "launches with each attribute of zeros and of ones"),
    ODD_CASE(launch_attributes_1000, "a launch with 1,000 attributes and with an unknown one"),
    ODD_CASE(launch_clusters_odd, "launches of odd clusters"),
    ODD_CASE(launch_events_odd, "launches that record odd and destroyed events"),
    ODD_CASE(launch_updatable_nodes_odd, "launches that make nodes for the device to update"),
    ODD_CASE(occupancy_odd, "occupancy of odd blocks and shared memory"),
    ODD_CASE(launch_of_many_parameters, "launches of 32,000 bytes of parameters, with fewer and more"),
    ODD_CASE(launches_by_old_calls, "launches by the calls of CUDA 3 with odd offsets"),
    {0},
};
