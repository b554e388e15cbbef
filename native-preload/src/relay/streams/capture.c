#include "relay/streams/capture.h"

#include <pthread.h>
#include <stdlib.h>

#include "relay/streams/capture_state.h"
#include "relay/streams/events.h"
#include "relay/streams/streams.h"
#include "relay/wire/message.h"

unsigned capture_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *captures;
static uint64_t next_id = 1;
static __thread int thread_mode __attribute__((tls_model("initial-exec")));

/* Moves a stream into a capture, or out of its capture with NULL. Under the lock. */
static void move_stream(struct stream *stream, struct capture *capture)
{
    struct stream **at = stream->capture ? &stream->capture->streams : NULL;
    while (at && *at != stream)
        at = &(*at)->captured_next;
    if (at)
        *at = stream->captured_next;
    stream->capture = capture;
    stream->captured_next = capture ? capture->streams : NULL;
    if (capture)
        capture->streams = stream;
}

/* As above, for an event. */
static void move_event(struct event *event, struct capture *capture)
{
    struct event **at = event->capture ? &event->capture->events : NULL;
    while (at && *at != event)
        at = &(*at)->captured_next;
    if (at)
        *at = event->captured_next;
    event->capture = capture;
    event->captured_next = capture ? capture->events : NULL;
    if (capture)
        capture->events = event;
}

/* STREAM_CAPTURE_IMPLICIT if a blocking stream of the context is captured. `invalidate`: those captures become invalid. */
static CUresult implicit(struct relay_context *context, bool invalidate)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    for (struct capture *capture = captures; capture; capture = capture->next)
        if (capture->context == context && capture->blocking) {
            capture->invalid |= invalidate;
            result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult capture_implicit(struct relay_context *context)
{
    return implicit(context, true);
}

CUresult capture_implicit_open(struct relay_context *context)
{
    return implicit(context, false);
}

CUresult capture_touched(struct stream *stream)
{
    pthread_mutex_lock(&lock);
    struct capture *capture = stream->capture;
    if (capture)
        capture->invalid = true;
    pthread_mutex_unlock(&lock);
    return capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult capture_synchronised(struct relay_context *context)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    for (struct capture *capture = captures; capture; capture = capture->next)
        if (capture->context == context) {
            capture->invalid = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult capture_event_touched(struct event *event)
{
    pthread_mutex_lock(&lock);
    struct capture *capture = event->capture;
    if (capture)
        capture->invalid = true;
    pthread_mutex_unlock(&lock);
    return capture ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

CUresult capture_unsafe(void)
{
    CUresult result = CUDA_SUCCESS;
    if (!capture_any() || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    for (struct capture *capture = captures; capture; capture = capture->next) {
        bool own = pthread_equal(capture->owner, pthread_self());
        if (own ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                : thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL) {
            capture->invalid = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult capture_submit(struct stream *stream)
{
    pthread_mutex_lock(&lock);
    bool invalid = stream->capture && stream->capture->invalid;
    pthread_mutex_unlock(&lock);
    return invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

void capture_recorded(struct stream *stream, struct event *event)
{
    pthread_mutex_lock(&lock);
    move_event(event, stream->capture);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static CUresult join(struct stream *stream, struct event *event)
{
    struct capture *of_stream = stream->capture, *of_event = event->capture;
    if (!of_stream && !of_event)
        return CUDA_SUCCESS;
    if (!of_event) { /* a captured stream would depend on work outside of the graph */
        if (!event->recorded)
            return CUDA_SUCCESS;
        of_stream->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (of_stream && of_stream != of_event) {
        of_stream->invalid = of_event->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (of_event->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!of_stream && stream->handle == 0) {
        of_event->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    stream->joined = !of_stream || stream->joined;
    of_event->blocking |= !(stream->flags & CU_STREAM_NON_BLOCKING);
    move_stream(stream, of_event);
    return CUDA_SUCCESS;
}

CUresult capture_wait(struct stream *stream, struct event *event)
{
    pthread_mutex_lock(&lock);
    CUresult result = join(stream, event);
    pthread_mutex_unlock(&lock);
    return result;
}

/* Under the lock. */
static void drop(struct capture *capture)
{
    struct capture **link = &captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    while (capture->streams) {
        capture->streams->joined = false;
        move_stream(capture->streams, NULL);
    }
    while (capture->events)
        move_event(capture->events, NULL);
    __atomic_fetch_sub(&capture->context->captures, 1, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&capture_count, 1, __ATOMIC_RELEASE);
    segment_change_begin();
    __atomic_fetch_sub(&segment_get()->devices[capture->context->link->device].capturing, 1, __ATOMIC_RELAXED);
    segment_change_end();
    free(capture);
}

CUresult capture_opened(struct stream *stream, int mode)
{
    struct capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *capture = (struct capture){
        .mode = mode,
        .owner = pthread_self(),
        .origin = stream,
        .context = stream->context,
        .blocking = !(stream->flags & CU_STREAM_NON_BLOCKING),
    };
    pthread_mutex_lock(&lock);
    capture->id = next_id++;
    capture->next = captures;
    captures = capture;
    move_stream(stream, capture);
    stream->joined = false;
    __atomic_fetch_add(&stream->context->captures, 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&capture_count, 1, __ATOMIC_RELEASE);
    segment_change_begin();
    __atomic_fetch_add(&segment_get()->devices[stream->context->link->device].capturing, 1, __ATOMIC_RELAXED);
    segment_change_end();
    segment_count(TESSERA_COUNTER_CAPTURES, 1);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

CUresult capture_closing(struct stream *stream, bool *invalid, uint64_t *key)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    struct capture *capture = stream->capture;
    *invalid = capture && capture->invalid;
    *key = capture ? CAPTURE_KEY | capture->id : 0;
    if (!capture)
        result = CUDA_ERROR_ILLEGAL_STATE;
    else if (capture->origin != stream)
        result = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    else if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && !pthread_equal(capture->owner, pthread_self()))
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    else
        drop(capture);
    pthread_mutex_unlock(&lock);
    return result;
}

struct capture_status capture_status(const struct stream *stream)
{
    struct capture_status status = {0, 0};
    pthread_mutex_lock(&lock);
    if (stream->capture)
        status = (struct capture_status){stream->capture->invalid ? 2 : 1, stream->capture->id};
    pthread_mutex_unlock(&lock);
    return status;
}

uint64_t capture_key(const struct stream *stream)
{
    struct capture_status status = capture_any() ? capture_status(stream) : (struct capture_status){0, 0};
    return status.state ? CAPTURE_KEY | status.id : 0;
}

void capture_stream_gone(struct stream *stream)
{
    pthread_mutex_lock(&lock);
    if (stream->capture && stream->capture->origin == stream)
        drop(stream->capture);
    move_stream(stream, NULL);
    pthread_mutex_unlock(&lock);
}

void capture_event_gone(struct event *event)
{
    pthread_mutex_lock(&lock);
    move_event(event, NULL);
    pthread_mutex_unlock(&lock);
}

CUresult relay_cuThreadExchangeStreamCaptureMode(int *mode)
{
    if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
