#include "relay/graphs/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "relay/memory/range.h"
#include "relay/streams/graph_references.h"
#include "relay/streams/launch.h"
#include "relay/wire/callbacks.h"
#include "relay/wire/unsupported.h"

#define MAX_OPERATIONS 256u
#define MAX_ACCESS 64u
#define MAX_BODIES 1024u

static CUresult room(struct packed *packed, const void *structure, size_t bytes, size_t more)
{
    packed->data = calloc(1, bytes + more);
    packed->bytes = bytes + more;
    packed->word = -1;
    if (!packed->data)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(packed->data, structure, bytes);
    return CUDA_SUCCESS;
}

void packed_release(struct packed *packed)
{
    if (packed->word >= 0)
        callback_release(packed->link, packed->word);
    free(packed->data);
    packed->data = NULL;
    packed->word = -1;
}

void packed_held(struct packed *packed, uint64_t holder)
{
    if (packed->word >= 0)
        graph_references_add_word(holder, packed->link, packed->word);
    packed->word = -1;
}

/* Checks a kernel node, and fills in the structure to send (*sent) and the source of its parameters. */
static CUresult kernel_of(struct relay_context *context, const struct layout_kernel_node *parameters,
                          struct function **function, struct layout_kernel_node *sent, struct parameter_source *source)
{
    uint64_t wire;
    const struct launch launch = {
        .function = (const void *)(uintptr_t)(parameters->function ? parameters->function : parameters->kernel),
        .grid = {parameters->grid[0], parameters->grid[1], parameters->grid[2]},
        .block = {parameters->block[0], parameters->block[1], parameters->block[2]},
        .shared_bytes = parameters->shared_bytes,
        .parameters = (void **)(uintptr_t)parameters->parameters,
        .extra = (void **)(uintptr_t)parameters->extra,
    };
    CUresult result = function_of(context, launch.function, function, &wire);
    if (result == CUDA_SUCCESS)
        result = launch_check(*function, &launch, source);
    if (result != CUDA_SUCCESS)
        return result;
    *sent = *parameters;
    sent->function = relay_handle_type(wire) == TESSERA_HANDLE_KERNEL ? (*function)->handle : wire;
    sent->parameters = sent->extra = sent->kernel = sent->context = 0;
    return CUDA_SUCCESS;
}

CUresult pack_kernel(struct relay_context *context, const void *structure, struct packed *packed)
{
    const struct layout_kernel_node *parameters = structure;
    struct function *function;
    struct parameter_source source;
    struct layout_kernel_node sent;
    CUresult result = kernel_of(context, parameters, &function, &sent, &source);
    if (result == CUDA_SUCCESS)
        result = room(packed, &sent, sizeof sent, function->parameter_bytes);
    if (result == CUDA_SUCCESS)
        launch_pack(function, &source, packed->data + sizeof sent);
    return result;
}

/* A graph accesses host memory when it runs, so client and executor must both have it mapped (other memory: host_copies.c). */
static CUresult check_side(const struct layout_copy_side *side)
{
    struct relay_range range;
    uint64_t address = side->memory_type == CU_MEMORYTYPE_HOST ? side->host : side->device;
    if (side->memory_type != CU_MEMORYTYPE_HOST && side->memory_type != CU_MEMORYTYPE_UNIFIED)
        return CUDA_SUCCESS;
    bool known = relay_range_find(address, &range) && range.kind != RELAY_RANGE_REGISTERED;
    return known ? CUDA_SUCCESS
                 : relay_unsupported("cuGraphAddMemcpyNode", "host memory that is not pinned by this client");
}

static CUresult check_copy(const struct layout_copy *copy)
{
    CUresult result = check_side(&copy->source);
    return result != CUDA_SUCCESS ? result : check_side(&copy->destination);
}

CUresult pack_copy(struct relay_context *context, const void *structure, struct packed *packed)
{
    const struct layout_copy *parameters = structure;
    (void)context;
    CUresult result = check_copy(parameters);
    return result != CUDA_SUCCESS ? result : room(packed, parameters, sizeof *parameters, 0);
}

