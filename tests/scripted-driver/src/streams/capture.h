/*
 * Stream captures: work submitted to a captured stream becomes a node of a graph. Calls that CUDA does not allow
 * meanwhile answer with its 900 series and invalidate the capture. Everything here runs under the driver's lock.
 */
#ifndef SCRIPTED_CAPTURE_H
#define SCRIPTED_CAPTURE_H

#include "streams/stream.h"

struct graph;

struct capture {
    struct capture *next;
    uint64_t id;
    int mode; /* 0 global, 1 thread-local, 2 relaxed */
    pthread_t owner;
    struct stream *origin;
    struct graph *graph;
    bool own_graph; /* made by the capture, not given to it */
    bool invalidated;
};

CUresult capture_record(struct stream *stream, struct work *work);

/* A call that may synchronise or change global state: 900, and the captures are invalid, where the calling thread's
 * capture mode does not allow it. */
CUresult capture_unsafe(void);

/* Work for the legacy stream while a blocking stream of its context is captured: 906. */
CUresult capture_implicit(struct context *context);

/* The context is to be waited for while one of its streams is captured: 900. */
CUresult capture_synchronised(struct context *context);

/* The stream is to be waited for or asked: 900 if it is captured. */
CUresult capture_touched(struct stream *stream);

/* An event recorded in a capture is to be waited for by the host, or asked: 907. */
CUresult capture_event_touched(struct event *event);

/* A captured stream waits for an event, or records one. *handled: nothing is left to do. */
CUresult capture_wait(struct stream *stream, struct event *event, bool *handled);
void capture_recorded(struct stream *stream, struct event *event);

/* `into`: NULL, or the graph to add to, after the given nodes. */
CUresult capture_begin(struct stream *stream, int mode, struct graph *into, struct graph_node *const *needs,
                       size_t count);
/* *graph is NULL when it fails. */
CUresult capture_end(struct stream *stream, struct graph **graph);

/* In event.c: events recorded in the capture stand for nothing any more. */
void events_leave_capture(struct capture *capture);

void capture_stream_gone(struct stream *stream);

/* The calling thread's mode. */
extern _Thread_local int capture_thread_mode;

#endif
