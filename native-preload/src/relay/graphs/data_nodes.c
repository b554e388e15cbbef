/* Nodes that copy, set, wait for and write memory, and that allocate and free it. */
#include <string.h>

#include "relay/graphs/host_copies.h"
#include "relay/graphs/node_memory.h"
#include "relay/graphs/nodes.h"
#include "relay/memory/range.h"
#include "relay_stubs.h"

#define MAX_ANSWERED 64u /* an answer has room for so many access descriptors, and four times as many operations */

/*
 * Context handles are not sent: the node gets the record's context, whichever context of the device the program names.
 */
static CUresult check_context(CUcontext handle)
{
    const struct relay_context *context = handle ? relay_context_of(handle) : relay_current;
    return context && context->alive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult relay_cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                    const void *parameters, CUcontext context)
{
    const struct node_place place = {node, graph, dependencies, count};
    CUresult result = check_context(context);
    if (result != CUDA_SUCCESS)
        return result;
    if (node && relay_current && host_copy_needed(relay_current, parameters))
        return host_copy_add(&place, parameters);
    return node_add(&place, &(struct node_call){ENTRY_cuGraphAddMemcpyNode, pack_copy, parameters, true, NULL, 0});
}

/* Whether the node copies pageable memory, or would with the new parameters. */
static bool is_host_copy(CUgraphNode node, const struct layout_copy *copy)
{
    return copy && relay_current && (host_copy_needed(relay_current, copy) || host_copy_is(node, NULL));
}

CUresult relay_cuGraphMemcpyNodeSetParams(CUgraphNode node, const void *parameters)
{
    if (is_host_copy(node, parameters))
        return host_copy_set(NULL, node, parameters);
    return node_set(NULL, node,
                    &(struct node_call){ENTRY_cuGraphMemcpyNodeSetParams, pack_copy, parameters, false, NULL, 0});
}

CUresult relay_cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const void *parameters,
                                              CUcontext context)
{
    CUresult result = exec ? check_context(context) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    if (is_host_copy(node, parameters))
        return host_copy_set(exec, node, parameters);
    return node_set(exec, node,
                    &(struct node_call){ENTRY_cuGraphExecMemcpyNodeSetParams, pack_copy, parameters, true, NULL, 0});
}

CUresult relay_cuGraphMemcpyNodeGetParams(CUgraphNode node, void *parameters)
{
    struct relay_context *context;
    CUresult result = graph_enter(&context, node, TESSERA_HANDLE_GRAPH_NODE);
    if (result != CUDA_SUCCESS || !parameters)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(context, ENTRY_cuGraphMemcpyNodeGetParams, VALUE((uintptr_t)node),
                          OUT(parameters, sizeof(struct layout_copy)));
    return result != CUDA_SUCCESS && host_copy_is(node, parameters) ? CUDA_SUCCESS : result;
}

CUresult relay_cuGraphNodeGetType(CUgraphNode node, int *type)
{
    CUresult result = relay_send_cuGraphNodeGetType(node, type);
    if (result == CUDA_SUCCESS && *type == CU_GRAPH_NODE_TYPE_GRAPH && host_copy_is(node, NULL))
        *type = CU_GRAPH_NODE_TYPE_MEMCPY;
    return result;
}

CUresult relay_cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                    const void *parameters, CUcontext context)
{
    const struct node_place place = {node, graph, dependencies, count};
    CUresult result = check_context(context);
    return result != CUDA_SUCCESS ? result
                                  : node_add(&place, &(struct node_call){ENTRY_cuGraphAddMemsetNode, pack_memset,
                                                                         parameters, true, NULL, 0});
}

CUresult relay_cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const void *parameters,
                                              CUcontext context)
{
    CUresult result = exec ? check_context(context) : CUDA_ERROR_INVALID_VALUE;
    return result != CUDA_SUCCESS ? result
                                  : node_set(exec, node,
                                             &(struct node_call){ENTRY_cuGraphExecMemsetNodeSetParams, pack_memset,
                                                                 parameters, true, NULL, 0});
}