CUresult pack_callback(struct relay_context *context, const void *structure, struct packed *packed)
{
    const struct callback *callback = structure;
    if (!callback->function)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = room(packed, &(struct layout_host_node){0}, sizeof(struct layout_host_node), 0);
    if (result != CUDA_SUCCESS)
        return result;
    packed->link = context->link;
    packed->word = callback_prepare(context, callback, true);
    ((struct layout_host_node *)packed->data)->data = (uint64_t)packed->word;
    return packed->word >= 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult pack_memset(struct relay_context *context, const void *structure, struct packed *packed)
{
    (void)context;
    return room(packed, structure, LAYOUT_MEMSET_NODE_V1, 0);
}

CUresult pack_host(struct relay_context *context, const void *structure, struct packed *packed)
{
    const struct layout_host_node *parameters = structure;
    const struct callback callback = {.function = (void (*)(void *))(uintptr_t)parameters->function,
                                      .data = (void *)(uintptr_t)parameters->data};
    return pack_callback(context, &callback, packed);
}

static CUresult check_operations(const struct layout_memory_ops_node *node)
{
    return node->count > MAX_OPERATIONS || (node->count != 0 && !node->operations) ? CUDA_ERROR_INVALID_VALUE
                                                                                   : CUDA_SUCCESS;
}

CUresult pack_operations(struct relay_context *context, const void *structure, struct packed *packed)
{
    const struct layout_memory_ops_node *parameters = structure;
    (void)context;
    struct layout_memory_ops_node sent = *parameters;
    sent.context = sent.operations = 0;
    CUresult result = check_operations(parameters);
    if (result == CUDA_SUCCESS)
        result = room(packed, &sent, sizeof sent, parameters->count * LAYOUT_MEMORY_OP);
    if (result == CUDA_SUCCESS && parameters->count)
        memcpy(packed->data + sizeof sent, (const void *)(uintptr_t)parameters->operations,
               parameters->count * LAYOUT_MEMORY_OP);
    return result;
}

static CUresult check_alloc(const struct layout_alloc_node *node)
{
    return node->access_count > MAX_ACCESS || (node->access_count != 0 && !node->access) ? CUDA_ERROR_INVALID_VALUE
                                                                                         : CUDA_SUCCESS;
}

CUresult pack_alloc(struct relay_context *context, const void *structure, struct packed *packed)
{
    const struct layout_alloc_node *parameters = structure;
    (void)context;
    struct layout_alloc_node sent = *parameters;
    sent.access = 0;
    CUresult result = check_alloc(parameters);
    if (result == CUDA_SUCCESS)
        result = room(packed, &sent, sizeof sent, parameters->access_count * LAYOUT_ACCESS);
    if (result == CUDA_SUCCESS && parameters->access_count)
        memcpy(packed->data + sizeof sent, (const void *)(uintptr_t)parameters->access,
               parameters->access_count * LAYOUT_ACCESS);
    return result;
}

/* Packs nodes whose structures hold no pointers to data. Contexts are not sent. */
static CUresult pack_plain(const struct layout_node *parameters, struct packed *packed)
{
    CUresult result = CUDA_SUCCESS;
    struct layout_node sent = *parameters;
    size_t more = 0;
    switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        result = check_copy(&parameters->of.copy.copy);
        sent.of.copy.context = 0;
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        sent.of.memset.context = 0;
        break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        if (parameters->of.conditional.size == 0 || parameters->of.conditional.size > MAX_BODIES)
            return CUDA_ERROR_INVALID_VALUE;
        sent.of.conditional.graphs = sent.of.conditional.context = 0;
        more = parameters->of.conditional.size * sizeof(uint64_t);
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        break;
    default:
        return relay_unsupported("cuGraphAddNode", "nodes of this type");
    }
    return result != CUDA_SUCCESS ? result : room(packed, &sent, sizeof sent, more);
}

