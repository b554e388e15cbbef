#include "relay/streams/events.h"

#include <stdlib.h>

#include "relay/code/functions.h"
#include "relay/code/printf.h"
#include "relay/streams/capture.h"
#include "relay/streams/streams.h"
#include "relay/wire/message.h"
#include "relay/wire/unsupported.h"
#include "session/hash_table.h"
#include "relay/wire/completion.h"
#include "session/syncing.h"

enum { EVENT_ALL_FLAGS = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS };

static struct table events = TABLE_INITIAL;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

struct event *event_of(CUevent handle)
{
    return table_find(&events, (uintptr_t)handle);
}

static CUresult enter(CUevent handle, struct event **event)
{
    struct relay_context *context;
    *event = event_of(handle);
    if (*event)
        return relay_link_state((*event)->context->link);
    CUresult result = relay_enter(&context);
    return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_HANDLE;
}

void event_recorded(struct event *event, struct stream *stream, uint64_t end)
{
    if (!event)
        return;
    pthread_mutex_lock(&event->lock);
    event->position = end ? end : ring_position(event->context->link);
    event->last = end != 0;
    event->stream = stream;
    event->recorded = true;
    event->complete = false;
    event->asked = 0;
    pthread_mutex_unlock(&event->lock);
    if (event->capture || stream->capture)
        capture_recorded(stream, event);
}

static struct event *new_event(struct relay_context *context, unsigned flags)
{
    struct event *event = calloc(1, sizeof *event);
    if (!event)
        return NULL;
    event->context = context;
    event->flags = flags;
    event->word = -1;
    pthread_mutex_init(&event->lock, NULL);
    return event;
}

CUresult relay_cuEventCreate(CUevent *handle, unsigned int flags)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || flags > EVENT_ALL_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_VALUE;
    struct event *event = new_event(context, flags);
    if (!event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* For the driver, all events belong to one process, the executor. */
    result = MESSAGE_CALL(context, ENTRY_cuEventCreate, OUT(&event->handle, 8), VALUE(flags & ~CU_EVENT_INTERPROCESS));
    if (result == CUDA_SUCCESS && !table_put(&events, event->handle, event)) {
        MESSAGE_POST(context, ENTRY_cuEventDestroy_v2, VALUE(event->handle));
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != CUDA_SUCCESS)
        free(event);
    else
        *handle = (CUevent)(uintptr_t)event->handle;
    return result;
}

CUresult event_opened(struct relay_context *context, uint64_t handle)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&opening);
    struct event *event = table_find(&events, handle);
    if (event) {
        event->opened++;
    } else if (!(event = new_event(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING))) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        event->handle = handle;
        event->opened = 1;
        event->unseen = event->recorded = true;
        if (!table_put(&events, handle, event)) {
            free(event);
            result = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    pthread_mutex_unlock(&opening);
    return result;
}

bool event_is_interprocess(const struct event *event)
{
    return (event->flags & CU_EVENT_INTERPROCESS) && event->opened == 0;
}

/* Ends one use of an opened event. Whether other uses remain. */
static bool still_open(struct event *event)
{
    pthread_mutex_lock(&opening);
    bool open = event->opened > 1;
    if (open)
        event->opened--;
    pthread_mutex_unlock(&opening);
    return open;
}

static void release(struct event *event)
{
    if (capture_any())
        capture_event_gone(event);
    completion_give(event->context->link, event->word);
    free(event);
}

