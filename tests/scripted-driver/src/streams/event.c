/* Events: places in streams that can be waited for, with the time at which the GPU reached them. */
#include <stdlib.h>

#include "streams/capture.h"
#include "entry.h"
#include "streams/stream.h"
#include "script/witness.h"

static struct event **events;
static size_t event_count, event_capacity;

EXPORT CUresult cuEventCreate(struct event **out, unsigned flags)
{
    ENTER(cuEventCreate);
    if (!out || flags > (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS))
        return ERROR_INVALID_VALUE;
    if (flags & CU_EVENT_INTERPROCESS)
        return ERROR_NOT_SUPPORTED; /* events between processes */
    LOCKED;
    struct context *c;
    CUresult error = context_current(&c);
    if (error)
        return error;
    struct event *e = calloc(1, sizeof *e);
    if (!e)
        return ERROR_OUT_OF_MEMORY;
    e->context = c;
    e->device = c->device;
    e->flags = flags;
    if (event_count == event_capacity) {
        event_capacity = event_capacity ? event_capacity * 2 : 256;
        events = realloc(events, event_capacity * sizeof *events);
        if (!events)
            abort();
    }
    events[event_count++] = e;
    handle_add(HANDLE_EVENT, e);
    *out = e;
    return OK;
}

/* Work may still point to it, so the structure stays; a test makes few events. */
static CUresult destroy(struct event *e)
{
    LOCKED;
    if (!handle_drop(HANDLE_EVENT, e))
        return ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < event_count; i++)
        if (events[i] == e)
            events[i--] = events[--event_count];
    return OK;
}

EXPORT CUresult cuEventDestroy_v2(struct event *e)
{
    ENTER(cuEventDestroy_v2);
    return destroy(e);
}

EXPORT CUresult cuEventDestroy(struct event *e)
{
    ENTER(cuEventDestroy);
    return destroy(e);
}

void events_leave_capture(struct capture *capture)
{
    for (size_t i = 0; i < event_count; i++)
        if (events[i]->capture == capture) {
            events[i]->capture = NULL;
            events[i]->node = NULL;
            events[i]->capture_stream = NULL;
        }
}

static CUresult record(struct stream *s, struct event *e, unsigned flags)
{
    LOCKED;
    if (!handle_is(HANDLE_EVENT, e) || e->device != s->context->device)
        return ERROR_INVALID_HANDLE;
    if (s->capture && flags == 0) {
        if (s->capture->invalidated)
            return ERROR_STREAM_CAPTURE_INVALIDATED;
        capture_recorded(s, e);
        return OK;
    }
    e->capture = NULL;
    struct work *w = work_new(WORK_RECORD);
    w->as.event.event = e;
    w->as.event.generation = ++e->recorded;
    return stream_submit(s, w);
}

static CUresult wait_for(struct stream *s, struct event *e, unsigned flags)
{
    LOCKED;
    if (!handle_is(HANDLE_EVENT, e))
        return ERROR_INVALID_HANDLE;
    bool handled = false;
    CUresult error = flags == 0 ? capture_wait(s, e, &handled) : OK;
    if (error || handled)
        return error;
    if (e->recorded <= e->completed)
        return OK;
    struct work *w = work_new(WORK_WAIT_EVENT);
    w->as.event.event = e;
    w->as.event.generation = e->recorded;
    return stream_submit(s, w);
}

STREAM_PAIR(cuEventRecord, (struct event * event, void *stream), record(target, event, 0))
STREAM_PAIR(cuEventRecordWithFlags, (struct event * event, void *stream, unsigned flags),
            flags > CU_EVENT_RECORD_EXTERNAL ? ERROR_INVALID_VALUE : record(target, event, flags))
STREAM_PAIR(cuStreamWaitEvent, (void *stream, struct event *event, unsigned flags),
            flags > CU_EVENT_WAIT_EXTERNAL ? ERROR_INVALID_VALUE : wait_for(target, event, flags))

/* An event that the host asks or waits for: not while it belongs to a capture, and a global capture forbids asking. */
static CUresult host_may(struct event *e)
{
    if (!handle_is(HANDLE_EVENT, e))
        return ERROR_INVALID_HANDLE;
    CUresult error = capture_event_touched(e);
    if (!error)
        error = capture_unsafe();
    return error ? error : e->context->sticky;
}

EXPORT CUresult cuEventQuery(struct event *e)
{
    ENTER(cuEventQuery);
    LOCKED;
    CUresult error = host_may(e);
    return error ? error : e->completed < e->recorded ? ERROR_NOT_READY : OK;
}

EXPORT CUresult cuEventSynchronize(struct event *e)
{
    ENTER(cuEventSynchronize);
    LOCKED;
    CUresult error = host_may(e);
    if (error)
        return error;
    uint64_t generation = e->recorded;
    while (e->completed < generation)
        driver_wait(0);
    return e->context->sticky;
}

static CUresult elapsed(float *ms, struct event *start, struct event *end)
{
    LOCKED;
    if (!ms)
        return ERROR_INVALID_VALUE;
    if (!handle_is(HANDLE_EVENT, start) || !handle_is(HANDLE_EVENT, end) || start->recorded == 0 ||
        end->recorded == 0 || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
        return ERROR_INVALID_HANDLE;
    if (start->completed < start->recorded || end->completed < end->recorded)
        return ERROR_NOT_READY;
    *ms = (float)((double)end->completed_ns - (double)start->completed_ns) / 1e6f;
    return OK;
}

EXPORT CUresult cuEventElapsedTime(float *ms, struct event *start, struct event *end)
{
    ENTER(cuEventElapsedTime);
    return elapsed(ms, start, end);
}

EXPORT CUresult cuEventElapsedTime_v2(float *ms, struct event *start, struct event *end)
{
    ENTER(cuEventElapsedTime_v2);
    return elapsed(ms, start, end);
}
