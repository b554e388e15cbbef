/* Linear device memory: the executor allocates and frees it; the client keeps a record of it. */
#include "relay/memory/range.h"
#include "relay/streams/capture.h"
#include "relay/streams/streams.h"
#include "relay/wire/message.h"
#include "relay/wire/relay.h"
#include "relay_stubs.h"
#include "session/report.h"

/* Executors divide the addresses by device (RELAY.md, section 6). An address that two devices had would name the wrong memory. */
static bool is_apart(const struct relay_context *context, CUdeviceptr start, size_t bytes)
{
    if (!relay_range_foreign(context->link, start, bytes))
        return true;
    report_error(CUDA_ERROR_OUT_OF_MEMORY, "device %u gave out memory at an address that another device has",
                 context->link->device);
    return false;
}

static CUresult note(struct relay_context *context, enum relay_range_kind kind, CUdeviceptr start, size_t bytes,
                     uint64_t id)
{
    struct relay_range range = {.start = start,
                                .bytes = bytes,
                                .kind = kind,
                                .link = context->link,
                                .id = id,
                                .context = kind == RELAY_RANGE_POOL || kind == RELAY_RANGE_GRAPH ? NULL : context};
    if (!is_apart(context, start, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    segment_count(TESSERA_COUNTER_ALLOCATIONS, 1);
    return relay_range_add(&range) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult refused(CUresult result)
{
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        segment_count(TESSERA_COUNTER_LIMIT_REFUSALS, 1);
    return result;
}

CUresult relay_cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result == CUDA_SUCCESS && (!pointer || bytes == 0))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && capture_any())
        result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    result = MESSAGE_CALL(context, ENTRY_cuMemAlloc_v2, OUT(pointer, sizeof *pointer), VALUE(bytes));
    if (result != CUDA_SUCCESS)
        return refused(result);
    result = note(context, RELAY_RANGE_DEVICE, *pointer, bytes, 0);
    if (result != CUDA_SUCCESS)
        relay_send_cuMemFree_v2(*pointer);
    return result;
}

CUresult relay_cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned element)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer || !pitch || width == 0 || height == 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = relay_send_cuMemAllocPitch_v2(pointer, pitch, width, height, element);
    if (result != CUDA_SUCCESS)
        return refused(result);
    result = note(context, RELAY_RANGE_DEVICE, *pointer, *pitch * height, 0);
    if (result != CUDA_SUCCESS)
        relay_send_cuMemFree_v2(*pointer);
    return result;
}

/*
 * Takes out the range that a call frees. *graphs: it is a graph's memory, and stays: each launch allocates it again, and
 * the executor knows whether it is allocated.
 */
static bool take_freed(CUdeviceptr pointer, struct relay_range *range, bool *graphs)
{
    *graphs = relay_range_find(pointer, range) && range->start == pointer && range->kind == RELAY_RANGE_GRAPH;
    return *graphs || relay_range_remove(pointer, RELAY_RANGE_DEVICE, range) ||
           relay_range_remove(pointer, RELAY_RANGE_POOL, range);
}

/*
 * Takes out the range first: once the executor has freed it, the address may be another thread's next allocation. The
 * executor frees memory at once if no work can use it any more. Otherwise it answers NOT_READY and frees it later, and the
 * call waits, as programs may expect of cuMemFree. No call waits while a stream is captured.
 */
CUresult relay_cuMemFree_v2(CUdeviceptr pointer)
{
    struct relay_context *context;
    struct relay_range range;
    if (pointer == 0)
        return relay_started();
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    bool graphs;
    if (!take_freed(pointer, &range, &graphs))
        return CUDA_ERROR_INVALID_VALUE;
    /* The address decides whose memory it is, whichever device is current. */
    struct relay_context *owner = range.link == context->link ? context : range.context;
    if (!owner)
        owner = relay_primary(range.link);
    result = owner == context ? relay_send_cuMemFree_v2(pointer)
                              : MESSAGE_CALL(owner, ENTRY_cuMemFree_v2, VALUE(pointer));
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) {
        if (!graphs)
            relay_range_add(&range);
        return result;
    }
    segment_count(TESSERA_COUNTER_FREES, 1);
    return result == CUDA_SUCCESS || capture_any() ? CUDA_SUCCESS : relay_context_wait(owner);
}

CUresult relay_cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    struct relay_context *context;
    struct tessera_memory_info info;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!free_bytes || !total)
        return CUDA_ERROR_INVALID_VALUE;
    result = relay_query(context->link, TESSERA_QUERY_MEMORY, 0, &info, sizeof info);
    if (result == CUDA_SUCCESS) {
        *free_bytes = info.free_bytes;
        *total = info.total_bytes;
    }
    return result;
}

CUresult relay_cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer)
{
    struct relay_context *context;
    struct relay_range range;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!relay_range_find(pointer, &range) || range.kind == RELAY_RANGE_REGISTERED)
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = range.start;
    if (bytes)
        *bytes = range.bytes;
    return CUDA_SUCCESS;
}

/* Whether work of the stream goes into a graph. */
static bool is_captured(CUstream handle)
{
    struct relay_context *context;
    struct stream *stream;
    return capture_any() && stream_enter(handle, &context, &stream) == CUDA_SUCCESS && capture_key(stream) != 0;
}

/* While a stream is captured, the address is that of a graph's memory; the executor returns it in the same way. */
static CUresult allocated_async(CUresult result, struct relay_context *context, const CUdeviceptr *pointer,
                                size_t bytes, CUmemoryPool pool, CUstream stream)
{
    if (result != CUDA_SUCCESS)
        return refused(result);
    result = note(context, is_captured(stream) ? RELAY_RANGE_GRAPH : RELAY_RANGE_POOL, *pointer, bytes, (uintptr_t)pool);
    if (result != CUDA_SUCCESS)
        relay_send_cuMemFree_v2(*pointer);
    return result;
}

CUresult relay_cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    return allocated_async(relay_send_cuMemAllocAsync(pointer, bytes, stream), context, pointer, bytes, NULL, stream);
}

CUresult relay_cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    return allocated_async(relay_send_cuMemAllocFromPoolAsync(pointer, bytes, pool, stream), context, pointer, bytes,
                           pool, stream);
}

CUresult relay_cuMemFreeAsync(CUdeviceptr pointer, CUstream stream)
{
    struct relay_context *context;
    struct relay_range range;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    bool graphs;
    if (!take_freed(pointer, &range, &graphs))
        return CUDA_ERROR_INVALID_VALUE;
    result = relay_send_cuMemFreeAsync(pointer, stream);
    if (result == CUDA_SUCCESS)
        segment_count(TESSERA_COUNTER_FREES, 1);
    else if (!graphs)
        relay_range_add(&range);
    return result;
}
