#include "streams/stream.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "streams/capture.h"
#include "script/clock.h"
#include "entry.h"
#include "script/witness.h"

struct work *work_new(enum work_kind kind)
{
    struct work *w = calloc(1, sizeof *w);
    if (!w)
        abort();
    w->kind = kind;
    w->bound_ns = script.bound_ns;
    return w;
}

struct work *work_clone(const struct work *work)
{
    struct work *w = work_new(work->kind);
    *w = *work;
    w->next = NULL;
    if (work->heap) {
        w->heap = malloc(work->heap_bytes);
        if (!w->heap)
            abort();
        memcpy(w->heap, work->heap, work->heap_bytes);
        if (w->kind == WORK_COPY)
            w->as.copy.source = w->heap;
    }
    return w;
}

void work_free(struct work *work)
{
    if (work->kind == WORK_RELEASE)
        user_objects_release(&work->as.objects);
    free(work->heap);
    free(work);
}

bool work_occupies(const struct work *work)
{
    return work->kind != WORK_RECORD && work->kind != WORK_WAIT_EVENT && work->kind != WORK_FREE &&
           work->kind != WORK_RELEASE;
}

/* Whether the head of the stream may run now: order against the legacy stream, events, values. Under the lock. */
static bool runnable(const struct stream *s, uint64_t *poll_ns)
{
    const struct work *w = s->head;
    if (s->legacy) {
        for (const struct stream *o = s->context->streams; o; o = o->next)
            if (o != s && o->blocking && o->head && o->head->sequence < w->sequence)
                return false;
    } else if (s->blocking) {
        const struct stream *l = s->context->legacy;
        if (l->head && l->head->sequence < w->sequence)
            return false;
    }
    if (w->kind == WORK_WAIT_EVENT)
        return w->as.event.event->completed >= w->as.event.generation;
    if (w->kind == WORK_WAIT_VALUE) {
        uint64_t present = w->as.value.bytes == 4 ? __atomic_load_n((uint32_t *)w->as.value.address, __ATOMIC_ACQUIRE)
                                                  : __atomic_load_n((uint64_t *)w->as.value.address, __ATOMIC_ACQUIRE);
        uint64_t mask = w->as.value.bytes == 4 ? UINT32_MAX : UINT64_MAX, value = w->as.value.value & mask;
        uint64_t sign = (mask >> 1) + 1;
        *poll_ns = monotonic_ns() + 200000; /* anybody may write the word */
        switch (w->as.value.flags & 3) {
        case CU_STREAM_WAIT_VALUE_GEQ:
            return ((present - value) & mask) < sign; /* cyclic: present - value >= 0 */
        case CU_STREAM_WAIT_VALUE_EQ:
            return present == value;
        case CU_STREAM_WAIT_VALUE_AND:
            return (present & value) != 0;
        default:
            return (~(present | value) & mask) != 0;
        }
    }
    return true;
}

static void complete(struct stream *s, struct work *w, CUresult error)
{
    if (error)
        context_fault(s->context, error);
    if (w->kind == WORK_RECORD && w->as.event.generation > w->as.event.event->completed) {
        w->as.event.event->completed = w->as.event.generation;
        w->as.event.event->completed_ns = s->done_ns;
    }
    s->head = w->next;
    if (!s->head)
        s->tail = &s->head;
    if (work_occupies(w))
        witness_idle(s->context->device, 1);
    work_free(w);
    driver_changed();
}

/* Runs the head of the stream. The lock is given up while it takes its time. */
static void run_head(struct stream *s)
{
    struct work *w = s->head;
    uint64_t started = monotonic_ns(), poll_ns = 0;
    bool waited = false;
    while (!runnable(s, &poll_ns) && !s->context->sticky) {
        if (w->kind == WORK_WAIT_VALUE && monotonic_ns() > started + w->bound_ns) {
            complete(s, w, 702); /* launch timeout: a test that never writes the word must end */
            return;
        }
        waited = true;
        driver_wait(poll_ns);
    }
    /* On the GPU's clock the work begins where the one before it ended, however late this thread was woken. */
    uint64_t begin = s->done_ns > w->submitted_ns ? s->done_ns : w->submitted_ns;
    if (waited)
        begin = monotonic_ns();
    bool faulted = s->context->sticky != OK;
    int unlocked = 0;
    driver_unlock(&unlocked);
    CUresult error = OK;
    uint64_t end = begin;
    if (!faulted) {
        if (w->duration_ns)
            end = timeshare_run(s->context->device, begin, w->duration_ns);
        error = work_execute(s, w);
        if (w->kind == WORK_HOST || w->kind == WORK_CALLBACK)
            end = monotonic_ns();
        if (work_occupies(w))
            witness_interval(s->context->device, WITNESS_EXECUTING, begin, end);
    }
    driver_lock();
    if (!faulted)
        s->done_ns = end;
    complete(s, w, error);
}

