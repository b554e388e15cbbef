#include "relay/graphs/host_copies.h"

#include "relay/copies/copy_captured.h"
#include "relay/copies/copy_shaped.h"
#include "relay/wire/callbacks.h"
#include "relay/wire/unsupported.h"
#include "relay_stubs.h"

bool host_copy_needed(const struct relay_context *context, const struct layout_copy *copy)
{
    struct layout_copy resolved;
    if (!copy)
        return false;
    resolved = *copy;
    return copy_leads_elsewhere(context, copy) || copy_resolve(context, &resolved);
}

/* Adds the host function of a copy to a graph. The graph owns the copy from here on, also after an error. */
static CUresult add_function(CUgraph graph, CUgraphNode *node, CUgraphNode *behind, struct captured_copy *copy)
{
    const struct callback callback = captured_copy_callback(copy);
    const struct node_place place = {node, graph, behind, behind ? 1 : 0};
    struct packed packed = {.word = -1};
    struct relay_context *context;
    uint64_t made = 0;
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH);
    if (result == CUDA_SUCCESS)
        result = pack_callback(context, &callback, &packed);
    if (packed.word < 0)
        callback.released(copy); /* no graph owns the copy */
    if (result == CUDA_SUCCESS)
        result = MESSAGE_CALL(context, ENTRY_cuGraphAddHostNode, PLACE_ARGUMENTS(&place, &made),
                              IN(packed.data, packed.bytes));
    if (result == CUDA_SUCCESS) {
        *node = (CUgraphNode)(uintptr_t)made;
        packed_held(&packed, (uintptr_t)graph);
    }
    packed_release(&packed);
    return result;
}

static CUresult add_copy(CUgraph graph, CUgraphNode *node, CUgraphNode *behind, const struct layout_copy *device)
{
    const struct node_place place = {node, graph, behind, behind ? 1 : 0};
    return node_add(&place, &(struct node_call){ENTRY_cuGraphAddMemcpyNode, pack_copy, device, true, NULL, 0});
}

static CUresult fill(struct relay_context *context, CUgraph graph, const struct layout_copy *copy)
{
    struct layout_copy resolved = *copy, device;
    struct captured_copy *captured;
    enum captured_order order;
    CUgraphNode first, second;
    copy_resolve(context, &resolved);
    CUresult result = captured_copy_make(context, &resolved, &captured, &device, &order);
    if (result != CUDA_SUCCESS)
        return result;
    if (order != CAPTURED_BEHIND) {
        result = add_function(graph, &first, NULL, captured);
        return result == CUDA_SUCCESS && order == CAPTURED_BEFORE ? add_copy(graph, &second, &first, &device) : result;
    }
    result = add_copy(graph, &first, NULL, &device);
    if (result != CUDA_SUCCESS) {
        captured_copy_callback(captured).released(captured);
        return result;
    }
    return add_function(graph, &second, &first, captured);
}

/* Makes the child graph of a copy. The caller destroys it, also after an error; NULL: there is none. */
static CUresult make(const struct layout_copy *copy, CUgraph *graph)
{
    struct relay_context *context;
    *graph = NULL;
    CUresult result = relay_enter(&context);
    if (result == CUDA_SUCCESS)
        result = relay_cuGraphCreate(graph, 0);
    return result == CUDA_SUCCESS ? fill(context, *graph, copy) : result;
}

static void destroy(CUgraph graph)
{
    if (graph)
        relay_cuGraphDestroy(graph);
}

CUresult host_copy_add(const struct node_place *place, const struct layout_copy *copy)
{
    if (copy_leads_elsewhere(relay_current, copy))
        return relay_unsupported("cuGraphAddMemcpyNode", "a copy node with another device's memory");
    CUgraph graph;
    CUresult result = make(copy, &graph);
    if (result == CUDA_SUCCESS)
        result = relay_cuGraphAddChildGraphNode(place->node, place->graph, place->dependencies, place->count, graph);
    destroy(graph);
    return result;
}

/* The nodes in such a node's child graph: the host function, and the executor's copy if there is one. */
struct inside {
    CUgraphNode function, copy;
    struct callback callback;
    struct layout_copy rows;
};

