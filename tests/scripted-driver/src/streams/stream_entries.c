/* The entries about streams as such. */
#include "streams/capture.h"
#include "entry.h"
#include "streams/stream.h"

static CUresult create(struct stream **out, unsigned flags, int priority)
{
    if (!out || flags > CU_STREAM_NON_BLOCKING)
        return ERROR_INVALID_VALUE;
    LOCKED;
    struct context *c;
    CUresult error = context_current(&c);
    if (!error)
        error = stream_create(c, flags == 0, priority > 0 ? 0 : priority < -5 ? -5 : priority, out);
    if (!error)
        handle_add(HANDLE_STREAM, *out);
    return error;
}

EXPORT CUresult cuStreamCreate(struct stream **out, unsigned flags)
{
    ENTER(cuStreamCreate);
    return create(out, flags, 0);
}

EXPORT CUresult cuStreamCreateWithPriority(struct stream **out, unsigned flags, int priority)
{
    ENTER(cuStreamCreateWithPriority);
    return create(out, flags, priority);
}

static CUresult destroy(struct stream *s)
{
    LOCKED;
    if (!handle_is(HANDLE_STREAM, s))
        return ERROR_INVALID_HANDLE;
    stream_close(s);
    return OK;
}

EXPORT CUresult cuStreamDestroy_v2(struct stream *s)
{
    ENTER(cuStreamDestroy_v2);
    return destroy(s);
}

EXPORT CUresult cuStreamDestroy(struct stream *s)
{
    ENTER(cuStreamDestroy);
    return destroy(s);
}

static CUresult synchronise(struct stream *s)
{
    LOCKED;
    CUresult error = capture_touched(s);
    return error ? error : stream_wait(s);
}

static CUresult query(struct stream *s)
{
    LOCKED;
    CUresult error = capture_touched(s);
    if (!error)
        error = s->context->sticky;
    return error ? error : stream_pending(s) ? ERROR_NOT_READY : OK;
}

STREAM_PAIR(cuStreamSynchronize, (void *stream), synchronise(target))
STREAM_PAIR(cuStreamQuery, (void *stream), query(target))

static CUresult number(unsigned long long *out, unsigned long long value)
{
    if (!out)
        return ERROR_INVALID_VALUE;
    *out = value;
    return OK;
}

static CUresult word(int *out, int value)
{
    if (!out)
        return ERROR_INVALID_VALUE;
    *out = value;
    return OK;
}

static CUresult context_of(struct stream *s, struct context **out, void **green)
{
    if (!out)
        return ERROR_INVALID_VALUE;
    *out = s->context;
    if (green)
        *green = NULL;
    return OK;
}

STREAM_PAIR(cuStreamGetPriority, (void *stream, int *priority), word(priority, target->priority))
STREAM_PAIR(cuStreamGetFlags, (void *stream, int *flags), word(flags, (int)target->flags))
STREAM_PAIR(cuStreamGetId, (void *stream, unsigned long long *id), number(id, target->id))
STREAM_PAIR(cuStreamGetDevice, (void *stream, CUdevice *device), word(device, target->context->device))
STREAM_PAIR(cuStreamGetCtx, (void *stream, struct context **context), context_of(target, context, NULL))
STREAM_PAIR(cuStreamGetCtx_v2, (void *stream, struct context **context, void **green),
            context_of(target, context, green))
