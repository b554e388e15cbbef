/* Waits for values in memory, and writes of values, in stream order. The executor checks the addresses, which are the device's. */
#include "relay/streams/capture.h"
#include "relay/wire/layouts.h"
#include "relay/wire/message.h"
#include "relay/streams/streams.h"

#define MAX_OPERATIONS 256u /* as the driver */

static CUresult enter(CUstream handle, struct relay_context **context, struct stream **stream)
{
    CUresult result = stream_enter(handle, context, stream);
    if (result == CUDA_SUCCESS && capture_any())
        result = capture_submit(*stream);
    if (result == CUDA_SUCCESS)
        relay_count((*context)->link, TESSERA_KIND_MEMORY_OP);
    return result;
}

static CUresult one(unsigned entry, CUstream handle, CUdeviceptr address, uint64_t value, unsigned flags)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = enter(handle, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = MESSAGE_POST(context, entry, VALUE(stream->handle), VALUE(address), VALUE(value), VALUE(flags));
    stream_submitted(stream);
    return result;
}

/* Version 1 of these entries was restricted in old drivers; here both versions do the same. */
#define VALUE_ENTRY(name, sent, type)                                                                                  \
    CUresult relay_##name(CUstream stream, CUdeviceptr address, type value, unsigned int flags)                        \
    {                                                                                                                  \
        return one(ENTRY_##sent, stream, address, value, flags);                                                       \
    }

VALUE_ENTRY(cuStreamWaitValue32, cuStreamWaitValue32_v2, uint32_t)
VALUE_ENTRY(cuStreamWaitValue32_v2, cuStreamWaitValue32_v2, uint32_t)
VALUE_ENTRY(cuStreamWaitValue64, cuStreamWaitValue64_v2, uint64_t)
VALUE_ENTRY(cuStreamWaitValue64_v2, cuStreamWaitValue64_v2, uint64_t)
VALUE_ENTRY(cuStreamWriteValue32, cuStreamWriteValue32_v2, uint32_t)
VALUE_ENTRY(cuStreamWriteValue32_v2, cuStreamWriteValue32_v2, uint32_t)
VALUE_ENTRY(cuStreamWriteValue64, cuStreamWriteValue64_v2, uint64_t)
VALUE_ENTRY(cuStreamWriteValue64_v2, cuStreamWriteValue64_v2, uint64_t)

CUresult relay_cuStreamBatchMemOp_v2(CUstream handle, unsigned int count, void *operations, unsigned int flags)
{
    struct relay_context *context;
    struct stream *stream;
    CUresult result = enter(handle, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (count > MAX_OPERATIONS || (count != 0 && !operations))
        return CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_POST(context, ENTRY_cuStreamBatchMemOp_v2, VALUE(stream->handle), VALUE(count),
                          IN_OR_NOTHING(operations, count * LAYOUT_MEMORY_OP), VALUE(flags));
    stream_submitted(stream);
    return result;
}

CUresult relay_cuStreamBatchMemOp(CUstream handle, unsigned int count, void *operations, unsigned int flags)
{
    return relay_cuStreamBatchMemOp_v2(handle, count, operations, flags);
}
