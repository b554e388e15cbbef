/* Conditional nodes: their bodies and handles where they do not belong. */
#include "odd.h"

static CUgraphConditionalHandle handle_of(CUgraph graph)
{
    CUgraphConditionalHandle handle = 0;
    CALL(cuGraphConditionalHandleCreate, &handle, graph, the.context, 0, CU_GRAPH_COND_ASSIGN_DEFAULT);
    return handle;
}

static CUgraphNodeParams params_of(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type, unsigned size)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = the.context;
    return params;
}

/* Adds a conditional node that is not taken. Returns its first body; NULL: there is none. */
static CUgraph body_of(CUgraph graph, CUgraphConditionalNodeType type, unsigned size, CUgraphNode *node)
{
    CUgraphNodeParams params = params_of(handle_of(graph), type, size);
    if (CALL(cuGraphAddNode, node, graph, NULL, NULL, 0, &params) != CUDA_SUCCESS || !params.conditional.phGraph_out)
        return NULL;
    return params.conditional.phGraph_out[0];
}

static void body_destroyed(void)
{
    CUgraphNode node;
    CUgraph body = body_of(the.graph, CU_GRAPH_COND_TYPE_IF, 1, &node);
    if (!body)
        return;
    odd_kernel_node(body);
    CALL(cuGraphDestroy, body);
    odd_launch_graph(the.graph);
    CALL(cuGraphDestroy, the.graph);
}

static void body_in_itself(void)
{
    CUgraphNode node;
    CUgraph body = body_of(the.graph, CU_GRAPH_COND_TYPE_WHILE, 1, &node);
    if (!body)
        return;
    CALL(cuGraphAddChildGraphNode, &node, body, NULL, 0, body);
    odd_launch_graph(the.graph);
}

static void body_in_its_graph(void)
{
    CUgraphNode node;
    CUgraph body = body_of(the.graph, CU_GRAPH_COND_TYPE_IF, 1, &node);
    if (!body)
        return;
    odd_kernel_node(body);
    CALL(cuGraphAddChildGraphNode, &node, the.graph, NULL, 0, body);
    odd_launch_graph(the.graph);
}

static void graph_in_its_body(void)
{
    CUgraphNode node;
    CUgraph body = body_of(the.graph, CU_GRAPH_COND_TYPE_IF, 1, &node);
    if (!body)
        return;
    CALL(cuGraphAddChildGraphNode, &node, body, NULL, 0, the.graph);
    odd_launch_graph(the.graph);
}

static void graph_moved_into_its_body(void)
{
    CUgraphNode node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    CUgraph body = body_of(the.graph, CU_GRAPH_COND_TYPE_IF, 1, &node);
    if (!body)
        return;
    params.graph.graph = the.graph;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    CALL(cuGraphAddNode, &node, body, NULL, NULL, 0, &params);
    params.graph.graph = body;
    CALL(cuGraphAddNode, &node, the.other_graph, NULL, NULL, 0, &params);
    odd_launch_graph(the.graph);
}

static void conditional_in_child(void)
{
    CUgraphNode node;
    body_of(the.other_graph, CU_GRAPH_COND_TYPE_IF, 1, &node);
    CALL(cuGraphAddChildGraphNode, &node, the.graph, NULL, 0, the.other_graph);
    odd_launch_graph(the.graph);
}

static void handle_used_twice(void)
{
    CUgraphNode node;
    CUgraphNodeParams params = params_of(handle_of(the.graph), CU_GRAPH_COND_TYPE_IF, 1), again = params;
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &again);
    odd_launch_graph(the.graph);
}

