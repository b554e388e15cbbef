/* Graphs within graphs: in themselves, in each other, by the handle of what lies within a node, and very deep. */
#include <time.h>

#include "odd.h"

static void child_is_itself(void)
{
    CUgraphNode node;
    odd_kernel_node(the.graph);
    CALL(cuGraphAddChildGraphNode, &node, the.graph, NULL, 0, the.graph);
    odd_launch_graph(the.graph);
}

static void child_is_itself_when_empty(void)
{
    CUgraphNode node;
    CALL(cuGraphAddChildGraphNode, &node, the.graph, NULL, 0, the.graph);
    odd_launch_graph(the.graph);
}

static void child_is_itself_by_add_node(void)
{
    CUgraphNode node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = the.graph;
    odd_kernel_node(the.graph);
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    odd_launch_graph(the.graph);
}

static void child_is_itself_moved(void)
{
    CUgraphNode node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = the.graph;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    odd_launch_graph(the.graph);
    CALL(cuGraphDestroy, the.graph);
}

static void child_moved_twice(void)
{
    CUgraphNode node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = the.other_graph;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    CALL(cuGraphDestroy, the.graph);
    CALL(cuGraphDestroy, the.other_graph);
}

static void child_moved_then_destroyed(void)
{
    CUgraphNode node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    odd_kernel_node(the.other_graph);
    params.graph.graph = the.other_graph;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    CALL(cuGraphDestroy, the.other_graph);
    odd_launch_graph(the.graph);
}

static void parents_moved_into_each_other(void)
{
    CUgraphNode node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    params.graph.graph = the.other_graph;
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    params.graph.graph = the.graph;
    CALL(cuGraphAddNode, &node, the.other_graph, NULL, NULL, 0, &params);
    odd_launch_graph(the.graph);
}

static void child_has_memory_nodes_moved(void)
{
    CUgraphNode node, allocation;
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {.bytesize = 4096};
    memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    memory.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memory.poolProps.location.id = the.device;
    CALL(cuGraphAddMemAllocNode, &allocation, the.other_graph, NULL, 0, &memory);
    CALL(cuGraphAddChildGraphNode, &node, the.graph, NULL, 0, the.other_graph);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = the.other_graph;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    odd_launch_graph(the.graph);
    odd_launch_graph(the.other_graph);
}

static void parent_in_its_inner_graph(void)
{
    CUgraphNode node;
    odd_kernel_node(the.other_graph);
    CUgraph inner = odd_inner(odd_child_node(the.graph, the.other_graph));
    CALL(cuGraphAddChildGraphNode, &node, inner, NULL, 0, the.graph);
    odd_launch_graph(the.graph);
}

static void inner_graph_in_itself(void)
{
    CUgraphNode node;
    odd_kernel_node(the.other_graph);
    CUgraph inner = odd_inner(odd_child_node(the.graph, the.other_graph));
    CALL(cuGraphAddChildGraphNode, &node, inner, NULL, 0, inner);
    odd_launch_graph(the.graph);
}

static void inner_graph_in_its_parent(void)
{
    CUgraphNode node;
    odd_kernel_node(the.other_graph);
    CUgraph inner = odd_inner(odd_child_node(the.graph, the.other_graph));
    CALL(cuGraphAddChildGraphNode, &node, the.graph, NULL, 0, inner);
    odd_launch_graph(the.graph);
}

static void inner_graph_destroyed(void)
{
    odd_kernel_node(the.other_graph);
    CUgraph inner = odd_inner(odd_child_node(the.graph, the.other_graph));
    CALL(cuGraphDestroy, inner);
    odd_launch_graph(the.graph);
    CALL(cuGraphDestroy, the.graph);
}

static void inner_graph_used(void)
{
    CUgraph clone;
    odd_kernel_node(the.other_graph);
    CUgraph inner = odd_inner(odd_child_node(the.graph, the.other_graph));
    odd_launch_graph(inner);
    if (CALL(cuGraphClone, &clone, inner) == CUDA_SUCCESS)
        odd_launch_graph(clone);
}