CUresult relay_cuEventDestroy_v2(CUevent handle)
{
    struct event *event;
    CUresult result = enter(handle, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (still_open(event))
        return CUDA_SUCCESS;
    if (!table_take(&events, event->handle))
        return CUDA_ERROR_INVALID_HANDLE;
    /* Waits, so that no other process can open the event after the call has returned. */
    result = event->flags & CU_EVENT_INTERPROCESS
                 ? MESSAGE_CALL(event->context, ENTRY_cuEventDestroy_v2, VALUE(event->handle))
                 : MESSAGE_POST(event->context, ENTRY_cuEventDestroy_v2, VALUE(event->handle));
    release(event);
    return result;
}

CUresult relay_cuEventDestroy(CUevent handle)
{
    return relay_cuEventDestroy_v2(handle);
}

/* Waits until the executor has reached the event's record, since another process may wait for the event as soon as the call returns. */
static CUresult executed(struct event *event);

static CUresult record(CUevent handle, CUstream stream_handle, unsigned flags)
{
    struct relay_context *context;
    struct stream *stream;
    struct event *event;
    CUresult result = stream_enter(stream_handle, &context, &stream);
    if (result == CUDA_SUCCESS)
        result = enter(handle, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags > CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (event->context != context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (capture_any() && (result = capture_submit(stream)) != CUDA_SUCCESS)
        return result;
    if (flags == CU_EVENT_RECORD_EXTERNAL && !stream->capture)
        flags = 0;
    if (flags == CU_EVENT_RECORD_EXTERNAL)
        event_unseen(event);
    const struct message_argument arguments[] = {VALUE(event->handle), VALUE(stream->handle), VALUE(flags)};
    struct ring_span span;
    result = message_post_telling(context, ENTRY_cuEventRecordWithFlags, arguments, 3, &span);
    stream_submitted_to(stream, span.end);
    if (result == CUDA_SUCCESS &&
        flags != CU_EVENT_RECORD_EXTERNAL) /* external in a capture: recorded when the graph runs */
        event_recorded(event, stream, span.end);
    if (result == CUDA_SUCCESS && (event->flags & CU_EVENT_INTERPROCESS) && !stream->capture)
        result = executed(event);
    return result;
}

CUresult relay_cuEventRecord(CUevent event, CUstream stream)
{
    return record(event, stream, 0);
}

CUresult relay_cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
    return record(event, stream, flags);
}

/* Whether it is known to be complete without asking. Under the event's lock. */
static bool known_complete(struct event *event)
{
    if (event->complete)
        return true;
    if (event->asked && relay_word_reached(event->context->link, event->asked_word, event->asked)) {
        event->complete = true;
        if (event->stream && event->last)
            stream_reached(event->stream, event->position);
    } else {
        event->complete = event->stream && stream_done(event->stream, event->position);
    }
    return event->complete;
}

/*
 * Arranges, once after each record, that a word shows when the event is complete. If nothing was submitted behind the
 * event, a mark of its stream does so, which the device itself writes; otherwise the executor polls the device. query: the
 * executor answers whether the event is complete now, SUCCESS or NOT_READY. Under the event's lock.
 */
static CUresult ask(struct event *event, bool query)
{
    struct relay_link *link = event->context->link;
    if (event->asked)
        return CUDA_SUCCESS;
    bool marks = !query && event->stream && event->last && !event->unseen && !functions_print(link);
    if (marks && stream_mark_behind(event->stream, event->position, &event->asked_word, &event->asked))
        return CUDA_SUCCESS;
    if (event->word < 0 && (event->word = completion_take(link, RELAY_WORDS_OF_STREAMS)) < 0) {
        static int said;
        return relay_limit_reached(
            &said,
            "more events are asked about than space sharing has words for (14,336 less what host functions have): "
            "destroy events that are not needed any more (cudaEventDestroy), or use fewer and record them again");
    }
    event->asked_word = event->word;
    event->asked = completion_next(link, event->word);
    return query ? relay_ask_mark(event->context, TESSERA_RELAY_WATCH_EVENT, event->handle, event->word, event->asked)
                 : relay_send_mark(event->context, TESSERA_RELAY_WATCH_EVENT, event->handle, event->word, event->asked);
}

void event_unseen(struct event *event)
{
    pthread_mutex_lock(&event->lock);
    event->unseen = event->recorded = true;
    pthread_mutex_unlock(&event->lock);
}

/* The client does not see when a graph records an event: what it knows of the event may be about an earlier launch. */
static void doubt(struct event *event)
{
    if (!event->unseen)
        return;
    if (event->asked && relay_word_reached(event->context->link, event->asked_word, event->asked))
        event->asked = 0;
    event->complete = false;
    event->stream = NULL;
}

/* The word, and the value that it has when an event is complete. */
struct awaited {
    int word;
    uint64_t value;
};

static CUresult look(struct event *event, bool *complete, struct awaited *awaited, bool query)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&event->lock);
    doubt(event);
    *complete = known_complete(event);
    if (!*complete) {
        result = ask(event, query);
        if (result == CUDA_ERROR_NOT_READY)
            result = CUDA_SUCCESS;
        *complete = result == CUDA_SUCCESS && known_complete(event);
    }
    *awaited = (struct awaited){event->asked_word, event->asked};
    pthread_mutex_unlock(&event->lock);
    return result;
}

static CUresult executed(struct event *event)
{
    struct awaited awaited;
    bool complete;
    return look(event, &complete, &awaited, true);
}

