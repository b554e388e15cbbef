/* Captures: into odd graphs, with odd dependencies, and with what they use destroyed meanwhile. */
#include "odd.h"

static const CUstreamCaptureMode LOCAL = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, RELAXED = CU_STREAM_CAPTURE_MODE_RELAXED;

static void end(CUstream stream)
{
    CUgraph graph = NULL;
    if (CALL(cuStreamEndCapture, stream, &graph) == CUDA_SUCCESS && graph)
        odd_launch_graph(graph);
}

static void capture_into_inner_graph(void)
{
    odd_kernel_node(the.other_graph);
    CUgraph inner = odd_inner(odd_child_node(the.graph, the.other_graph));
    CALL(cuStreamBeginCaptureToGraph, the.stream, inner, NULL, NULL, 0, LOCAL);
    odd_launch(the.add, the.stream);
    end(the.stream);
    odd_launch_graph(the.graph);
}

static void capture_depends_on_another_graph(void)
{
    CUgraphNode node = odd_kernel_node(the.other_graph);
    CALL(cuStreamBeginCaptureToGraph, the.stream, the.graph, &node, NULL, 1, LOCAL);
    odd_launch(the.add, the.stream);
    end(the.stream);
}

static void capture_depends_on_a_destroyed_node(void)
{
    CUgraphNode node = odd_kernel_node(the.graph);
    CALL(cuStreamBeginCaptureToGraph, the.stream, the.graph, &node, NULL, 1, LOCAL);
    CALL(cuGraphDestroyNode, node);
    odd_launch(the.add, the.stream);
    end(the.stream);
}

static void capture_into_a_graph_twice(void)
{
    CALL(cuStreamBeginCaptureToGraph, the.stream, the.graph, NULL, NULL, 0, LOCAL);
    CALL(cuStreamBeginCaptureToGraph, the.other_stream, the.graph, NULL, NULL, 0, LOCAL);
    odd_launch(the.add, the.stream);
    odd_launch(the.add, the.other_stream);
    end(the.other_stream);
    end(the.stream);
}

static void capture_into_a_destroyed_graph(void)
{
    CALL(cuStreamBeginCaptureToGraph, the.stream, the.graph, NULL, NULL, 0, LOCAL);
    CALL(cuGraphDestroy, the.graph);
    odd_launch(the.add, the.stream);
    end(the.stream);
}

static void capture_graph_instantiated_meanwhile(void)
{
    CALL(cuStreamBeginCaptureToGraph, the.stream, the.graph, NULL, NULL, 0, RELAXED);
    odd_launch(the.add, the.stream);
    CUgraphExec executable;
    CUgraph clone;
    CUgraphNode node;
    CALL(cuGraphInstantiate, &executable, the.graph, 0);
    CALL(cuGraphClone, &clone, the.graph);
    CALL(cuGraphAddChildGraphNode, &node, the.graph, NULL, 0, the.graph);
    end(the.stream);
}

static void capture_graph_within_itself(void)
{
    CUgraphNode node;
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph = NULL;
    CALL(cuStreamBeginCapture, the.stream, LOCAL);
    odd_launch(the.add, the.stream);
    CALL(cuStreamGetCaptureInfo, the.stream, &status, &id, &graph, NULL, NULL, NULL);
    if (graph) {
        CALL(cuGraphAddChildGraphNode, &node, graph, NULL, 0, graph);
        CALL(cuGraphDestroy, graph);
    }
    odd_launch(the.add, the.stream);
    end(the.stream);
}

static void capture_launches_itself(void)
{
    CUgraphExec executable;
    odd_kernel_node(the.graph);
    NEED(cuGraphInstantiate, &executable, the.graph, 0);
    CALL(cuStreamBeginCaptureToGraph, the.stream, the.graph, NULL, NULL, 0, LOCAL);
    CALL(cuGraphLaunch, executable, the.stream);
    CALL(cuGraphLaunch, executable, the.stream);
    end(the.stream);
}

static void capture_ended_on_another_stream(void)
{
    CUgraph graph;
    CALL(cuStreamBeginCapture, the.stream, LOCAL);
    CALL(cuEventRecord, the.event, the.stream);
    CALL(cuStreamWaitEvent, the.other_stream, the.event, 0);
    CALL(cuStreamEndCapture, the.other_stream, &graph);
    CALL(cuStreamEndCapture, NULL, &graph);
    end(the.stream);
}

static void capture_fork_never_joins(void)
{
    CALL(cuStreamBeginCapture, the.stream, LOCAL);
    CALL(cuEventRecord, the.event, the.stream);
    CALL(cuStreamWaitEvent, the.other_stream, the.event, 0);
    odd_launch(the.add, the.other_stream);
    end(the.stream);
    odd_launch(the.add, the.other_stream);
    CALL(cuStreamSynchronize, the.other_stream);
}