CUresult relay_cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                        const void *parameters)
{
    const struct node_place place = {node, graph, dependencies, count};
    return node_add(&place,
                    &(struct node_call){ENTRY_cuGraphAddBatchMemOpNode, pack_operations, parameters, false, NULL, 0});
}

CUresult relay_cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const void *parameters)
{
    return node_set(NULL, node,
                    &(struct node_call){ENTRY_cuGraphBatchMemOpNodeSetParams, pack_operations, parameters, false, NULL,
                                        0});
}

CUresult relay_cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node, const void *parameters)
{
    return exec ? node_set(exec, node,
                           &(struct node_call){ENTRY_cuGraphExecBatchMemOpNodeSetParams, pack_operations, parameters,
                                               false, NULL, 0})
                : CUDA_ERROR_INVALID_VALUE;
}

/* Reads the node's structure. The data behind its pointers goes to memory that belongs to the node (*followers). */
static CUresult get(CUgraphNode node, unsigned entry, void *structure, size_t bytes, size_t room, void **followers)
{
    struct relay_context *context;
    unsigned char answer[16384];
    CUresult result = graph_enter(&context, node, TESSERA_HANDLE_GRAPH_NODE);
    if (result != CUDA_SUCCESS || !structure)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    memset(answer, 0, bytes + room);
    result = MESSAGE_CALL(context, entry, VALUE((uintptr_t)node), OUT(answer, bytes + room));
    if (result != CUDA_SUCCESS)
        return result;
    *followers = node_memory((uintptr_t)node, room);
    if (!*followers)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(*followers, answer + bytes, room);
    memcpy(structure, answer, bytes);
    return CUDA_SUCCESS;
}

CUresult relay_cuGraphBatchMemOpNodeGetParams(CUgraphNode node, void *parameters)
{
    struct layout_memory_ops_node *answer = parameters;
    void *operations;
    CUresult result = get(node, ENTRY_cuGraphBatchMemOpNodeGetParams, parameters, sizeof *answer,
                          4 * MAX_ANSWERED * LAYOUT_MEMORY_OP, &operations);
    if (result == CUDA_SUCCESS) {
        answer->operations = (uintptr_t)operations;
        answer->context = (uintptr_t)relay_current->handle;
    }
    return result;
}

CUresult relay_cuGraphMemAllocNodeGetParams(CUgraphNode node, void *parameters)
{
    struct layout_alloc_node *answer = parameters;
    void *access;
    CUresult result = get(node, ENTRY_cuGraphMemAllocNodeGetParams, parameters, sizeof *answer,
                          MAX_ANSWERED * LAYOUT_ACCESS, &access);
    if (result == CUDA_SUCCESS)
        answer->access = answer->access_count ? (uintptr_t)access : 0;
    return result;
}

/* Copies and queries must know the address as long as the graph lives. */
static CUresult enter_range(const struct layout_alloc_node *made)
{
    const struct relay_range range = {.start = made->pointer,
                                      .bytes = made->bytes,
                                      .kind = RELAY_RANGE_GRAPH,
                                      .link = relay_current->link,
                                      .context = relay_current};
    return made->pointer == 0 || relay_range_add(&range) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult relay_cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                      void *parameters)
{
    const struct node_place place = {node, graph, dependencies, count};
    struct layout_alloc_node made = {0}, *asked = parameters;
    CUresult result = node_add(&place, &(struct node_call){ENTRY_cuGraphAddMemAllocNode, pack_alloc, parameters, false,
                                                           &made, sizeof made});
    if (result != CUDA_SUCCESS)
        return result;
    asked->pointer = made.pointer;
    return enter_range(asked);
}

CUresult relay_cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                     CUdeviceptr pointer)
{
    const struct node_place place = {node, graph, dependencies, count};
    struct relay_context *context;
    uint64_t made = 0;
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH);
    if (result != CUDA_SUCCESS || !node || (count != 0 && !dependencies))
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(context, ENTRY_cuGraphAddMemFreeNode, PLACE_ARGUMENTS(&place, &made), VALUE(pointer));
    if (result == CUDA_SUCCESS)
        *node = (CUgraphNode)(uintptr_t)made;
    return result;
}
