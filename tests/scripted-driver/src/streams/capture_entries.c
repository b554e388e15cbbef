/* The entries that begin, end and inspect captures. */
#include "streams/capture.h"
#include "entry.h"
#include "graphs/graph.h"

static CUresult begin(struct stream *s, int mode, struct graph *into, struct graph_node *const *needs, size_t count)
{
    LOCKED;
    if (into && !handle_is(HANDLE_GRAPH, into))
        return ERROR_INVALID_VALUE;
    return capture_begin(s, mode, into, needs, count);
}

STREAM_PAIR(cuStreamBeginCapture, (void *stream), begin(target, 0, NULL, NULL, 0))
STREAM_PAIR(cuStreamBeginCapture_v2, (void *stream, int mode), begin(target, mode, NULL, NULL, 0))
STREAM_PAIR(cuStreamBeginCaptureToGraph,
            (void *stream, struct graph *graph, struct graph_node *const *needs, const void *edges, size_t count,
             int mode),
            ((void)edges, graph ? begin(target, mode, graph, needs, count) : ERROR_INVALID_VALUE))

static CUresult end(struct stream *s, struct graph **graph)
{
    if (!graph)
        return ERROR_INVALID_VALUE;
    LOCKED;
    return capture_end(s, graph);
}

STREAM_PAIR(cuStreamEndCapture, (void *stream, struct graph **graph), end(target, graph))

/* 0 none, 1 active, 2 invalidated. Asking the legacy stream while a blocking one is captured is 906. */
static CUresult status(struct stream *s, int *out)
{
    if (!out)
        return ERROR_INVALID_VALUE;
    LOCKED;
    CUresult error = s->legacy ? capture_implicit(s->context) : OK;
    if (!error)
        *out = !s->capture ? 0 : s->capture->invalidated ? 2 : 1;
    return error;
}

STREAM_PAIR(cuStreamIsCapturing, (void *stream, int *out), status(target, out))

static CUresult describe(struct stream *s, int *state, uint64_t *id, struct graph **graph,
                         struct graph_node *const **needs, const void **edges, size_t *count)
{
    CUresult error = status(s, state);
    if (error || *state != 1)
        return error;
    LOCKED;
    if (!s->capture)
        return OK;
    if (id)
        *id = s->capture->id;
    if (graph)
        *graph = s->capture->graph;
    if (needs)
        *needs = &s->capture_tail;
    if (edges)
        *edges = NULL;
    if (count)
        *count = s->capture_tail != NULL;
    return OK;
}

STREAM_PAIR(cuStreamGetCaptureInfo, (void *stream, int *state, uint64_t *id),
            describe(target, state, id, NULL, NULL, NULL, NULL))
STREAM_PAIR(cuStreamGetCaptureInfo_v2,
            (void *stream, int *state, uint64_t *id, struct graph **graph, struct graph_node *const **needs,
             size_t *count),
            describe(target, state, id, graph, needs, NULL, count))
STREAM_PAIR(cuStreamGetCaptureInfo_v3,
            (void *stream, int *state, uint64_t *id, struct graph **graph, struct graph_node *const **needs,
             const void **edges, size_t *count),
            describe(target, state, id, graph, needs, edges, count))

EXPORT CUresult cuThreadExchangeStreamCaptureMode(int *mode)
{
    ENTER_EARLY(cuThreadExchangeStreamCaptureMode);
    if (!mode || *mode < 0 || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return ERROR_INVALID_VALUE;
    int before = capture_thread_mode;
    capture_thread_mode = *mode;
    *mode = before;
    return OK;
}
