/* Kernel nodes: their parameters travel packed, as in a launch. */
#include <stdlib.h>
#include <string.h>

#include "relay/code/functions.h"
#include "relay/graphs/node_memory.h"
#include "relay/graphs/nodes.h"
#include "relay/wire/unsupported.h"

#define MAX_PARAMETER_BYTES 32764u /* of a kernel, CUDA 12.1 and later */

/* Widens version 1 of the structure to version 2. */
static const struct layout_kernel_node *widen(const void *parameters, struct layout_kernel_node *wide)
{
    if (!parameters)
        return NULL;
    memset(wide, 0, sizeof *wide);
    memcpy(wide, parameters, LAYOUT_KERNEL_NODE_V1);
    return wide;
}

static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                    const struct layout_kernel_node *parameters)
{
    const struct node_place place = {node, graph, dependencies, count};
    return node_add(&place, &(struct node_call){ENTRY_cuGraphAddKernelNode_v2, pack_kernel, parameters, false, NULL, 0});
}

CUresult relay_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                    const void *parameters)
{
    struct layout_kernel_node wide;
    return add(node, graph, dependencies, count, widen(parameters, &wide));
}

CUresult relay_cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                       const void *parameters)
{
    return add(node, graph, dependencies, count, parameters);
}

static CUresult set(CUgraphExec exec, CUgraphNode node, const struct layout_kernel_node *parameters)
{
    unsigned entry = exec ? ENTRY_cuGraphExecKernelNodeSetParams_v2 : ENTRY_cuGraphKernelNodeSetParams_v2;
    return node_set(exec, node, &(struct node_call){entry, pack_kernel, parameters, false, NULL, 0});
}

CUresult relay_cuGraphKernelNodeSetParams(CUgraphNode node, const void *parameters)
{
    struct layout_kernel_node wide;
    return set(NULL, node, widen(parameters, &wide));
}

CUresult relay_cuGraphKernelNodeSetParams_v2(CUgraphNode node, const void *parameters)
{
    return set(NULL, node, parameters);
}

CUresult relay_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const void *parameters)
{
    struct layout_kernel_node wide;
    return exec ? set(exec, node, widen(parameters, &wide)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const void *parameters)
{
    return exec ? set(exec, node, parameters) : CUDA_ERROR_INVALID_VALUE;
}

/* Unpacks the parameters, and an array of their addresses, into memory that belongs to the node. */
static CUresult unpack(struct relay_context *context, CUgraphNode node, const unsigned char *packed,
                       struct layout_kernel_node *answer)
{
    struct function *function;
    uint64_t wire;
    CUresult result = function_of(context, (const void *)(uintptr_t)answer->function, &function, &wire);
    if (result != CUDA_SUCCESS)
        return result;
    size_t pointers = function->parameters * sizeof(void *);
    unsigned char *memory = node_memory((uintptr_t)node, pointers + function->parameter_bytes);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(memory + pointers, packed, function->parameter_bytes);
    for (uint32_t i = 0; i < function->parameters; i++)
        ((void **)memory)[i] = memory + pointers + function->parameter[i].offset;
    answer->parameters = (uintptr_t)memory;
    answer->extra = answer->kernel = 0;
    answer->context = (uintptr_t)context->handle;
    return CUDA_SUCCESS;
}

static CUresult get(CUgraphNode node, void *parameters, size_t bytes)
{
    struct relay_context *context;
    struct layout_kernel_node answer;
    CUresult result = graph_enter(&context, node, TESSERA_HANDLE_GRAPH_NODE);
    if (result != CUDA_SUCCESS || !parameters)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    unsigned char *packed = calloc(1, sizeof answer + MAX_PARAMETER_BYTES);
    if (!packed)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = MESSAGE_CALL(context, ENTRY_cuGraphKernelNodeGetParams_v2, VALUE((uintptr_t)node),
                          OUT(packed, sizeof answer + MAX_PARAMETER_BYTES));
    memcpy(&answer, packed, sizeof answer);
    if (result == CUDA_SUCCESS)
        result = unpack(context, node, packed + sizeof answer, &answer);
    if (result == CUDA_SUCCESS)
        memcpy(parameters, &answer, bytes);
    free(packed);
    return result;
}

CUresult relay_cuGraphKernelNodeGetParams(CUgraphNode node, void *parameters)
{
    return get(node, parameters, LAYOUT_KERNEL_NODE_V1);
}

CUresult relay_cuGraphKernelNodeGetParams_v2(CUgraphNode node, void *parameters)
{
    return get(node, parameters, sizeof(struct layout_kernel_node));
}

CUresult relay_cuGraphKernelNodeGetAttribute(CUgraphNode node, int attribute, void *value)
{
    struct relay_context *context;
    CUresult result = graph_enter(&context, node, TESSERA_HANDLE_GRAPH_NODE);
    if (result != CUDA_SUCCESS || !value)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    return MESSAGE_CALL(context, ENTRY_cuGraphKernelNodeGetAttribute, VALUE((uintptr_t)node), VALUE(attribute),
                        OUT(value, 64));
}

CUresult relay_cuGraphKernelNodeSetAttribute(CUgraphNode node, int attribute, const void *value)
{
    struct relay_context *context;
    CUresult result = graph_enter(&context, node, TESSERA_HANDLE_GRAPH_NODE);
    if (result != CUDA_SUCCESS || !value)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
        return relay_unsupported("cuGraphKernelNodeSetAttribute", "a kernel node that the device may change");
    return MESSAGE_CALL(context, ENTRY_cuGraphKernelNodeSetAttribute, VALUE((uintptr_t)node), VALUE(attribute),
                        IN(value, 64));
}
