/* The entries that begin, end and inspect captures. */
#include <stdlib.h>
#include <string.h>

#include "relay/streams/capture_state.h"
#include "relay/streams/graph_references.h"
#include "relay/streams/streams.h"
#include "relay/wire/message.h"
#include "relay/wire/unsupported.h"

#define MAX_DEPENDENCIES 2048u /* as many as a reply carries with their edges */

static CUresult enter(CUstream handle, struct relay_context **context, struct stream **stream)
{
    if ((uintptr_t)handle > TESSERA_STREAM_LEGACY)
        return stream_enter(handle, context, stream);
    CUresult result = relay_enter(context);
    if (result != CUDA_SUCCESS)
        return result;
    *stream = stream_of(*context, 0);
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult enter_to_begin(CUstream handle, int mode, struct relay_context **context, struct stream **stream)
{
    CUresult result = enter(handle, context, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if ((*stream)->handle == 0)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    return (*stream)->capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

CUresult relay_cuStreamBeginCapture_v2(CUstream handle, int mode)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = enter_to_begin(handle, mode, &context, &stream);
    if (result == CUDA_SUCCESS)
        result = MESSAGE_CALL(context, ENTRY_cuStreamBeginCapture_v2, VALUE(stream->handle),
                              VALUE(CU_STREAM_CAPTURE_MODE_RELAXED));
    return result != CUDA_SUCCESS ? result : capture_opened(stream, mode);
}

CUresult relay_cuStreamBeginCapture(CUstream handle)
{
    return relay_cuStreamBeginCapture_v2(handle, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult relay_cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode *dependencies,
                                           const void *edges, size_t count, int mode)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = enter_to_begin(handle, mode, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!graph || count > MAX_DEPENDENCIES || (count != 0 && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(context, ENTRY_cuStreamBeginCaptureToGraph, VALUE(stream->handle), VALUE((uintptr_t)graph),
                          IN_OR_NOTHING(dependencies, count * 8), IN_OR_NOTHING(edges, count * 8), VALUE(count),
                          VALUE(CU_STREAM_CAPTURE_MODE_RELAXED));
    return result != CUDA_SUCCESS ? result : capture_opened(stream, mode);
}

CUresult relay_cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    struct relay_context *context;
    struct stream *stream;
    uint64_t made = 0, key;
    bool invalid;
    CUresult result = enter(handle, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    result = capture_closing(stream, &invalid, &key);
    if (result != CUDA_SUCCESS)
        return result;
    result = MESSAGE_CALL(context, ENTRY_cuStreamEndCapture, VALUE(stream->handle), OUT(&made, 8));
    if (result == CUDA_SUCCESS && invalid) { /* by a rule that only the client checks */
        MESSAGE_POST(context, ENTRY_cuGraphDestroy, VALUE(made));
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (result == CUDA_SUCCESS)
        graph_references_move(key, made);
    else
        graph_references_end(key);
    *graph = (CUgraph)(uintptr_t)(result == CUDA_SUCCESS ? made : 0);
    return result;
}

static CUresult status_of(CUstream handle, struct relay_context **context, struct stream **stream, int *state,
                          uint64_t *id)
{
    CUresult result = enter(handle, context, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    *state = 0;
    if (!capture_any())
        return CUDA_SUCCESS;
    if ((*stream)->handle == 0 && (result = capture_implicit_open(*context)) != CUDA_SUCCESS)
        return result;
    struct capture_status status = capture_status(*stream);
    *state = status.state;
    if (id && status.state == 1)
        *id = status.id;
    return CUDA_SUCCESS;
}

CUresult relay_cuStreamIsCapturing(CUstream handle, int *state)
{
    struct relay_context *context;
    struct stream *stream;
    return status_of(handle, &context, &stream, state, NULL);
}

CUresult relay_cuStreamGetCaptureInfo(CUstream handle, int *state, uint64_t *id)
{
    struct relay_context *context;
    struct stream *stream;
    return status_of(handle, &context, &stream, state, id);
}

/* The arrays that a thread's last query returned. They are valid until its next query. */
struct answer {
    uint64_t node[MAX_DEPENDENCIES];
    uint64_t edge[MAX_DEPENDENCIES];
};

static struct answer *room(void)
{
    static __thread struct answer *mine __attribute__((tls_model("initial-exec"))); /* 32 KiB for threads that ask */
    if (!mine)
        mine = calloc(1, sizeof *mine);
    return mine;
}

CUresult relay_cuStreamGetCaptureInfo_v3(CUstream handle, int *state, uint64_t *id, CUgraph *graph,
                                         const CUgraphNode **dependencies, const void **edges, size_t *count)
{
    struct relay_context *context;
    struct stream *stream;
    uint64_t made = 0, found = 0;
    int ignored;
    CUresult result = status_of(handle, &context, &stream, state, id);
    if (result != CUDA_SUCCESS || *state != 1 || (!graph && !dependencies && !edges && !count))
        return result;
    struct answer *answer = room();
    if (!answer)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = MESSAGE_CALL(context, ENTRY_cuStreamGetCaptureInfo_v3, VALUE(stream->handle), OUT(&ignored, 4), NOTHING,
                          OUT(&made, 8), OUT(answer->node, sizeof answer->node), OUT(answer->edge, sizeof answer->edge),
                          OUT(&found, 8));
    if (result != CUDA_SUCCESS)
        return result;
    if (found > MAX_DEPENDENCIES)
        return relay_unsupported("cuStreamGetCaptureInfo_v3", "more dependencies than a reply carries");
    if (graph)
        *graph = (CUgraph)(uintptr_t)made;
    if (dependencies)
        *dependencies = (const CUgraphNode *)answer->node;
    if (edges)
        *edges = answer->edge;
    if (count)
        *count = found;
    return CUDA_SUCCESS;
}

CUresult relay_cuStreamGetCaptureInfo_v2(CUstream handle, int *state, uint64_t *id, CUgraph *graph,
                                         const CUgraphNode **dependencies, size_t *count)
{
    return relay_cuStreamGetCaptureInfo_v3(handle, state, id, graph, dependencies, NULL, count);
}

CUresult relay_cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode *dependencies, const void *edges,
                                                    size_t count, unsigned int flags)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = enter(handle, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (flags > 1 || count > MAX_DEPENDENCIES || (count != 0 && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    return MESSAGE_CALL(context, ENTRY_cuStreamUpdateCaptureDependencies_v2, VALUE(stream->handle),
                        IN_OR_NOTHING(dependencies, count * 8), IN_OR_NOTHING(edges, count * 8), VALUE(count),
                        VALUE(flags));
}

CUresult relay_cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode *dependencies, size_t count,
                                                 unsigned int flags)
{
    return relay_cuStreamUpdateCaptureDependencies_v2(handle, dependencies, NULL, count, flags);
}