static void capture_stream_destroyed(void)
{
    CUstreamCaptureStatus status;
    CALL(cuStreamBeginCapture, the.stream, LOCAL);
    odd_launch(the.add, the.stream);
    CALL(cuStreamDestroy, the.stream);
    CALL(cuStreamIsCapturing, the.other_stream, &status);
}

static void capture_fork_destroyed(void)
{
    CALL(cuStreamBeginCapture, the.stream, LOCAL);
    CALL(cuEventRecord, the.event, the.stream);
    CALL(cuStreamWaitEvent, the.other_stream, the.event, 0);
    odd_launch(the.add, the.other_stream);
    CALL(cuStreamDestroy, the.other_stream);
    end(the.stream);
}

static void capture_origin_destroyed(void)
{
    CUgraph graph;
    CALL(cuStreamBeginCapture, the.stream, LOCAL);
    CALL(cuEventRecord, the.event, the.stream);
    CALL(cuStreamWaitEvent, the.other_stream, the.event, 0);
    CALL(cuStreamDestroy, the.stream);
    odd_launch(the.add, the.other_stream);
    CALL(cuStreamEndCapture, the.other_stream, &graph);
}

static void capture_event_destroyed(void)
{
    CALL(cuStreamBeginCapture, the.stream, LOCAL);
    CALL(cuEventRecord, the.event, the.stream);
    CALL(cuStreamWaitEvent, the.other_stream, the.event, 0);
    CALL(cuEventDestroy, the.event);
    odd_launch(the.add, the.other_stream);
    CUevent joins;
    CALL(cuEventCreate, &joins, 0);
    CALL(cuEventRecord, joins, the.other_stream);
    CALL(cuStreamWaitEvent, the.stream, joins, 0);
    CALL(cuEventDestroy, joins);
    end(the.stream);
}

static void captured_event_used_outside(void)
{
    float milliseconds;
    CALL(cuStreamBeginCapture, the.stream, RELAXED);
    CALL(cuEventRecord, the.event, the.stream);
    CALL(cuEventQuery, the.event);
    CALL(cuEventSynchronize, the.event);
    CALL(cuEventElapsedTime, &milliseconds, the.event, the.event);
    end(the.stream);
    CALL(cuStreamWaitEvent, the.other_stream, the.event, 0);
    CALL(cuEventSynchronize, the.event);
}

static void captured_event_waited_for_in_another_capture(void)
{
    CALL(cuStreamBeginCapture, the.stream, LOCAL);
    CALL(cuStreamBeginCapture, the.other_stream, LOCAL);
    CALL(cuEventRecord, the.event, the.stream);
    CALL(cuStreamWaitEvent, the.other_stream, the.event, 0);
    end(the.other_stream);
    end(the.stream);
}

static void capture_in_capture(void)
{
    CALL(cuStreamBeginCapture, the.stream, LOCAL);
    CALL(cuStreamBeginCapture, the.stream, LOCAL);
    CALL(cuStreamBeginCaptureToGraph, the.stream, the.graph, NULL, NULL, 0, LOCAL);
    end(the.stream);
    end(the.stream);
}

static void capture_on_the_default_streams(void)
{
    CUgraph graph;
    CALL(cuStreamBeginCapture, NULL, LOCAL);
    CALL(cuStreamBeginCapture, CU_STREAM_LEGACY, LOCAL);
    CALL(cuStreamBeginCapture, CU_STREAM_PER_THREAD, LOCAL);
    odd_launch(the.add, CU_STREAM_PER_THREAD);
    odd_launch(the.add, CU_STREAM_LEGACY);
    CALL(cuStreamEndCapture, CU_STREAM_PER_THREAD, &graph);
    CALL(cuStreamEndCapture, NULL, &graph);
}

