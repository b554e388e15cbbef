/*
 * CUDA's IPC handles: memory and events of another process of the tenant, on the same executor. The tenant has one window,
 * so an opened handle has the same address in both processes.
 */
#include <string.h>

#include "relay/memory/range.h"
#include "relay/streams/events.h"
#include "relay/wire/message.h"
#include "relay_stubs.h"

/* Serialises opening and closing, so that the executor's answers and our map of ranges agree. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

_Static_assert(sizeof(struct tessera_ipc_handle) == sizeof(struct tessera_value_64), "a handle is 64 bytes");

CUresult relay_cuIpcGetMemHandle(void *handle, CUdeviceptr pointer)
{
    struct relay_context *context;
    struct relay_range range;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || !relay_range_find(pointer, &range) || range.kind != RELAY_RANGE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(range.context, ENTRY_cuIpcGetMemHandle, OUT(handle, sizeof(struct tessera_ipc_handle)),
                          VALUE(range.start));
    if (result == CUDA_SUCCESS)
        segment_count(TESSERA_COUNTER_EXPORTED, 1);
    return result;
}

static CUresult open_memory(struct relay_context *context, CUdeviceptr *pointer, const struct tessera_value_64 *handle,
                            unsigned flags)
{
    struct tessera_ipc_handle said;
    CUdeviceptr opened = 0;
    memcpy(&said, handle, sizeof said);
    CUresult result = MESSAGE_CALL(context, ENTRY_cuIpcOpenMemHandle_v2, OUT(&opened, sizeof opened),
                                   IN(handle, sizeof *handle), VALUE(flags));
    if (result != CUDA_SUCCESS)
        return result;
    const struct relay_range range = {
        .start = opened, .bytes = said.bytes, .kind = RELAY_RANGE_OPENED, .link = context->link, .context = context};
    if (!relay_range_add(&range)) {
        MESSAGE_CALL(context, ENTRY_cuIpcCloseMemHandle, VALUE(opened));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pointer = opened;
    return CUDA_SUCCESS;
}

CUresult relay_cuIpcOpenMemHandle_v2(CUdeviceptr *pointer, struct tessera_value_64 handle, unsigned flags)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer || (flags & ~(unsigned)CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    result = open_memory(context, pointer, &handle, flags);
    pthread_mutex_unlock(&lock);
    if (result == CUDA_SUCCESS)
        segment_count(TESSERA_COUNTER_IMPORTED, 1);
    return result;
}

CUresult relay_cuIpcOpenMemHandle(CUdeviceptr *pointer, struct tessera_value_64 handle, unsigned flags)
{
    return relay_cuIpcOpenMemHandle_v2(pointer, handle, flags);
}

CUresult relay_cuIpcCloseMemHandle(CUdeviceptr pointer)
{
    struct relay_context *context;
    struct relay_range range;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    bool known = relay_range_find(pointer, &range) && range.kind == RELAY_RANGE_OPENED && range.start == pointer;
    result = known ? MESSAGE_CALL(range.context, ENTRY_cuIpcCloseMemHandle, VALUE(pointer)) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        relay_range_remove(pointer, RELAY_RANGE_OPENED, NULL);
    pthread_mutex_unlock(&lock);
    return result == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : result; /* still open: it was opened more often */
}

CUresult relay_cuIpcGetEventHandle(void *handle, CUevent event_handle)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct event *event = event_of(event_handle);
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (!event || !event_is_interprocess(event))
        return CUDA_ERROR_INVALID_HANDLE;
    result = MESSAGE_CALL(event->context, ENTRY_cuIpcGetEventHandle, OUT(handle, sizeof(struct tessera_ipc_handle)),
                          VALUE(event->handle));
    if (result != CUDA_SUCCESS)
        return result;
    event_unseen(event);
    segment_count(TESSERA_COUNTER_EXPORTED, 1);
    return CUDA_SUCCESS;
}

CUresult relay_cuIpcOpenEventHandle(CUevent *event, struct tessera_value_64 handle)
{
    struct relay_context *context;
    uint64_t wire = 0;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!event)
        return CUDA_ERROR_INVALID_VALUE;
    result = MESSAGE_CALL(context, ENTRY_cuIpcOpenEventHandle, OUT(&wire, sizeof wire), IN(&handle, sizeof handle));
    if (result == CUDA_SUCCESS)
        result = event_opened(context, wire);
    if (result != CUDA_SUCCESS)
        return result;
    *event = (CUevent)(uintptr_t)wire;
    segment_count(TESSERA_COUNTER_IMPORTED, 1);
    return CUDA_SUCCESS;
}
