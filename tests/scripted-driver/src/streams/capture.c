#include "streams/capture.h"

#include <stdlib.h>

#include "graphs/graph.h"

static struct capture *captures;
_Thread_local int capture_thread_mode;

CUresult capture_record(struct stream *s, struct work *w)
{
    struct capture *c = s->capture;
    if (c->invalidated) {
        work_free(w);
        return ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    struct graph_node *tail = s->capture_tail;
    s->capture_tail = graph_add(c->graph, graph_type_of(w), w, &tail, tail ? 1 : 0);
    s->capture_unjoined = true;
    return OK;
}

CUresult capture_unsafe(void)
{
    if (capture_thread_mode == 2)
        return OK;
    CUresult answer = OK;
    for (struct capture *c = captures; c; c = c->next) {
        bool own = pthread_equal(c->owner, pthread_self());
        if (own ? c->mode != 2 : capture_thread_mode == 0 && c->mode == 0) {
            c->invalidated = true;
            answer = ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return answer;
}

CUresult capture_implicit(struct context *context)
{
    CUresult answer = OK;
    for (struct stream *s = context->streams; s; s = s->next)
        if (s->blocking && s->capture) {
            s->capture->invalidated = true;
            answer = ERROR_STREAM_CAPTURE_IMPLICIT;
        }
    return answer;
}

CUresult capture_synchronised(struct context *context)
{
    CUresult answer = OK;
    for (struct stream *s = context->streams; s; s = s->next)
        if (s->capture) {
            s->capture->invalidated = true;
            answer = ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return answer;
}

CUresult capture_touched(struct stream *s)
{
    if (s->legacy) {
        CUresult error = capture_implicit(s->context);
        if (error)
            return error;
    }
    if (!s->capture)
        return OK;
    s->capture->invalidated = true;
    return ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult capture_event_touched(struct event *e)
{
    if (!e->capture)
        return OK;
    e->capture->invalidated = true;
    return ERROR_CAPTURED_EVENT;
}

void capture_recorded(struct stream *s, struct event *e)
{
    e->capture = s->capture;
    e->node = s->capture_tail;
    e->capture_stream = s;
}

/* The stream's next node comes after the event's as well: both tails join in an empty node. */
static void join(struct stream *s, struct event *e)
{
    if (!e->node || e->node == s->capture_tail)
        return;
    if (!s->capture_tail) {
        s->capture_tail = e->node;
        return;
    }
    struct graph_node *needs[2] = {s->capture_tail, e->node};
    s->capture_tail = graph_add(s->capture->graph, NODE_EMPTY, NULL, needs, 2);
}

CUresult capture_wait(struct stream *s, struct event *e, bool *handled)
{
    *handled = s->capture || e->capture;
    if (!*handled)
        return OK;
    if (!e->capture) { /* the captured stream would depend on work outside of the graph */
        s->capture->invalidated = true;
        return ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (s->capture && s->capture != e->capture) {
        s->capture->invalidated = e->capture->invalidated = true;
        return ERROR_STREAM_CAPTURE_MERGE;
    }
    if (e->capture->invalidated)
        return ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!s->capture) {
        if (s->legacy)
            return ERROR_STREAM_CAPTURE_IMPLICIT;
        s->capture = e->capture;
        s->capture_tail = NULL;
        s->capture_unjoined = true; /* a forked stream has to come back */
    }
    join(s, e);
    if (e->capture_stream && e->capture_stream != s && e->capture_stream->capture == e->capture &&
        e->capture_stream->capture_tail == e->node)
        e->capture_stream->capture_unjoined = false;
    return OK;
}

CUresult capture_begin(struct stream *s, int mode, struct graph *into, struct graph_node *const *needs, size_t count)
{
    if (s->legacy || mode < 0 || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return s->legacy ? ERROR_STREAM_CAPTURE_UNSUPPORTED : ERROR_INVALID_VALUE;
    if (s->capture)
        return ERROR_ILLEGAL_STATE;
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        return ERROR_OUT_OF_MEMORY;
    c->id = ++driver_ids;
    c->mode = mode;
    c->owner = pthread_self();
    c->origin = s;
    c->own_graph = into == NULL;
    c->graph = into ? into : graph_new();
    c->graph->capture = c;
    c->next = captures;
    captures = c;
    s->capture = c;
    s->capture_origin = true;
    s->capture_unjoined = false;
    s->capture_tail = count == 0 ? NULL : count == 1 ? needs[0] : graph_add(c->graph, NODE_EMPTY, NULL, needs, count);
    return OK;
}

/* Takes every stream out of the capture and forgets it. Events recorded in it stand for nothing any more; they keep
 * their last completed record. */
static bool finish(struct capture *c)
{
    bool joined = true;
    for (int d = 0; d < script.devices; d++)
        for (struct context *x = context_first(d); x; x = context_next(x))
            for (struct stream *s = x->streams; s; s = s->next)
                if (s->capture == c) {
                    joined = joined && (s == c->origin || !s->capture_unjoined);
                    s->capture = NULL;
                    s->capture_tail = NULL;
                    s->capture_origin = false;
                }
    events_leave_capture(c);
    struct capture **p = &captures;
    while (*p != c)
        p = &(*p)->next;
    *p = c->next;
    c->graph->capture = NULL;
    driver_changed();
    return joined;
}

CUresult capture_end(struct stream *s, struct graph **graph)
{
    struct capture *c = s->capture;
    *graph = NULL;
    if (!c)
        return ERROR_ILLEGAL_STATE;
    if (c->origin != s)
        return ERROR_STREAM_CAPTURE_UNMATCHED;
    if (c->mode != 2 && !pthread_equal(c->owner, pthread_self()))
        return ERROR_STREAM_CAPTURE_WRONG_THREAD;
    bool invalidated = c->invalidated;
    CUresult error = invalidated ? ERROR_STREAM_CAPTURE_INVALIDATED : OK;
    if (!finish(c) && !error)
        error = ERROR_STREAM_CAPTURE_UNJOINED;
    if (!error)
        *graph = c->graph;
    else if (c->own_graph)
        graph_free(c->graph);
    free(c);
    return error;
}

void capture_stream_gone(struct stream *s)
{
    struct capture *c = s->capture;
    if (!c)
        return;
    if (c->origin != s) {
        c->invalidated = true;
        s->capture = NULL;
        return;
    }
    struct graph *graph = c->graph;
    finish(c);
    if (c->own_graph)
        graph_free(graph);
    free(c);
}
