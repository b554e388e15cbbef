/*
 * Host nodes: the executor's graph has a completion word, and the client calls the function. Also nodes with child
 * graphs or events.
 */
#include "relay/wire/callbacks.h"
#include "relay/streams/events.h"
#include "relay/graphs/nodes.h"
#include "relay/streams/graph_references.h"
#include "relay_stubs.h"

CUresult relay_cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                  const void *parameters)
{
    const struct node_place place = {node, graph, dependencies, count};
    return node_add(&place, &(struct node_call){ENTRY_cuGraphAddHostNode, pack_host, parameters, false, NULL, 0});
}

/* The node gets another word: graphs that were instantiated before keep their function. */
CUresult relay_cuGraphHostNodeSetParams(CUgraphNode node, const void *parameters)
{
    return node_set(NULL, node,
                    &(struct node_call){ENTRY_cuGraphHostNodeSetParams, pack_host, parameters, false, NULL, 0});
}

CUresult relay_cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const void *parameters)
{
    return exec
               ? node_set(exec, node,
                          &(struct node_call){ENTRY_cuGraphExecHostNodeSetParams, pack_host, parameters, false, NULL, 0})
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuGraphHostNodeGetParams(CUgraphNode node, void *parameters)
{
    struct relay_context *context;
    struct layout_host_node answer = {0}, *wanted = parameters;
    struct callback callback;
    CUresult result = graph_enter(&context, node, TESSERA_HANDLE_GRAPH_NODE);
    if (result != CUDA_SUCCESS || !wanted)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(context, ENTRY_cuGraphHostNodeGetParams, VALUE((uintptr_t)node), OUT(&answer, sizeof answer));
    if (result != CUDA_SUCCESS)
        return result;
    if (answer.data >= TESSERA_RELAY_WORDS || !callback_of(context->link, (int)answer.data, &callback))
        return CUDA_ERROR_INVALID_VALUE;
    *wanted = (struct layout_host_node){(uintptr_t)callback.function, (uintptr_t)callback.data};
    return CUDA_SUCCESS;
}

CUresult relay_cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                        CUgraph child)
{
    CUresult result = relay_send_cuGraphAddChildGraphNode(node, graph, dependencies, count, child);
    return result == CUDA_SUCCESS ? graph_references_copy((uintptr_t)child, (uintptr_t)graph) : result;
}

CUresult relay_cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    CUresult result = relay_send_cuGraphExecChildGraphNodeSetParams(exec, node, child);
    return result == CUDA_SUCCESS ? graph_references_copy((uintptr_t)child, (uintptr_t)exec) : result;
}

/* A graph records the event without a call of the client, so the executor has to be asked whether it is complete. */
static CUresult recorded_by_graph(CUresult result, CUevent handle)
{
    struct event *event = result == CUDA_SUCCESS ? event_of(handle) : NULL;
    if (event)
        event_unseen(event);
    return result;
}

CUresult relay_cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                         size_t count, CUevent event)
{
    return recorded_by_graph(relay_send_cuGraphAddEventRecordNode(node, graph, dependencies, count, event), event);
}

CUresult relay_cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
    return recorded_by_graph(relay_send_cuGraphEventRecordNodeSetEvent(node, event), event);
}

CUresult relay_cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    return recorded_by_graph(relay_send_cuGraphExecEventRecordNodeSetEvent(exec, node, event), event);
}
