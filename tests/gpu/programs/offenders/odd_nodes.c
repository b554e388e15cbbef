/* Nodes and edges: edges to themselves, in circles and between graphs, and nodes asked and set as what they are not. */
#include "odd.h"

static void edge_to_itself(void)
{
    CUgraphNode node = odd_kernel_node(the.graph);
    CALL(cuGraphAddDependencies, the.graph, &node, &node, NULL, 1);
    odd_launch_graph(the.graph);
}

static void edges_in_a_circle(void)
{
    CUgraphNode one = odd_kernel_node(the.graph), two = odd_kernel_node(the.graph);
    CUgraph clone;
    CUgraphExec executable;
    CUgraphExecUpdateResultInfo info;
    NEED(cuGraphInstantiate, &executable, the.graph, 0);
    CALL(cuGraphAddDependencies, the.graph, &one, &two, NULL, 1);
    CALL(cuGraphAddDependencies, the.graph, &two, &one, NULL, 1);
    CALL(cuGraphClone, &clone, the.graph);
    CALL(cuGraphExecUpdate, executable, the.graph, &info);
    odd_launch_graph(the.graph);
}

static void edges_in_a_long_circle(void)
{
    enum { LENGTH = 2000 };
    static CUgraphNode from[LENGTH], to[LENGTH];
    for (int at = 0; at < LENGTH; at++)
        to[(at + LENGTH - 1) % LENGTH] = from[at] = odd_empty_node(the.graph);
    CUgraph clone;
    CUgraphNode child;
    CALL(cuGraphAddDependencies, the.graph, from, to, NULL, LENGTH);
    CALL(cuGraphClone, &clone, the.graph);
    CALL(cuGraphAddChildGraphNode, &child, the.other_graph, NULL, 0, the.graph);
    odd_launch_graph(the.graph);
}

static void circle_in_a_child(void)
{
    CUgraphNode one = odd_kernel_node(the.other_graph), two = odd_kernel_node(the.other_graph), child;
    CALL(cuGraphAddDependencies, the.other_graph, &one, &two, NULL, 1);
    CALL(cuGraphAddDependencies, the.other_graph, &two, &one, NULL, 1);
    CALL(cuGraphAddChildGraphNode, &child, the.graph, NULL, 0, the.other_graph);
    odd_launch_graph(the.graph);
}

static void edges_twice(void)
{
    CUgraphNode one = odd_kernel_node(the.graph), two = odd_kernel_node(the.graph);
    CUgraphNode from[] = {one, one, one}, to[] = {two, two, two};
    CALL(cuGraphAddDependencies, the.graph, from, to, NULL, 3);
    CALL(cuGraphAddDependencies, the.graph, from, to, NULL, 1);
    CALL(cuGraphRemoveDependencies, the.graph, from, to, NULL, 3);
    CALL(cuGraphRemoveDependencies, the.graph, to, from, NULL, 1);
    odd_launch_graph(the.graph);
}

static void edges_between_graphs(void)
{
    CUgraphNode one = odd_kernel_node(the.graph), two = odd_kernel_node(the.other_graph), node;
    CALL(cuGraphAddDependencies, the.graph, &one, &two, NULL, 1);
    CALL(cuGraphAddDependencies, the.graph, &two, &one, NULL, 1);
    CALL(cuGraphAddDependencies, the.other_graph, &one, &one, NULL, 1);
    CALL(cuGraphAddEmptyNode, &node, the.graph, &two, 1);
    CALL(cuGraphRemoveDependencies, the.graph, &one, &two, NULL, 1);
    odd_launch_graph(the.graph);
    odd_launch_graph(the.other_graph);
}

