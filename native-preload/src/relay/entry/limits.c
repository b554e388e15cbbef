/* Limits of a context. The executor has one context, so a limit that is set holds for all clients of the device. */
#include "relay/wire/message.h"
#include "relay_stubs.h"

CUresult relay_cuCtxGetLimit(size_t *value, int limit)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value || limit < 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct relay_link *link = context->link;
    const struct tessera_relay_device *known = &link->segment->device;
    if (limit >= (int)TESSERA_RELAY_LIMITS)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (__atomic_load_n(&link->limit_valid, __ATOMIC_ACQUIRE) & 1u << limit)
        *value = link->limits[limit];
    else if (known->limit_valid & 1u << limit)
        *value = known->limits[limit];
    else
        return MESSAGE_CALL(context, ENTRY_cuCtxGetLimit, OUT(value, sizeof *value), VALUE(limit));
    return CUDA_SUCCESS;
}

/* The driver may round the value, so the value that it took is queried. */
CUresult relay_cuCtxSetLimit(int limit, size_t value)
{
    struct relay_context *context;
    size_t taken;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (limit < 0 || limit >= (int)TESSERA_RELAY_LIMITS)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    result = MESSAGE_CALL(context, ENTRY_cuCtxSetLimit, VALUE(limit), VALUE(value));
    if (result == CUDA_SUCCESS)
        result = MESSAGE_CALL(context, ENTRY_cuCtxGetLimit, OUT(&taken, sizeof taken), VALUE(limit));
    if (result == CUDA_SUCCESS) {
        context->link->limits[limit] = taken;
        __atomic_fetch_or(&context->link->limit_valid, 1u << limit, __ATOMIC_RELEASE);
    }
    return result;
}
