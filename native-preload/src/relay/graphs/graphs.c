/* Instantiation, launch and end of graphs, and the client's records of them. */
#include "relay/graphs/graphs.h"

#include <stdlib.h>

#include "relay/wire/callbacks.h"
#include "relay/wire/layouts.h"
#include "relay/streams/capture.h"
#include "relay/streams/graph_references.h"
#include "relay/wire/message.h"
#include "relay/graphs/node_memory.h"
#include "relay/streams/streams.h"
#include "session/hash_table.h"

/* The last launch of an instantiated graph: its resources are released when that launch is over. */
struct launched {
    struct relay_context *context;
    uint64_t wire;
};

static struct table launches = TABLE_INITIAL;

CUresult graph_enter(struct relay_context **context, const void *handle, unsigned type)
{
    CUresult result = relay_enter(context);
    if (result != CUDA_SUCCESS)
        return result;
    return relay_handle_type((uintptr_t)handle) == type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuGraphDestroy(CUgraph graph)
{
    struct relay_context *context;
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH);
    if (result == CUDA_SUCCESS)
        result = MESSAGE_CALL(context, ENTRY_cuGraphDestroy, VALUE((uintptr_t)graph));
    if (result == CUDA_SUCCESS)
        graph_references_end((uintptr_t)graph);
    return result;
}

CUresult relay_cuGraphClone(CUgraph *clone, CUgraph graph)
{
    struct relay_context *context;
    uint64_t made = 0;
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH);
    if (result != CUDA_SUCCESS || !clone)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(context, ENTRY_cuGraphClone, OUT(&made, 8), VALUE((uintptr_t)graph));
    if (result != CUDA_SUCCESS)
        return result;
    *clone = (CUgraph)(uintptr_t)made;
    return graph_references_copy((uintptr_t)graph, made);
}

CUresult relay_cuGraphDestroyNode(CUgraphNode node)
{
    struct relay_context *context;
    CUresult result = graph_enter(&context, node, TESSERA_HANDLE_GRAPH_NODE);
    if (result == CUDA_SUCCESS)
        result = MESSAGE_CALL(context, ENTRY_cuGraphDestroyNode, VALUE((uintptr_t)node));
    if (result == CUDA_SUCCESS)
        node_memory_forget((uintptr_t)node);
    return result;
}

static CUresult instantiated(CUresult result, CUgraphExec *answer, uint64_t made, CUgraph graph)
{
    if (result != CUDA_SUCCESS)
        return result;
    *answer = (CUgraphExec)(uintptr_t)made;
    return graph_references_copy((uintptr_t)graph, made);
}

CUresult relay_cuGraphInstantiate(CUgraphExec *answer, CUgraph graph, CUgraphNode *error_node, char *log, size_t bytes)
{
    struct relay_context *context;
    uint64_t made = 0;
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH);
    if (result != CUDA_SUCCESS || !answer)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    if (bytes > TESSERA_RELAY_REPLY_MAX - 64)
        bytes = TESSERA_RELAY_REPLY_MAX - 64;
    result = MESSAGE_CALL(context, ENTRY_cuGraphInstantiate_v2, OUT(&made, 8), VALUE((uintptr_t)graph),
                          OUT_OR_NOTHING(error_node, 8), OUT_OR_NOTHING(log, bytes), VALUE(log ? bytes : 0));
    return instantiated(result, answer, made, graph);
}

CUresult relay_cuGraphInstantiate_v2(CUgraphExec *answer, CUgraph graph, CUgraphNode *error_node, char *log,
                                     size_t bytes)
{
    return relay_cuGraphInstantiate(answer, graph, error_node, log, bytes);
}

CUresult relay_cuGraphInstantiateWithFlags(CUgraphExec *answer, CUgraph graph, unsigned long long flags)
{
    struct relay_context *context;
    uint64_t made = 0;
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH);
    if (result != CUDA_SUCCESS || !answer)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(context, ENTRY_cuGraphInstantiateWithFlags, OUT(&made, 8), VALUE((uintptr_t)graph),
                          VALUE(flags));
    return instantiated(result, answer, made, graph);
}

/* CUDA_GRAPH_INSTANTIATE_PARAMS */
struct instantiate_parameters {
    uint64_t flags;
    uint64_t upload_stream;
    uint64_t error_node;
    uint32_t result;
    uint32_t pad;
};

static CUresult instantiate_with(CUgraphExec *answer, CUgraph graph, struct instantiate_parameters *parameters,
                                 bool per_thread)
{
    struct relay_context *context;
    uint64_t made = 0, wire = 0;
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH);
    if (result != CUDA_SUCCESS || !answer || !parameters)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    if (parameters->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
        result = relay_stream_wire(context, (CUstream)(uintptr_t)parameters->upload_stream, per_thread, &wire);
    if (result != CUDA_SUCCESS)
        return result;
    struct instantiate_parameters sent = *parameters;
    sent.upload_stream = wire;
    result = MESSAGE_CALL(context, ENTRY_cuGraphInstantiateWithParams, OUT(&made, 8), VALUE((uintptr_t)graph),
                          INOUT(&sent, sizeof sent));
    parameters->error_node = sent.error_node;
    parameters->result = sent.result;
    return instantiated(result, answer, made, graph);
}