static void edges_between_a_graph_and_its_clone(void)
{
    CUgraphNode one = odd_kernel_node(the.graph), two, node;
    CUgraph clone;
    NEED(cuGraphClone, &clone, the.graph);
    CALL(cuGraphNodeFindInClone, &two, one, clone);
    CALL(cuGraphAddDependencies, the.graph, &one, &two, NULL, 1);
    CALL(cuGraphAddEmptyNode, &node, clone, &one, 1);
    CALL(cuGraphDestroyNode, one);
    CALL(cuGraphNodeFindInClone, &two, one, clone);
    odd_launch_graph(clone);
}

static void edges_of_a_destroyed_node(void)
{
    CUgraphNode one = odd_kernel_node(the.graph), two = odd_kernel_node(the.graph), node;
    CALL(cuGraphDestroyNode, one);
    CALL(cuGraphAddDependencies, the.graph, &one, &two, NULL, 1);
    CALL(cuGraphAddEmptyNode, &node, the.graph, &one, 1);
    CALL(cuGraphDestroyNode, one);
    odd_launch_graph(the.graph);
}

static void edges_with_odd_data(void)
{
    CUgraphNode one = odd_memset_node(the.graph), two = odd_kernel_node(the.graph), node;
    CUgraphEdgeData data = {.from_port = 255, .to_port = 255, .type = 255};
    CALL(cuGraphAddDependencies, the.graph, &one, &two, &data, 1);
    data = (CUgraphEdgeData){.from_port = 1, .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CALL(cuGraphAddDependencies, the.graph, &one, &two, &data, 1);
    CALL(cuGraphAddDependencies, the.graph, &two, &two, &data, 1);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    CALL(cuGraphAddNode, &node, the.graph, &two, &data, 1, &params);
    odd_launch_graph(the.graph);
}

static void edges_100000(void)
{
    enum { COUNT = 100000 };
    static CUgraphNode from[COUNT], to[COUNT];
    CUgraphNode one = odd_empty_node(the.graph), two = odd_empty_node(the.graph);
    for (int at = 0; at < COUNT; at++) {
        from[at] = one;
        to[at] = two;
    }
    CALL(cuGraphAddDependencies, the.graph, from, to, NULL, COUNT);
    CALL(cuGraphAddDependencies, the.graph, NULL, NULL, NULL, 0);
    odd_launch_graph(the.graph);
}

static void nodes_20000_in_a_chain(void)
{
    CUgraphNode node = odd_empty_node(the.graph);
    odd_say("cuGraphAddEmptyNode behind the one before, 20000 times");
    for (int at = 0; at < 20000; at++)
        if (QUIET(cuGraphAddEmptyNode, &node, the.graph, &node, 1) != CUDA_SUCCESS)
            break;
    CUgraph clone;
    CALL(cuGraphClone, &clone, the.graph);
    CALL(cuGraphDestroy, clone);
    odd_launch_graph(the.graph);
}

static void node_params_of_other_kinds(void)
{
    CUgraphNode nodes[] = {odd_empty_node(the.graph), odd_kernel_node(the.graph), odd_memset_node(the.graph),
                           odd_memcpy_node(the.graph), odd_child_node(the.graph, the.other_graph)};
    for (int at = 0; at < 5; at++) {
        CUDA_KERNEL_NODE_PARAMS kernel;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_MEMCPY3D copy;
        CUDA_HOST_NODE_PARAMS host;
        CUDA_MEM_ALLOC_NODE_PARAMS allocation;
        CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
        CUDA_EXT_SEM_WAIT_NODE_PARAMS waits;
        CUdeviceptr memory;
        CUevent event;
        CUgraph graph;
        CALL(cuGraphKernelNodeGetParams, nodes[at], &kernel);
        CALL(cuGraphMemsetNodeGetParams, nodes[at], &fill);
        CALL(cuGraphMemcpyNodeGetParams, nodes[at], &copy);
        CALL(cuGraphHostNodeGetParams, nodes[at], &host);
        CALL(cuGraphChildGraphNodeGetGraph, nodes[at], &graph);
        CALL(cuGraphEventRecordNodeGetEvent, nodes[at], &event);
        CALL(cuGraphEventWaitNodeGetEvent, nodes[at], &event);
        CALL(cuGraphMemAllocNodeGetParams, nodes[at], &allocation);
        CALL(cuGraphMemFreeNodeGetParams, nodes[at], &memory);
        CALL(cuGraphBatchMemOpNodeGetParams, nodes[at], &batch);
        CALL(cuGraphExternalSemaphoresWaitNodeGetParams, nodes[at], &waits);
    }
}

static void node_set_as_other_kinds(void)
{
    CUgraphNode nodes[] = {odd_empty_node(the.graph), odd_kernel_node(the.graph), odd_memset_node(the.graph),
                           odd_memcpy_node(the.graph), odd_child_node(the.graph, the.other_graph)};
    CUDA_KERNEL_NODE_PARAMS kernel = odd_kernel_params();
    CUDA_MEMSET_NODE_PARAMS fill = odd_memset_params();
    CUDA_MEMCPY3D copy = odd_copy_params();
    CUDA_HOST_NODE_PARAMS host = {0};
    for (int at = 0; at < 5; at++) {
        CALL(cuGraphKernelNodeSetParams, nodes[at], &kernel);
        CALL(cuGraphMemsetNodeSetParams, nodes[at], &fill);
        CALL(cuGraphMemcpyNodeSetParams, nodes[at], &copy);
        CALL(cuGraphHostNodeSetParams, nodes[at], &host);
        CALL(cuGraphEventRecordNodeSetEvent, nodes[at], the.event);
        CALL(cuGraphEventWaitNodeSetEvent, nodes[at], the.event);
        for (unsigned type = 0; type < 16; type++) {
            CUgraphNodeParams params = {.type = type};
            CALL(cuGraphNodeSetParams, nodes[at], &params);
        }
    }
    odd_launch_graph(the.graph);
}

static void node_added_with_empty_params(void)
{
    CUgraphNode node;
    for (unsigned type = 0; type < 20; type++) {
        CUgraphNodeParams params = {.type = type};
        CALL(cuGraphAddNode, &node, the.graph, NULL, NULL, 0, &params);
    }
    odd_launch_graph(the.graph);
}

static void node_used_after_destroyed(void)
{
    CUgraphNode node = odd_kernel_node(the.graph);
    CUDA_KERNEL_NODE_PARAMS kernel = odd_kernel_params();
    CUgraphNodeType type;
    CUgraphExec executable;
    NEED(cuGraphInstantiate, &executable, the.graph, 0);
    CALL(cuGraphDestroyNode, node);
    CALL(cuGraphNodeGetType, node, &type);
    CALL(cuGraphKernelNodeGetParams, node, &kernel);
    kernel = odd_kernel_params();
    CALL(cuGraphKernelNodeSetParams, node, &kernel);
    CALL(cuGraphExecKernelNodeSetParams, executable, node, &kernel);
    CALL(cuGraphNodeSetEnabled, executable, node, 0);
    CALL(cuGraphLaunch, executable, the.stream);
}

static void node_used_after_its_graph(void)
{
    CUgraphNode node = odd_kernel_node(the.graph);
    CUgraphNodeType type;
    CUDA_KERNEL_NODE_PARAMS kernel;
    CALL(cuGraphDestroy, the.graph);
    CALL(cuGraphNodeGetType, node, &type);
    CALL(cuGraphKernelNodeGetParams, node, &kernel);
    CALL(cuGraphAddEmptyNode, &node, the.other_graph, &node, 1);
    CALL(cuGraphDestroy, the.graph);
}

static void node_attributes_between_kinds(void)
{
    CUgraphNode kernel = odd_kernel_node(the.graph), fill = odd_memset_node(the.graph);
    CALL(cuGraphKernelNodeCopyAttributes, kernel, fill);
    CALL(cuGraphKernelNodeCopyAttributes, fill, kernel);
    CALL(cuGraphKernelNodeCopyAttributes, kernel, kernel);
    CUkernelNodeAttrValue value;
    for (unsigned id = 0; id < 24; id++) {
        memset(&value, 0xff, sizeof value);
        CALL(cuGraphKernelNodeSetAttribute, kernel, id, &value);
        CALL(cuGraphKernelNodeGetAttribute, kernel, id, &value);
        CALL(cuGraphKernelNodeSetAttribute, fill, id, &value);
    }
    CALL(cuGraphKernelNodeGetAttribute, kernel, 0x7fffffff, &value);
    odd_launch_graph(the.graph);
}

static void node_found_in_no_clone(void)
{
    CUgraphNode node = odd_kernel_node(the.graph), found;
    CUgraph clone;
    CALL(cuGraphNodeFindInClone, &found, node, the.graph);
    CALL(cuGraphNodeFindInClone, &found, node, the.other_graph);
    NEED(cuGraphClone, &clone, the.graph);
    CALL(cuGraphDestroy, the.graph);
    CALL(cuGraphNodeFindInClone, &found, node, clone);
    CALL(cuGraphClone, &clone, clone);
    CALL(cuGraphNodeFindInClone, &found, found, clone);
}

static void node_lists_of_odd_counts(void)
{
    CUgraphNode nodes[4], node = odd_kernel_node(the.graph);
    CUgraphNode later;
    size_t count = 0;
    CALL(cuGraphAddEmptyNode, &later, the.graph, &node, 1);
    CALL(cuGraphGetNodes, the.graph, nodes, &count);
    count = 4;
    CALL(cuGraphGetRootNodes, the.graph, nodes, &count);
    count = 4;
    CALL(cuGraphGetEdges, the.graph, nodes, NULL, NULL, &count);
    count = 4;
    CALL(cuGraphNodeGetDependencies, node, nodes, NULL, &count);
    count = 1;
    CALL(cuGraphNodeGetDependentNodes, node, nodes, NULL, &count);
}

const struct odd_case odd_nodes[] = {
    ODD_CASE(edge_to_itself, "an edge leads from a node to itself"),
    ODD_CASE(edges_in_a_circle, "two nodes depend on each other; the graph is cloned, updated with and launched"),
    ODD_CASE(edges_in_a_long_circle, "2,000 nodes in a circle; the graph is cloned, becomes a child and is launched"),
    ODD_CASE(circle_in_a_child, "a child has nodes in a circle"),
    ODD_CASE(edges_twice, "edges are added three times and removed as often"),
    ODD_CASE(edges_between_graphs, "edges lead from one graph to another"),
    ODD_CASE(edges_between_a_graph_and_its_clone, "edges lead from a graph to its clone"),
    ODD_CASE(edges_of_a_destroyed_node, "edges lead from a node that was destroyed"),
    ODD_CASE(edges_with_odd_data, "edges with odd ports and types"),
    ODD_CASE(edges_100000, "100,000 edges between two nodes"),
    ODD_CASE(nodes_20000_in_a_chain, "20,000 nodes in a chain are cloned and launched"),
    ODD_CASE(node_params_of_other_kinds, "nodes are asked for what other kinds of node have"),
    ODD_CASE(node_set_as_other_kinds, "nodes are set as other kinds of node"),
    ODD_CASE(node_added_with_empty_params, "nodes of every kind are added with parameters of zeros"),
    ODD_CASE(node_used_after_destroyed, "a node is asked and set after it was destroyed"),
    ODD_CASE(node_used_after_its_graph, "a node is asked after its graph was destroyed"),
    ODD_CASE(node_attributes_between_kinds, "odd attributes of nodes, and attributes copied between kinds"),
    ODD_CASE(node_found_in_no_clone, "a node is looked for in graphs that are no clones"),
    ODD_CASE(node_lists_of_odd_counts, "lists of nodes and edges with counts that do not fit"),
    {0},
};
