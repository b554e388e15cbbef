/* cuLaunchHostFunc and cuStreamAddCallback. */
#include "relay/wire/callbacks.h"
#include "relay/streams/capture.h"
#include "relay/streams/graph_references.h"
#include "relay/streams/streams.h"

static CUresult submit(CUstream handle, struct callback *callback)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = stream_enter(handle, &context, &stream);
    if (result == CUDA_SUCCESS && capture_any())
        result = capture_submit(stream);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t captured = capture_key(stream);
    if (captured && callback->stream_function)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    callback->stream = handle;
    int word = callback_prepare(context, callback, captured != 0);
    if (word < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (captured && !graph_references_add_word(captured, context->link, word)) {
        callback_release(context->link, word);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    relay_count(context->link, TESSERA_KIND_HOST_FUNCTION);
    result = relay_send_mark(context, TESSERA_RELAY_HOST_CALL, stream->handle, word, 0);
    stream_submitted(stream);
    return result;
}

CUresult relay_cuLaunchHostFunc(CUstream stream, void *function, void *data)
{
    struct callback callback = {.function = (void (*)(void *))(uintptr_t)function, .data = data};
    return function ? submit(stream, &callback) : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuStreamAddCallback(CUstream stream, void *function, void *data, unsigned int flags)
{
    struct callback callback = {.stream_function = (void (*)(CUstream, CUresult, void *))(uintptr_t)function,
                                .data = data};
    return function && flags == 0 ? submit(stream, &callback) : CUDA_ERROR_INVALID_VALUE;
}
