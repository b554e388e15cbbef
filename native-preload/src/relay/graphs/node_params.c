/* The entries that take CUgraphNodeParams, and conditional handles. */
#include <string.h>

#include "relay/graphs/host_copies.h"
#include "relay/graphs/node_memory.h"
#include "relay/graphs/nodes.h"
#include "relay/memory/range.h"
#include "relay/streams/events.h"
#include "relay/streams/graph_references.h"
#include "relay/wire/unsupported.h"
#include "relay_stubs.h"

/*
 * Writes the driver's results back: addresses, and the bodies of a conditional node, in memory that belongs to the
 * node.
 */
static CUresult write_back(struct relay_context *context, uint64_t node, const struct packed *packed,
                           struct layout_node *parameters)
{
    const struct layout_node *answer = (const struct layout_node *)packed->data;
    if (parameters->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        parameters->of.alloc.pointer = answer->of.alloc.pointer;
        const struct relay_range range = {.start = answer->of.alloc.pointer,
                                          .bytes = parameters->of.alloc.bytes,
                                          .kind = RELAY_RANGE_GRAPH,
                                          .link = context->link,
                                          .context = context};
        return relay_range_add(&range) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (parameters->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        size_t bytes = parameters->of.conditional.size * sizeof(uint64_t);
        void *graphs = node_memory(node, bytes);
        if (!graphs)
            return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(graphs, answer + 1, bytes);
        parameters->of.conditional.graphs = (uintptr_t)graphs;
    }
    return CUDA_SUCCESS;
}

/* Records what a node refers to: its child graph's references, or its event. */
static CUresult keep(uint64_t holder, const struct layout_node *parameters)
{
    if (parameters->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return graph_references_copy(parameters->of.handle.handle, holder);
    struct event *event = parameters->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD
                              ? event_of((CUevent)(uintptr_t)parameters->of.handle.handle)
                              : NULL;
    if (event)
        event_unseen(event);
    return CUDA_SUCCESS;
}

CUresult relay_cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, const void *edges,
                                 size_t count, void *parameters)
{
    struct relay_context *context;
    struct packed packed = {.word = -1};
    uint64_t made = 0;
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH);
    if (result != CUDA_SUCCESS)
        return result;
    if (!node || !parameters || (count != 0 && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    const struct layout_node *asked = parameters;
    if (asked->type == CU_GRAPH_NODE_TYPE_MEMCPY && host_copy_needed(context, &asked->of.copy.copy))
        return edges ? relay_unsupported("cuGraphAddNode", "a copy of pageable memory behind edges with data")
                     : host_copy_add(&(struct node_place){node, graph, dependencies, count}, &asked->of.copy.copy);
    result = pack_node(context, parameters, &packed);
    if (result == CUDA_SUCCESS)
        result = MESSAGE_CALL(context, ENTRY_cuGraphAddNode_v2, OUT(&made, 8), VALUE((uintptr_t)graph),
                              IN_OR_NOTHING(dependencies, count * 8), IN_OR_NOTHING(edges, count * 8), VALUE(count),
                              INOUT(packed.data, packed.bytes));
    if (result == CUDA_SUCCESS) {
        *node = (CUgraphNode)(uintptr_t)made;
        packed_held(&packed, (uintptr_t)graph);
        result = write_back(context, made, &packed, parameters);
    }
    packed_release(&packed);
    return result == CUDA_SUCCESS ? keep((uintptr_t)graph, parameters) : result;
}

CUresult relay_cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              void *parameters)
{
    return relay_cuGraphAddNode_v2(node, graph, dependencies, NULL, count, parameters);
}

/* The copy of a memcpy node, else NULL: host_copies.c handles copies of pageable memory. */
static const struct layout_copy *copy_in(const struct layout_node *parameters)
{
    return parameters && parameters->type == CU_GRAPH_NODE_TYPE_MEMCPY ? &parameters->of.copy.copy : NULL;
}

CUresult relay_cuGraphNodeSetParams(CUgraphNode node, void *parameters)
{
    if (copy_in(parameters))
        return relay_cuGraphMemcpyNodeSetParams(node, copy_in(parameters));
    CUresult result = node_set(NULL, node,
                               &(struct node_call){ENTRY_cuGraphNodeSetParams, pack_node, parameters, false, NULL, 0});
    return result == CUDA_SUCCESS ? keep((uintptr_t)relay_current->handle, parameters) : result;
}

CUresult relay_cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, void *parameters)
{
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    if (copy_in(parameters))
        return relay_cuGraphExecMemcpyNodeSetParams(exec, node, copy_in(parameters), NULL);
    CUresult result =
        node_set(exec, node, &(struct node_call){ENTRY_cuGraphExecNodeSetParams, pack_node, parameters, false, NULL, 0});
    return result == CUDA_SUCCESS ? keep((uintptr_t)exec, parameters) : result;
}

CUresult relay_cuGraphConditionalHandleCreate(uint64_t *handle, CUgraph graph, CUcontext named, unsigned int value,
                                              unsigned int flags)
{
    struct relay_context *context;
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH);
    if (result != CUDA_SUCCESS || !handle)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    if (named && !relay_context_of(named))
        return CUDA_ERROR_INVALID_CONTEXT;
    return MESSAGE_CALL(context, ENTRY_cuGraphConditionalHandleCreate, OUT(handle, 8), VALUE((uintptr_t)graph),
                        VALUE(0), VALUE(value), VALUE(flags));
}
