/*
 * Captures: which streams are captured into which graph. The device's driver records; what each thread may do meanwhile
 * is decided here, where the program's threads are.
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

/* Work for the legacy stream of a context while a blocking stream of it is captured: 906, and the capture is invalid. */
CUresult capture_implicit(struct relay_context *context);

/* A stream is to be waited for or asked: 900 if it is captured, and the capture is invalid; 906 as above. */
CUresult capture_touched(struct stream *stream);

/* All of a context is to be waited for: 900 if a stream of it is captured, and the capture is invalid. */
CUresult capture_synchronised(struct relay_context *context);

/* An event recorded in a capture is to be waited for by the host, or asked: 907. */
CUresult capture_event_touched(struct event *event);

/* A call that is unsafe while the calling thread's capture mode forbids it (allocations and their like): 0 or 900. */
CUresult capture_unsafe(void);

/* Before work goes to a stream: 901 if its capture is invalid. */
CUresult capture_submit(struct stream *stream);

/* An event was recorded in the stream. */
void capture_recorded(struct stream *stream, struct event *event);

/* A stream is to wait for an event: 0, or why not. The stream may thereby join the event's capture. */
CUresult capture_wait(struct stream *stream, struct event *event);

/* The key under which graph_references.c keeps what the stream's capture has taken so far; 0: none. */
uint64_t capture_key(const struct stream *stream);

/* The stream is destroyed, or its context has ended. */
void capture_stream_gone(struct stream *stream);

/* The event is destroyed, or its context has ended. */
void capture_event_gone(struct event *event);

#endif
