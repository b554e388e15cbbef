/*
 * Captures: which streams are captured into which graph. The executor's driver records the work. The client decides what
 * each thread may do meanwhile, since only it knows the program's threads.
 */
#ifndef TESSERA_RELAY_CAPTURE_H
#define TESSERA_RELAY_CAPTURE_H

#include "relay/wire/relay.h"

struct stream;
struct event;

/* How many captures are open in the process; 0 on nearly every call. */
extern unsigned capture_count;

static inline bool capture_any(void)
{
    return __builtin_expect(__atomic_load_n(&capture_count, __ATOMIC_ACQUIRE) != 0, 0);
}

/*
 * Before work for the legacy stream of a context: STREAM_CAPTURE_IMPLICIT (906) if a blocking stream of the context is
 * captured, and those captures become invalid.
 */
CUresult capture_implicit(struct relay_context *context);

/* Before a stream is synchronised or queried: STREAM_CAPTURE_UNSUPPORTED (900) if it is captured, which invalidates the capture. */
CUresult capture_touched(struct stream *stream);

/* Before a context is synchronised: 900 if a stream of it is captured, which invalidates the capture. */
CUresult capture_synchronised(struct relay_context *context);

/* Before an event is synchronised or queried: CAPTURED_EVENT (907) if it was recorded in a capture, which becomes invalid. */
CUresult capture_event_touched(struct event *event);

/* Before a call that is unsafe during captures (allocations and their like): 900 if the capture modes forbid it, else 0. */
CUresult capture_unsafe(void);

/* Before work goes to a stream: STREAM_CAPTURE_INVALIDATED (901) if its capture is invalid. */
CUresult capture_submit(struct stream *stream);

/* An event was recorded in the stream. */
void capture_recorded(struct stream *stream, struct event *event);

/* A stream is to wait for an event: 0, or why not. The stream may thereby join the event's capture. */
CUresult capture_wait(struct stream *stream, struct event *event);

/* The key under which graph_references.c keeps what the stream's capture holds so far; 0: no capture. */
uint64_t capture_key(const struct stream *stream);

/* The stream is destroyed, or its context has ended. */
void capture_stream_gone(struct stream *stream);

/* The event is destroyed, or its context has ended. */
void capture_event_gone(struct event *event);

#endif
