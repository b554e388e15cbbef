/* Entries that make, destroy and query streams. The client answers all queries but those of attributes. */
#include "relay/streams/capture.h"
#include "relay/streams/events.h"
#include "relay/wire/layouts.h"
#include "relay/wire/message.h"
#include "relay/streams/stream_table.h"

static CUresult create(CUstream *handle, unsigned flags, int priority)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    const struct tessera_relay_device *device = &context->link->segment->device;
    if (priority > device->least_priority) /* out of range is clamped, as documented */
        priority = device->least_priority;
    if (priority < device->greatest_priority)
        priority = device->greatest_priority;
    result = stream_create(context, flags, priority, &stream);
    if (result == CUDA_SUCCESS)
        *handle = (CUstream)(uintptr_t)stream->handle;
    return result;
}

CUresult relay_cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return create(stream, flags, 0);
}

CUresult relay_cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    return create(stream, flags, priority);
}

CUresult relay_cuStreamDestroy_v2(CUstream handle)
{
    struct relay_context *context;
    struct stream *stream;
    if ((uintptr_t)handle <= TESSERA_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = stream_enter(handle, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    return stream->per_thread ? CUDA_ERROR_INVALID_HANDLE : stream_destroy(stream);
}

CUresult relay_cuStreamDestroy(CUstream handle)
{
    return relay_cuStreamDestroy_v2(handle);
}

/* For queries of facts, which captures do not forbid: the rules on implicit ordering apply to work only. */
static CUresult enter(CUstream handle, const void *answer, struct relay_context **context, struct stream **stream)
{
    CUresult result;
    if ((uintptr_t)handle <= TESSERA_STREAM_LEGACY) {
        result = relay_enter(context);
        *stream = result == CUDA_SUCCESS ? stream_of(*context, 0) : NULL;
        if (result == CUDA_SUCCESS && !*stream)
            result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        result = stream_enter(handle, context, stream);
    }
    return result == CUDA_SUCCESS && !answer ? CUDA_ERROR_INVALID_VALUE : result;
}

#define STREAM_FACT(name, type, fact)                                                                                  \
    CUresult relay_##name(CUstream handle, type *answer)                                                               \
    {                                                                                                                  \
        struct relay_context *context;                                                                                 \
        struct stream *stream;                                                                                         \
        CUresult result = enter(handle, answer, &context, &stream);                                                    \
        if (result == CUDA_SUCCESS)                                                                                    \
            *answer = (type)(fact);                                                                                    \
        return result;                                                                                                 \
    }

STREAM_FACT(cuStreamGetPriority, int, stream->priority)
STREAM_FACT(cuStreamGetFlags, unsigned int, stream->flags)
STREAM_FACT(cuStreamGetId, unsigned long long, stream->id)
STREAM_FACT(cuStreamGetCtx, CUcontext, context->handle)
STREAM_FACT(cuStreamGetDevice, CUdevice, context->link->device)

CUresult relay_cuStreamGetCtx_v2(CUstream handle, CUcontext *answer, CUgreenCtx *green)
{
    CUresult result = relay_cuStreamGetCtx(handle, answer);
    if (result == CUDA_SUCCESS && green)
        *green = NULL; /* no relayed stream belongs to a green context */
    return result;
}

CUresult relay_cuStreamGetAttribute(CUstream handle, int attribute, void *value)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = enter(handle, value, &context, &stream);
    return result != CUDA_SUCCESS ? result
                                  : MESSAGE_CALL(context, ENTRY_cuStreamGetAttribute, VALUE(stream->handle),
                                                 VALUE(attribute), OUT(value, 64));
}

CUresult relay_cuStreamSetAttribute(CUstream handle, int attribute, const void *value)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = enter(handle, value, &context, &stream);
    return result != CUDA_SUCCESS ? result
                                  : MESSAGE_CALL(context, ENTRY_cuStreamSetAttribute, VALUE(stream->handle),
                                                 VALUE(attribute), IN(value, 64));
}

CUresult relay_cuStreamCopyAttributes(CUstream to, CUstream from)
{
    struct relay_context *context, *other;
    struct stream *target, *source;
    CUresult result = enter(to, &to, &context, &target);
    if (result == CUDA_SUCCESS)
        result = enter(from, &from, &other, &source);
    if (result != CUDA_SUCCESS)
        return result;
    if (context != other)
        return CUDA_ERROR_INVALID_VALUE;
    return MESSAGE_CALL(context, ENTRY_cuStreamCopyAttributes, VALUE(target->handle), VALUE(source->handle));
}