/* Puts a structure and the data behind it into the union of CUgraphNodeParams. */
static CUresult wrap(const struct layout_node *parameters, struct packed *packed, size_t structure_bytes)
{
    struct packed inner = *packed;
    struct layout_node sent = *parameters;
    memcpy(&sent.of, inner.data, structure_bytes);
    packed->data = NULL;
    int word = inner.word;
    CUresult result = room(packed, &sent, sizeof sent, inner.bytes - structure_bytes);
    packed->word = word;
    if (result == CUDA_SUCCESS)
        memcpy(packed->data + sizeof sent, inner.data + structure_bytes, inner.bytes - structure_bytes);
    free(inner.data);
    return result;
}

CUresult pack_node(struct relay_context *context, const void *structure, struct packed *packed)
{
    const struct layout_node *parameters = structure;
    CUresult result;
    switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        result = pack_kernel(context, &parameters->of.kernel, packed);
        return result != CUDA_SUCCESS ? result : wrap(parameters, packed, sizeof parameters->of.kernel);
    case CU_GRAPH_NODE_TYPE_HOST:
        result = pack_host(context, &parameters->of.host, packed);
        return result != CUDA_SUCCESS ? result : wrap(parameters, packed, sizeof parameters->of.host);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        result = pack_operations(context, &parameters->of.operations, packed);
        return result != CUDA_SUCCESS ? result : wrap(parameters, packed, sizeof parameters->of.operations);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        result = pack_alloc(context, &parameters->of.alloc, packed);
        return result != CUDA_SUCCESS ? result : wrap(parameters, packed, sizeof parameters->of.alloc);
    default:
        return pack_plain(parameters, packed);
    }
}

CUresult node_add(const struct node_place *place, const struct node_call *call)
{
    struct relay_context *context;
    struct packed packed = {.word = -1};
    uint64_t made = 0;
    CUresult result = graph_enter(&context, place->graph, TESSERA_HANDLE_GRAPH);
    if (result != CUDA_SUCCESS)
        return result;
    if (!place->node || !call->parameters || (place->count != 0 && !place->dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    result = call->pack(context, call->parameters, &packed);
    if (result == CUDA_SUCCESS) {
        const struct message_argument arguments[] = {
            PLACE_ARGUMENTS(place, &made), call->out ? INOUT(packed.data, packed.bytes) : IN(packed.data, packed.bytes),
            VALUE(0)};
        result = message_call(context, call->entry, arguments, call->with_context ? 6 : 5);
    }
    if (result == CUDA_SUCCESS) {
        *place->node = (CUgraphNode)(uintptr_t)made;
        packed_held(&packed, (uintptr_t)place->graph);
        if (call->out)
            memcpy(call->out, packed.data, call->out_bytes);
    }
    packed_release(&packed);
    return result;
}

CUresult node_set(CUgraphExec exec, CUgraphNode node, const struct node_call *call)
{
    struct relay_context *context;
    struct packed packed = {.word = -1};
    CUresult result = graph_enter(&context, node, TESSERA_HANDLE_GRAPH_NODE);
    if (result != CUDA_SUCCESS)
        return result;
    if (!call->parameters)
        return CUDA_ERROR_INVALID_VALUE;
    result = call->pack(context, call->parameters, &packed);
    if (result == CUDA_SUCCESS) {
        const struct message_argument arguments[] = {VALUE((uintptr_t)exec), VALUE((uintptr_t)node),
                                                     IN(packed.data, packed.bytes), VALUE(0)};
        result = message_call(context, call->entry, exec ? arguments : arguments + 1,
                              2u + (exec != NULL) + call->with_context);
    }
    if (result == CUDA_SUCCESS) /* the client does not know the node's graph, so the context keeps the word */
        packed_held(&packed, (uintptr_t)(exec ? (void *)exec : (void *)context->handle));
    packed_release(&packed);
    return result;
}