static void unlink_stream(struct stream *s)
{
    struct stream **p = &s->context->streams;
    while (*p != s)
        p = &(*p)->next;
    *p = s->next;
    pthread_cond_destroy(&s->wake);
    free(s);
    driver_changed();
}

static void *worker(void *argument)
{
    struct stream *s = argument;
    LOCKED;
    for (;;) {
        while (!s->head && !s->closing)
            driver_wait_on(&s->wake);
        if (!s->head)
            break;
        run_head(s);
    }
    unlink_stream(s);
    return NULL;
}

CUresult stream_create(struct context *context, bool blocking, int priority, struct stream **stream)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return ERROR_OUT_OF_MEMORY;
    s->context = context;
    s->blocking = blocking;
    s->flags = blocking ? 0 : 1;
    s->priority = priority;
    s->id = ++driver_ids;
    s->tail = &s->head;
    pthread_cond_init(&s->wake, NULL);
    s->next = context->streams;
    context->streams = s;
    *stream = s;
    return OK;
}

/* The thread of a stream starts with its first work and takes no signals: those are the program's. */
static CUresult start_worker(struct stream *s)
{
    pthread_attr_t a;
    pthread_t thread;
    sigset_t all, before;
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&a, 256 * 1024);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &a, worker, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&a);
    s->worker = error == 0;
    return error == 0 ? OK : ERROR_OPERATING_SYSTEM;
}

CUresult stream_submit(struct stream *s, struct work *w)
{
    CUresult error = s->context->sticky;
    if (!error && s->capture)
        return capture_record(s, w);
    if (!error && s->legacy)
        error = capture_implicit(s->context);
    if (!error && !s->worker)
        error = start_worker(s);
    if (error) {
        work_free(w);
        return error;
    }
    w->sequence = ++s->context->sequence;
    w->submitted_ns = monotonic_ns();
    if (work_occupies(w))
        witness_busy(s->context->device, 1);
    *s->tail = w;
    s->tail = &w->next;
    pthread_cond_signal(&s->wake);
    return OK;
}

bool stream_pending(const struct stream *s)
{
    if (s->head)
        return true;
    if (s->legacy)
        for (const struct stream *o = s->context->streams; o; o = o->next)
            if (o->blocking && o->head)
                return true;
    return false;
}

CUresult stream_wait(struct stream *s)
{
    uint64_t sequence = s->context->sequence;
    struct context *c = s->context;
    bool pending = true;
    while (pending) {
        pending = s->head && s->head->sequence <= sequence;
        if (s->legacy)
            for (const struct stream *o = c->streams; o; o = o->next)
                pending = pending || (o->blocking && o->head && o->head->sequence <= sequence);
        if (pending)
            driver_wait(0);
    }
    return c->sticky;
}

/* The calling thread's own default stream of the context. */
static CUresult per_thread(struct context *c, struct stream **stream)
{
    for (struct stream *s = c->streams; s; s = s->next)
        if (s->per_thread && !s->closing && pthread_equal(s->thread_of, pthread_self())) {
            *stream = s;
            return OK;
        }
    CUresult error = stream_create(c, true, 0, stream);
    if (!error) {
        (*stream)->per_thread = true;
        (*stream)->thread_of = pthread_self();
    }
    return error;
}

CUresult stream_resolve(void *handle, uintptr_t otherwise, struct stream **stream)
{
    uintptr_t value = handle ? (uintptr_t)handle : otherwise;
    if (value != STREAM_LEGACY && value != STREAM_PER_THREAD) {
        if (!handle_is(HANDLE_STREAM, handle))
            return ERROR_INVALID_HANDLE;
        *stream = handle;
        return (*stream)->context->sticky;
    }
    struct context *c;
    CUresult error = context_current(&c);
    if (error)
        return error;
    *stream = c->legacy;
    return value == STREAM_LEGACY ? OK : per_thread(c, stream);
}

/* A stream that never had work has no thread to end it. */
void stream_close(struct stream *s)
{
    capture_stream_gone(s);
    handle_drop(HANDLE_STREAM, s);
    s->closing = true;
    if (s->worker)
        pthread_cond_signal(&s->wake);
    else
        unlink_stream(s);
}

void stream_end_all(struct context *context)
{
    struct stream *next;
    for (struct stream *s = context->streams; s; s = next) {
        next = s->next;
        if (!s->closing)
            stream_close(s);
    }
    while (context->streams)
        driver_wait(0);
    context->legacy = NULL;
}