static void inner_graph_after_its_parent(void)
{
    size_t count;
    CUgraphNode node;
    CUgraph inner = odd_inner(odd_child_node(the.graph, the.other_graph));
    CALL(cuGraphDestroy, the.graph);
    CALL(cuGraphGetNodes, inner, NULL, &count);
    CALL(cuGraphAddEmptyNode, &node, inner, NULL, 0);
}

static void inner_graph_after_its_node(void)
{
    size_t count;
    CUgraphNode node = odd_child_node(the.graph, the.other_graph);
    CUgraph inner = odd_inner(node);
    CALL(cuGraphDestroyNode, node);
    CALL(cuGraphGetNodes, inner, NULL, &count);
    CALL(cuGraphAddEmptyNode, &node, inner, NULL, 0);
    CALL(cuGraphDestroy, inner);
}

static void inner_node_destroyed(void)
{
    CUgraphNode node, inside;
    size_t count = 1;
    odd_kernel_node(the.other_graph);
    CUgraph inner = odd_inner(odd_child_node(the.graph, the.other_graph));
    CALL(cuGraphGetNodes, inner, &inside, &count);
    CALL(cuGraphDestroyNode, inside);
    CALL(cuGraphAddEmptyNode, &node, the.graph, &inside, 1);
    odd_launch_graph(the.graph);
}

static void inner_node_as_dependency(void)
{
    CUgraphNode node, inside;
    size_t count = 1;
    odd_kernel_node(the.other_graph);
    CUgraphNode child = odd_child_node(the.graph, the.other_graph);
    CALL(cuGraphGetNodes, odd_inner(child), &inside, &count);
    CALL(cuGraphAddEmptyNode, &node, the.graph, &inside, 1);
    CALL(cuGraphAddDependencies, the.graph, &inside, &child, NULL, 1);
    CALL(cuGraphAddDependencies, the.graph, &child, &inside, NULL, 1);
    odd_launch_graph(the.graph);
}

static void circle_by_exec_child_params(void)
{
    CUgraphExec executable;
    odd_kernel_node(the.other_graph);
    CUgraphNode child = odd_child_node(the.graph, the.other_graph);
    NEED(cuGraphInstantiate, &executable, the.graph, 0);
    CALL(cuGraphExecChildGraphNodeSetParams, executable, child, the.graph);
    CALL(cuGraphExecChildGraphNodeSetParams, executable, child, odd_inner(child));
    CALL(cuGraphLaunch, executable, the.stream);
}

static void circle_by_node_params(void)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    odd_kernel_node(the.other_graph);
    CUgraphNode child = odd_child_node(the.graph, the.other_graph);
    params.graph.graph = the.graph;
    CALL(cuGraphNodeSetParams, child, &params);
    params.graph.graph = odd_inner(child);
    CALL(cuGraphNodeSetParams, child, &params);
    odd_launch_graph(the.graph);
}

static void children_5000_deep(void)
{
    odd_say("cuGraphAddChildGraphNode to the inner graph of the one before, 5000 times");
    CUgraph inner = the.graph, empty = the.other_graph;
    for (int depth = 0; depth < 5000; depth++) {
        CUgraphNode node;
        if (QUIET(cuGraphAddChildGraphNode, &node, inner, NULL, 0, empty) != CUDA_SUCCESS ||
            QUIET(cuGraphChildGraphNodeGetGraph, node, &inner) != CUDA_SUCCESS)
            break;
    }
    CUgraph clone;
    CALL(cuGraphClone, &clone, the.graph);
    CALL(cuGraphDestroy, the.graph);
}

static void children_500_deep_launched(void)
{
    odd_say("cuGraphAddChildGraphNode to the inner graph of the one before, 500 times");
    CUgraph inner = the.graph, empty = the.other_graph;
    for (int depth = 0; depth < 500; depth++) {
        CUgraphNode node;
        if (QUIET(cuGraphAddChildGraphNode, &node, inner, NULL, 0, empty) != CUDA_SUCCESS ||
            QUIET(cuGraphChildGraphNodeGetGraph, node, &inner) != CUDA_SUCCESS)
            break;
    }
    odd_launch_graph(the.graph);
}