static void handle_of_another_graph(void)
{
    CUgraphNode node;
    CUgraphNodeParams params = params_of(handle_of(the.other_graph), CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    odd_launch_graph(the.graph);
}

static void handle_of_a_destroyed_graph(void)
{
    CUgraphNode node;
    CUgraphNodeParams params = params_of(handle_of(the.other_graph), CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cuGraphDestroy, the.other_graph);
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    odd_launch_graph(the.graph);
}

static void handle_in_a_clone(void)
{
    CUgraphNode node;
    CUgraph clone;
    CUgraphNodeParams params = params_of(handle_of(the.graph), CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cuGraphClone, &clone, the.graph);
    CALL(cuGraphAddNode, &node, clone, NULL, NULL, 0, &params);
    odd_launch_graph(clone);
}

static void handle_unused(void)
{
    for (int many = 0; many < 8; many++)
        handle_of(the.graph);
    odd_kernel_node(the.graph);
    odd_launch_graph(the.graph);
}

static void handle_of_a_body(void)
{
    CUgraphNode node;
    CUgraph body = body_of(the.graph, CU_GRAPH_COND_TYPE_IF, 1, &node);
    if (!body)
        return;
    CUgraphNodeParams params = params_of(handle_of(body), CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cuGraphAddNode, &node, body, NULL, NULL, 0, &params);
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    odd_launch_graph(the.graph);
}

static void conditional_sizes(void)
{
    static const unsigned sizes[] = {0, 3, 1000, 1u << 31, ~0u};
    CUgraphNode node;
    for (unsigned type = 0; type < 5; type++)
        for (unsigned which = 0; which < sizeof sizes / sizeof *sizes; which++) {
            CUgraphNodeParams params = params_of(handle_of(the.graph), type, sizes[which]);
            CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
        }
    odd_launch_graph(the.graph);
}

static void body_instantiated(void)
{
    CUgraphNode node;
    CUgraph clone, body = body_of(the.graph, CU_GRAPH_COND_TYPE_IF, 1, &node);
    if (!body)
        return;
    odd_kernel_node(body);
    odd_launch_graph(body);
    if (CALL(cuGraphClone, &clone, body) == CUDA_SUCCESS)
        odd_launch_graph(clone);
}

static void body_after_its_graph(void)
{
    CUgraphNode node;
    size_t count;
    CUgraph body = body_of(the.graph, CU_GRAPH_COND_TYPE_IF, 1, &node);
    if (!body)
        return;
    CALL(cuGraphDestroy, the.graph);
    CALL(cuGraphAddEmptyNode, &node, body, NULL, 0);
    CALL(cuGraphGetNodes, body, NULL, &count);
}

static void body_after_its_node(void)
{
    CUgraphNode node;
    CUgraph body = body_of(the.graph, CU_GRAPH_COND_TYPE_IF, 1, &node);
    if (!body)
        return;
    CALL(cuGraphDestroyNode, node);
    CALL(cuGraphAddEmptyNode, &node, body, NULL, 0);
    odd_launch_graph(the.graph);
}

static void bodies_500_deep(void)
{
    CUgraph inner = the.graph;
    odd_say("cuGraphAddNode of a conditional node to the body of the one before, 500 times");
    for (int depth = 0; depth < 500; depth++) {
        CUgraphConditionalHandle handle;
        CUgraphNode node;
        if (QUIET(cuGraphConditionalHandleCreate, &handle, the.graph, the.context, 0, 1) != CUDA_SUCCESS)
            break;
        CUgraphNodeParams params = params_of(handle, CU_GRAPH_COND_TYPE_IF, 1);
        if (QUIET(cuGraphAddNode, &node, inner, NULL, NULL, 0, &params) != CUDA_SUCCESS)
            break;
        inner = params.conditional.phGraph_out[0];
    }
    CUgraph clone;
    CALL(cuGraphClone, &clone, the.graph);
    odd_launch_graph(the.graph);
    CALL(cuGraphDestroy, the.graph);
}

static void body_captured_into(void)
{
    CUgraphNode node;
    CUgraph got, body = body_of(the.graph, CU_GRAPH_COND_TYPE_IF, 1, &node);
    if (!body)
        return;
    CALL(cuStreamBeginCaptureToGraph, the.stream, body, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    odd_launch(the.add, the.stream);
    CALL(cuGraphDestroy, the.graph);
    CALL(cuStreamEndCapture, the.stream, &got);
}

static void update_with_body(void)
{
    CUgraphNode node;
    CUgraphExec executable;
    CUgraphExecUpdateResultInfo info;
    CUgraph body = body_of(the.graph, CU_GRAPH_COND_TYPE_IF, 1, &node);
    if (!body)
        return;
    odd_kernel_node(body);
    if (CALL(cuGraphInstantiate, &executable, the.graph, 0) != CUDA_SUCCESS)
        return;
    CALL(cuGraphExecUpdate, executable, body, &info);
    CALL(cuGraphExecUpdate, executable, the.graph, &info);
    CALL(cuGraphLaunch, executable, the.stream);
}

static void body_nodes_that_are_not_allowed(void)
{
    CUgraphNode node;
    CUgraph body = body_of(the.graph, CU_GRAPH_COND_TYPE_WHILE, 1, &node);
    if (!body)
        return;
    CUDA_HOST_NODE_PARAMS host = {0};
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {.bytesize = 4096};
    CALL(cuGraphAddHostNode, &node, body, NULL, 0, &host);
    CALL(cuGraphAddEventRecordNode, &node, body, NULL, 0, the.event);
    CALL(cuGraphAddMemAllocNode, &node, body, NULL, 0, &memory);
    CALL(cuGraphAddMemFreeNode, &node, body, NULL, 0, the.memory);
    odd_launch_graph(the.graph);
}

const struct odd_case odd_bodies[] = {
    ODD_CASE(body_destroyed, "the body of a conditional node is destroyed"),
    ODD_CASE(body_in_itself, "the body of a conditional node is added to itself"),
    ODD_CASE(body_in_its_graph, "the body of a conditional node is added to the node's graph"),
    ODD_CASE(graph_in_its_body, "a graph is added to the body of its conditional node"),
    ODD_CASE(graph_moved_into_its_body, "a graph is moved into its own body, and a body out of its node"),
    ODD_CASE(conditional_in_child, "a graph with a conditional node becomes a child"),
    ODD_CASE(handle_used_twice, "a conditional handle is used twice"),
    ODD_CASE(handle_of_another_graph, "a conditional handle is used in another graph"),
    ODD_CASE(handle_of_a_destroyed_graph, "a conditional handle is used after its graph was destroyed"),
    ODD_CASE(handle_in_a_clone, "a conditional handle is used in a clone of its graph"),
    ODD_CASE(handle_unused, "conditional handles are never used"),
    ODD_CASE(handle_of_a_body, "a conditional handle is made for a body"),
    ODD_CASE(conditional_sizes, "conditional nodes of odd types and sizes"),
    ODD_CASE(body_instantiated, "the body of a conditional node is launched and cloned"),
    ODD_CASE(body_after_its_graph, "the body of a conditional node is used after its graph was destroyed"),
    ODD_CASE(body_after_its_node, "the body of a conditional node is used after the node was destroyed"),
    ODD_CASE(bodies_500_deep, "500 conditional nodes within each other"),
    ODD_CASE(body_captured_into, "a graph is destroyed while its body is captured into"),
    ODD_CASE(update_with_body, "an executable is updated with the body of its conditional node"),
    ODD_CASE(body_nodes_that_are_not_allowed, "a body gets nodes that bodies must not have"),
    {0},
};