static CUresult capture_touches(struct event *event)
{
    CUresult result = capture_event_touched(event);
    return result != CUDA_SUCCESS ? result : capture_unsafe();
}

CUresult relay_cuEventQuery(CUevent handle)
{
    struct event *event;
    struct awaited awaited;
    bool complete;
    CUresult result = enter(handle, &event);
    if (result == CUDA_SUCCESS && capture_any())
        result = capture_touches(event);
    if (result != CUDA_SUCCESS || !event->recorded)
        return result;
    result = look(event, &complete, &awaited, true);
    if (result == CUDA_SUCCESS)
        result = relay_take_error(event->context->link);
    return result != CUDA_SUCCESS || complete ? result : CUDA_ERROR_NOT_READY;
}

CUresult relay_cuEventSynchronize(CUevent handle)
{
    struct event *event;
    struct awaited awaited;
    bool complete;
    CUresult result = enter(handle, &event);
    if (result == CUDA_SUCCESS && capture_any())
        result = capture_touches(event);
    if (result != CUDA_SUCCESS || !event->recorded)
        return result;
    struct sync_pass pass = syncing_begin();
    struct relay_link *link = event->context->link;
    result = look(event, &complete, &awaited, false);
    if (result == CUDA_SUCCESS && !complete) {
        result = relay_wait_word(link, awaited.word, awaited.value);
        if (result == CUDA_SUCCESS)
            look(event, &complete, &awaited, false); /* remembers what is complete now */
    }
    if (functions_print(link))
        printf_flush(link);
    syncing_end(pass);
    return result != CUDA_SUCCESS ? result : relay_take_error(link);
}

static CUresult elapsed(float *milliseconds, CUevent first, CUevent second)
{
    struct event *begin, *end;
    CUresult result = enter(first, &begin);
    if (result == CUDA_SUCCESS)
        result = enter(second, &end);
    if (result != CUDA_SUCCESS)
        return result;
    if (!milliseconds)
        return CUDA_ERROR_INVALID_VALUE;
    if (begin->context != end->context)
        return CUDA_ERROR_INVALID_HANDLE;
    return MESSAGE_CALL(begin->context, ENTRY_cuEventElapsedTime_v2, OUT(milliseconds, sizeof *milliseconds),
                        VALUE(begin->handle), VALUE(end->handle));
}

CUresult relay_cuEventElapsedTime(float *milliseconds, CUevent first, CUevent second)
{
    return elapsed(milliseconds, first, second);
}

CUresult relay_cuEventElapsedTime_v2(float *milliseconds, CUevent first, CUevent second)
{
    return elapsed(milliseconds, first, second);
}

CUresult relay_cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned int flags)
{
    struct relay_context *context;
    struct stream *stream;
    struct event *event;
    CUresult result = stream_enter(stream_handle, &context, &stream);
    if (result == CUDA_SUCCESS)
        result = enter(handle, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags > CU_EVENT_WAIT_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (capture_any() && flags != CU_EVENT_WAIT_EXTERNAL && (result = capture_wait(stream, event)) != CUDA_SUCCESS)
        return result;
    if (flags == CU_EVENT_WAIT_EXTERNAL && !stream->capture)
        flags = 0;
    if (event->context->link == context->link) {
        result = MESSAGE_POST(context, ENTRY_cuStreamWaitEvent, VALUE(stream->handle), VALUE(event->handle),
                              VALUE(flags));
        stream_submitted(stream);
        return result;
    }
    /* This device's executor does not know an event of another device, so the client waits for it. */
    return stream->capture ? relay_unsupported("cuStreamWaitEvent", "a captured wait for another device's event")
                           : relay_cuEventSynchronize(handle);
}

static void stream_gone(void *value, void *with)
{
    struct event *event = value;
    pthread_mutex_lock(&event->lock);
    if (event->stream == with)
        event->stream = NULL;
    pthread_mutex_unlock(&event->lock);
}

void events_stream_gone(const struct stream *stream)
{
    table_each(&events, stream_gone, (void *)(uintptr_t)stream);
}

static bool is_of_context(const void *value, const void *of)
{
    return ((const struct event *)value)->context == of;
}

void events_context_ended(struct relay_context *context)
{
    struct event *event;
    uint32_t at = 0;
    while ((event = table_take_where(&events, &at, is_of_context, context)) != NULL)
        release(event);
}