static bool look_inside(CUgraphNode node, struct inside *inside)
{
    struct relay_context *context;
    CUgraph graph;
    CUgraphNode nodes[2];
    size_t count = 0;
    int type;
    *inside = (struct inside){0};
    if (graph_enter(&context, node, TESSERA_HANDLE_GRAPH_NODE) != CUDA_SUCCESS ||
        relay_send_cuGraphNodeGetType(node, &type) != CUDA_SUCCESS || type != CU_GRAPH_NODE_TYPE_GRAPH ||
        relay_cuGraphChildGraphNodeGetGraph(node, &graph) != CUDA_SUCCESS ||
        relay_cuGraphGetNodes(graph, NULL, &count) != CUDA_SUCCESS || count == 0 || count > 2 ||
        relay_cuGraphGetNodes(graph, nodes, &count) != CUDA_SUCCESS)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct layout_host_node answer = {0};
        if (relay_send_cuGraphNodeGetType(nodes[i], &type) != CUDA_SUCCESS)
            return false;
        if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
            inside->copy = nodes[i];
        if (type != CU_GRAPH_NODE_TYPE_HOST || MESSAGE_CALL(context, ENTRY_cuGraphHostNodeGetParams,
                                                            VALUE((uintptr_t)nodes[i]), OUT(&answer, sizeof answer)))
            continue;
        const struct layout_copy *rows = answer.data < TESSERA_RELAY_WORDS &&
                                                 callback_of(context->link, (int)answer.data, &inside->callback)
                                             ? captured_copy_rows(&inside->callback)
                                             : NULL;
        if (rows) {
            inside->function = nodes[i];
            inside->rows = *rows;
        }
    }
    return inside->function && (count == 1 || inside->copy);
}

static CUresult copy_of(CUgraphNode node, struct layout_copy *copy)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    return result != CUDA_SUCCESS ? result
                                  : MESSAGE_CALL(context, ENTRY_cuGraphMemcpyNodeGetParams, VALUE((uintptr_t)node),
                                                 OUT(copy, sizeof *copy));
}

/* Turns a resolved side back into the program's form: host memory by its host address. */
static struct layout_copy_side told(struct layout_copy_side side)
{
    if (side.memory_type == CU_MEMORYTYPE_HOST) {
        side.host = side.device;
        side.device = 0;
    }
    return side;
}

bool host_copy_is(CUgraphNode node, struct layout_copy *copy)
{
    struct inside inside;
    if (!look_inside(node, &inside))
        return false;
    if (!copy)
        return true;
    *copy = inside.rows;
    struct layout_copy device;
    if (inside.copy && copy_of(inside.copy, &device) == CUDA_SUCCESS) {
        if (inside.rows.source.memory_type == CU_MEMORYTYPE_HOST)
            copy->destination = device.destination;
        else
            copy->source = device.source;
    }
    copy->source = told(copy->source);
    copy->destination = told(copy->destination);
    return true;
}

static bool is_on_same_sides(const struct layout_copy *one, const struct layout_copy *other)
{
    return (one->source.memory_type == CU_MEMORYTYPE_HOST) == (other->source.memory_type == CU_MEMORYTYPE_HOST) &&
           (one->destination.memory_type == CU_MEMORYTYPE_HOST) ==
               (other->destination.memory_type == CU_MEMORYTYPE_HOST);
}

/* Changes the parameters of the two nodes in the child graph. The node keeps that graph. */
static CUresult set_inside(struct relay_context *context, const struct inside *inside,
                           const struct layout_copy *resolved)
{
    struct captured_copy *captured;
    struct layout_copy device;
    enum captured_order order;
    CUresult result = captured_copy_make(context, resolved, &captured, &device, &order);
    if (result != CUDA_SUCCESS)
        return result;
    if (inside->copy)
        result = node_set(NULL, inside->copy,
                          &(struct node_call){ENTRY_cuGraphMemcpyNodeSetParams, pack_copy, &device, false, NULL, 0});
    const struct callback callback = captured_copy_callback(captured);
    if (result != CUDA_SUCCESS) {
        callback.released(captured);
        return result;
    }
    return node_set(NULL, inside->function,
                    &(struct node_call){ENTRY_cuGraphHostNodeSetParams, pack_callback, &callback, false, NULL, 0});
}

CUresult host_copy_set(CUgraphExec exec, CUgraphNode node, const struct layout_copy *copy)
{
    struct relay_context *context;
    struct inside inside;
    CUresult result = graph_enter(&context, node, TESSERA_HANDLE_GRAPH_NODE);
    if (result != CUDA_SUCCESS)
        return result;
    if (copy_leads_elsewhere(context, copy))
        return relay_unsupported("cuGraphMemcpyNodeSetParams", "a copy node with another device's memory");
    struct layout_copy resolved = *copy;
    copy_resolve(context, &resolved);
    if (!look_inside(node, &inside) || !is_on_same_sides(&resolved, &inside.rows))
        return relay_unsupported("cuGraphMemcpyNodeSetParams",
                                 "a copy node whose pageable side is another one than before");
    if (!exec)
        return set_inside(context, &inside, &resolved);
    CUgraph graph;
    result = make(copy, &graph);
    if (result == CUDA_SUCCESS)
        result = relay_cuGraphExecChildGraphNodeSetParams(exec, node, graph);
    destroy(graph);
    return result;
}