CUresult relay_cuGraphInstantiateWithParams(CUgraphExec *answer, CUgraph graph, void *parameters)
{
    return instantiate_with(answer, graph, parameters, false);
}

CUresult relay_cuGraphInstantiateWithParams_ptsz(CUgraphExec *answer, CUgraph graph, void *parameters)
{
    return instantiate_with(answer, graph, parameters, true);
}

static void remember_launch(CUgraphExec graph, const struct stream *stream)
{
    if (!graph_references_any((uintptr_t)graph))
        return;
    struct launched *launched = table_find(&launches, (uintptr_t)graph);
    if (!launched && (launched = malloc(sizeof *launched)) != NULL && !table_put(&launches, (uintptr_t)graph, launched)) {
        free(launched);
        launched = NULL;
    }
    if (launched)
        *launched = (struct launched){stream->context, stream->handle};
}

static CUresult submit(CUgraphExec graph, CUstream handle, unsigned entry)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = stream_enter(handle, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (relay_handle_type((uintptr_t)graph) != TESSERA_HANDLE_GRAPH_EXEC)
        return CUDA_ERROR_INVALID_VALUE;
    if (capture_any() && (result = capture_submit(stream)) != CUDA_SUCCESS)
        return result;
    if ((result = relay_take_error(context->link)) != CUDA_SUCCESS)
        return result;
    relay_count(context->link, TESSERA_KIND_GRAPH_LAUNCH);
    uint64_t captured = capture_key(stream);
    if (captured && (result = graph_references_copy((uintptr_t)graph, captured)) != CUDA_SUCCESS)
        return result;
    result = MESSAGE_POST(context, entry, VALUE((uintptr_t)graph), VALUE(stream->handle));
    stream_submitted(stream);
    if (!captured)
        remember_launch(graph, stream);
    return result;
}

CUresult relay_cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
    return submit(graph, stream, ENTRY_cuGraphLaunch);
}

CUresult relay_cuGraphUpload(CUgraphExec graph, CUstream stream)
{
    return submit(graph, stream, ENTRY_cuGraphUpload);
}

static void end_holdings(void *holder)
{
    graph_references_end((uintptr_t)holder);
}

/*
 * A graph that may still run releases its resources when its last launch is over. A host function behind the launch
 * does this.
 */
static void end_after_launch(uint64_t graph)
{
    struct launched *launched = table_take(&launches, graph);
    if (launched && launched->context->alive && stream_of(launched->context, launched->wire)) {
        const struct callback callback = {.function = end_holdings, .data = (void *)(uintptr_t)graph};
        int word = callback_prepare(launched->context, &callback, false);
        if (word >= 0 &&
            relay_send_mark(launched->context, TESSERA_RELAY_HOST_CALL, launched->wire, word, 0) == CUDA_SUCCESS) {
            free(launched);
            return;
        }
    }
    free(launched);
    graph_references_end(graph);
}

CUresult relay_cuGraphExecDestroy(CUgraphExec graph)
{
    struct relay_context *context;
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH_EXEC);
    if (result == CUDA_SUCCESS)
        result = MESSAGE_CALL(context, ENTRY_cuGraphExecDestroy, VALUE((uintptr_t)graph));
    if (result == CUDA_SUCCESS)
        end_after_launch((uintptr_t)graph);
    return result;
}

CUresult relay_cuGraphExecUpdate_v2(CUgraphExec graph, CUgraph from, void *answer)
{
    struct relay_context *context;
    CUresult result = graph_enter(&context, graph, TESSERA_HANDLE_GRAPH_EXEC);
    if (result != CUDA_SUCCESS || !answer)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(context, ENTRY_cuGraphExecUpdate_v2, VALUE((uintptr_t)graph), VALUE((uintptr_t)from),
                          OUT(answer, LAYOUT_UPDATE_RESULT));
    return result == CUDA_SUCCESS ? graph_references_copy((uintptr_t)from, (uintptr_t)graph) : result;
}

CUresult relay_cuGraphExecUpdate(CUgraphExec graph, CUgraph from, CUgraphNode *error_node, int *answer)
{
    struct {
        int32_t result, pad;
        uint64_t error_node, error_from_node;
    } info = {0};
    CUresult result = relay_cuGraphExecUpdate_v2(graph, from, &info);
    if (error_node)
        *error_node = (CUgraphNode)(uintptr_t)info.error_node;
    if (answer)
        *answer = info.result;
    return result;
}
