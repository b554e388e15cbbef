/* Primary contexts: one for each device, shared by all libraries in the process. */
#include "relay/wire/context.h"
#include "relay_stubs.h"

static CUresult primary_of(CUdevice device, struct relay_context **primary)
{
    struct relay_link *link;
    CUresult result = relay_link_at(device, &link);
    if (result == CUDA_SUCCESS)
        *primary = relay_primary(link);
    return result;
}

CUresult relay_cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice device)
{
    struct relay_context *primary;
    CUresult result = primary_of(device, &primary);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    result = context_retain(primary);
    if (result == CUDA_SUCCESS)
        *handle = primary->handle;
    return result;
}

CUresult relay_cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    struct relay_context *primary;
    CUresult result = primary_of(device, &primary);
    return result != CUDA_SUCCESS ? result : context_release(primary);
}

CUresult relay_cuDevicePrimaryCtxRelease(CUdevice device)
{
    return relay_cuDevicePrimaryCtxRelease_v2(device);
}

CUresult relay_cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    struct relay_context *primary;
    CUresult result = primary_of(device, &primary);
    return result != CUDA_SUCCESS ? result : context_reset(primary);
}

CUresult relay_cuDevicePrimaryCtxReset(CUdevice device)
{
    return relay_cuDevicePrimaryCtxReset_v2(device);
}

CUresult relay_cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    struct relay_context *primary;
    CUresult result = primary_of(device, &primary);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = primary->flags;
    *active = __atomic_load_n(&primary->alive, __ATOMIC_ACQUIRE);
    return CUDA_SUCCESS;
}

CUresult relay_cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    struct relay_context *primary;
    CUresult result = primary_of(device, &primary);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags & ~CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    primary->flags = flags;
    return CUDA_SUCCESS;
}

CUresult relay_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    return relay_cuDevicePrimaryCtxSetFlags_v2(device, flags);
}