static void capture_dependencies_of_another_graph(void)
{
    CUgraphNode node = odd_kernel_node(the.other_graph);
    CALL(cuStreamBeginCapture, the.stream, LOCAL);
    CALL(cuStreamUpdateCaptureDependencies, the.stream, &node, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    CALL(cuStreamUpdateCaptureDependencies, the.stream, &node, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    odd_launch(the.add, the.stream);
    end(the.stream);
}

static void capture_dependencies_repeated(void)
{
    static CUgraphNode nodes[4096];
    CALL(cuStreamBeginCaptureToGraph, the.stream, the.graph, NULL, NULL, 0, LOCAL);
    CUgraphNode node = odd_empty_node(the.graph);
    for (int at = 0; at < 4096; at++)
        nodes[at] = node;
    CALL(cuStreamUpdateCaptureDependencies, the.stream, nodes, NULL, 4096, CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    odd_launch(the.add, the.stream);
    CALL(cuStreamUpdateCaptureDependencies, the.stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    CALL(cuStreamUpdateCaptureDependencies, the.stream, &node, NULL, 1, 77);
    end(the.stream);
}

static void capture_dependency_destroyed(void)
{
    CALL(cuStreamBeginCaptureToGraph, the.stream, the.graph, NULL, NULL, 0, LOCAL);
    CUgraphNode node = odd_empty_node(the.graph);
    CALL(cuStreamUpdateCaptureDependencies, the.stream, &node, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    CALL(cuGraphDestroyNode, node);
    odd_launch(the.add, the.stream);
    end(the.stream);
}

static void capture_modes_exchanged(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    CUdeviceptr memory;
    CALL(cuStreamBeginCapture, the.stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CALL(cuThreadExchangeStreamCaptureMode, &mode);
    mode = 77;
    CALL(cuThreadExchangeStreamCaptureMode, &mode);
    CALL(cuMemAlloc, &memory, 4096);
    end(the.stream);
    CALL(cuStreamBeginCapture, the.stream, 77);
}

static void capture_of_calls_that_wait(void)
{
    CUdeviceptr memory;
    CALL(cuStreamBeginCapture, the.stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CALL(cuMemAlloc, &memory, 4096);
    CALL(cuStreamSynchronize, the.stream);
    CALL(cuStreamQuery, the.stream);
    CALL(cuMemcpyDtoH, the.pinned, the.memory, 4096);
    CALL(cuModuleUnload, the.module);
    end(the.stream);
}

static void capture_never_ended(void)
{
    CALL(cuStreamBeginCapture, the.stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    odd_launch(the.add, the.stream);
}

static void captured_memory_freed(void)
{
    CUdeviceptr memory;
    CALL(cuStreamBeginCapture, the.stream, RELAXED);
    CALL(cuMemAllocAsync, &memory, 4096, the.stream);
    CALL(cuMemFreeAsync, memory, the.stream);
    CALL(cuMemFreeAsync, memory, the.stream);
    CALL(cuMemFree, memory);
    CALL(cuMemFreeAsync, the.memory, the.stream);
    end(the.stream);
}

const struct odd_case odd_captures[] = {
    ODD_CASE(capture_into_inner_graph, "a stream is captured into the graph within a node"),
    ODD_CASE(capture_depends_on_another_graph, "a capture depends on a node of another graph"),
    ODD_CASE(capture_depends_on_a_destroyed_node, "the node that a capture depends on is destroyed"),
    ODD_CASE(capture_into_a_graph_twice, "two streams are captured into one graph"),
    ODD_CASE(capture_into_a_destroyed_graph, "the graph that is captured into is destroyed"),
    ODD_CASE(capture_graph_instantiated_meanwhile,
             "the graph that is captured into is instantiated, cloned and added to itself"),
    ODD_CASE(capture_graph_within_itself, "the graph of a capture is added to itself and destroyed"),
    ODD_CASE(capture_launches_itself, "an executable of a graph is launched into a capture into that graph"),
    ODD_CASE(capture_ended_on_another_stream, "a capture is ended on other streams"),
    ODD_CASE(capture_fork_never_joins, "a capture ends while a fork of it goes on"),
    ODD_CASE(capture_stream_destroyed, "a stream is destroyed while it is captured"),
    ODD_CASE(capture_fork_destroyed, "the fork of a capture is destroyed"),
    ODD_CASE(capture_origin_destroyed, "the stream where a capture began is destroyed, its fork goes on"),
    ODD_CASE(capture_event_destroyed, "the events of a capture are destroyed"),
    ODD_CASE(captured_event_used_outside, "an event of a capture is used outside of it"),
    ODD_CASE(captured_event_waited_for_in_another_capture, "a capture waits for an event of another capture"),
    ODD_CASE(capture_in_capture, "a stream that is captured is captured again"),
    ODD_CASE(capture_on_the_default_streams, "default streams are captured"),
    ODD_CASE(capture_dependencies_of_another_graph, "the dependencies of a capture become nodes of another graph"),
    ODD_CASE(capture_dependencies_repeated, "the dependencies of a capture become one node 4,096 times"),
    ODD_CASE(capture_dependency_destroyed, "a dependency of a capture is destroyed"),
    ODD_CASE(capture_modes_exchanged, "odd modes of captures"),
    ODD_CASE(capture_of_calls_that_wait, "calls that no capture allows"),
    ODD_CASE(capture_never_ended, "a capture never ends"),
    ODD_CASE(captured_memory_freed, "a capture frees memory twice, and memory that it did not allocate"),
    {0},
};