/* Each graph holds the one before twice, up to 2^40 nodes. Stops where a level takes long or is refused. */
static void children_doubled(void)
{
    CUgraph inner = the.other_graph;
    odd_kernel_node(inner);
    odd_say("cuGraphAddChildGraphNode of the graph before, twice, at most 40 levels");
    for (int level = 0; level < 40; level++) {
        CUgraph outer;
        CUgraphNode node;
        clock_t began = clock();
        if (QUIET(cuGraphCreate, &outer, 0) != CUDA_SUCCESS ||
            QUIET(cuGraphAddChildGraphNode, &node, outer, NULL, 0, inner) != CUDA_SUCCESS ||
            QUIET(cuGraphAddChildGraphNode, &node, outer, NULL, 0, inner) != CUDA_SUCCESS)
            break;
        QUIET(cuGraphDestroy, inner);
        inner = outer;
        if (clock() - began > CLOCKS_PER_SEC / 4)
            break;
    }
    CALL(cuGraphDestroy, inner);
}

static void children_doubled_within(void)
{
    CUgraphNode node;
    odd_kernel_node(the.graph);
    for (int level = 0; level < 12; level++)
        CALL(cuGraphAddChildGraphNode, &node, the.graph, NULL, 0, the.graph);
    CALL(cuGraphDestroy, the.graph);
}

static void update_with_inner_graph(void)
{
    CUgraphExec executable;
    CUgraphExecUpdateResultInfo info;
    odd_kernel_node(the.other_graph);
    CUgraph inner = odd_inner(odd_child_node(the.graph, the.other_graph));
    NEED(cuGraphInstantiate, &executable, the.graph, 0);
    CALL(cuGraphExecUpdate, executable, inner, &info);
    NEED(cuGraphInstantiate, &executable, the.other_graph, 0);
    CALL(cuGraphExecUpdate, executable, inner, &info);
    CALL(cuGraphLaunch, executable, the.stream);
}

const struct odd_case odd_children[] = {
    ODD_CASE(child_is_itself, "a graph of one kernel is added to itself"),
    ODD_CASE(child_is_itself_when_empty, "an empty graph is added to itself"),
    ODD_CASE(child_is_itself_by_add_node, "a graph is added to itself by cuGraphAddNode"),
    ODD_CASE(child_is_itself_moved, "a graph is moved into itself"),
    ODD_CASE(child_moved_twice, "a graph is moved into another one twice"),
    ODD_CASE(child_moved_then_destroyed, "a graph that was moved into another one is destroyed"),
    ODD_CASE(parents_moved_into_each_other, "two graphs are moved into each other"),
    ODD_CASE(child_has_memory_nodes_moved, "a graph that allocates memory is added and moved"),
    ODD_CASE(parent_in_its_inner_graph, "a graph is added to the graph within its own node"),
    ODD_CASE(inner_graph_in_itself, "the graph within a node is added to itself"),
    ODD_CASE(inner_graph_in_its_parent, "the graph within a node is added to the node's graph"),
    ODD_CASE(inner_graph_destroyed, "the graph within a node is destroyed"),
    ODD_CASE(inner_graph_used, "the graph within a node is instantiated, launched and cloned"),
    ODD_CASE(inner_graph_after_its_parent, "the graph within a node is used after the node's graph was destroyed"),
    ODD_CASE(inner_graph_after_its_node, "the graph within a node is used after the node was destroyed"),
    ODD_CASE(inner_node_destroyed, "a node within a node's graph is destroyed, then used as a dependency"),
    ODD_CASE(inner_node_as_dependency, "edges lead to and from a node within a node's graph"),
    ODD_CASE(circle_by_exec_child_params, "the child of an executable becomes the graph itself"),
    ODD_CASE(circle_by_node_params, "the child of a node becomes the node's graph"),
    ODD_CASE(children_5000_deep, "5,000 graphs within each other are cloned and destroyed"),
    ODD_CASE(children_500_deep_launched, "500 graphs within each other are launched"),
    ODD_CASE(children_doubled, "graphs that hold the one before twice, many levels"),
    ODD_CASE(children_doubled_within, "a graph is added to itself 12 times"),
    ODD_CASE(update_with_inner_graph, "an executable is updated with the graph within a node"),
    {0},
};
