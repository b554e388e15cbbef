/* The driver's context entries: the stack of contexts, and facts about a context. Other files handle its work. */
#include <string.h>

#include "relay/wire/context.h"
#include "relay/wire/unsupported.h"
#include "relay_stubs.h"

#define VERSION_CREATE_V1 3010 /* what cuCtxGetApiVersion returns, by the entry that made the context */
#define VERSION_CREATE 3020

static CUresult create(CUcontext *handle, unsigned flags, unsigned version, CUdevice device)
{
    struct relay_link *link;
    struct relay_context *context;
    CUresult result = relay_link_at(device, &link);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || flags & ~CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    result = context_create(link, flags, version, &context);
    if (result == CUDA_SUCCESS)
        result = current_push(context);
    if (result == CUDA_SUCCESS)
        *handle = context->handle;
    return result;
}

CUresult relay_cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device)
{
    return create(context, flags, VERSION_CREATE_V1, device);
}

CUresult relay_cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    return create(context, flags, VERSION_CREATE, device);
}

CUresult relay_cuCtxCreate_v3(CUcontext *context, void *affinity, int count, unsigned flags, CUdevice device)
{
    if (affinity || count)
        return relay_unsupported("cuCtxCreate_v3", "execution affinity belongs to contexts of one's own");
    return create(context, flags, VERSION_CREATE, device);
}

CUresult relay_cuCtxCreate_v4(CUcontext *context, void *parameters, unsigned flags, CUdevice device)
{
    static const char none[24]; /* CUctxCreateParams: affinity, its count, sharing with graphics */
    if (parameters && memcmp(parameters, none, sizeof none) != 0)
        return relay_unsupported("cuCtxCreate_v4", "execution affinity and sharing with graphics cannot be relayed");
    return create(context, flags, VERSION_CREATE, device);
}

/* A context by its handle; NULL is an error. */
static CUresult named(CUcontext handle, struct relay_context **context)
{
    CUresult started = relay_started();
    if (started != CUDA_SUCCESS)
        return started;
    *context = handle ? relay_context_of(handle) : NULL;
    return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* A context by its handle; NULL: the current one. It need not be active. */
static CUresult named_or_current(CUcontext handle, struct relay_context **context)
{
    CUresult started = relay_started();
    if (started != CUDA_SUCCESS)
        return started;
    *context = relay_context_of(handle);
    return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult relay_cuCtxDestroy_v2(CUcontext handle)
{
    struct relay_context *context, *popped;
    CUresult result = named(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    result = context_destroy(context);
    if (relay_current == context)
        current_pop(&popped);
    return result;
}

CUresult relay_cuCtxDestroy(CUcontext handle)
{
    return relay_cuCtxDestroy_v2(handle);
}

CUresult relay_cuCtxAttach(CUcontext *handle, unsigned flags)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    __atomic_fetch_add(&context->retained, 1, __ATOMIC_RELAXED);
    *handle = context->handle;
    return CUDA_SUCCESS;
}

CUresult relay_cuCtxDetach(CUcontext handle)
{
    struct relay_context *context;
    CUresult result = named(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (context != relay_current)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context->primary)
        return context_release(context);
    return __atomic_sub_fetch(&context->retained, 1, __ATOMIC_RELAXED) == 0 ? relay_cuCtxDestroy_v2(handle)
                                                                            : CUDA_SUCCESS;
}

CUresult relay_cuCtxGetCurrent(CUcontext *handle)
{
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (!relay_current) {
        *handle = NULL;
        return relay_started();
    }
    *handle = relay_current->handle;
    return CUDA_SUCCESS;
}

CUresult relay_cuCtxSetCurrent(CUcontext handle)
{
    struct relay_context *context = NULL;
    CUresult result = handle ? named(handle, &context) : relay_started();
    if (result != CUDA_SUCCESS)
        return result;
    /* A primary context may be made current before it is active: the runtime does so. */
    if (context && !context->primary && !context->alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return current_set(context);
}

CUresult relay_cuCtxPushCurrent_v2(CUcontext handle)
{
    struct relay_context *context;
    CUresult result = named(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!context->primary && !context->alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return current_push(context);
}

CUresult relay_cuCtxPushCurrent(CUcontext handle)
{
    return relay_cuCtxPushCurrent_v2(handle);
}

CUresult relay_cuCtxPopCurrent_v2(CUcontext *handle)
{
    struct relay_context *popped;
    CUresult result = relay_started();
    if (result == CUDA_SUCCESS)
        result = current_pop(&popped);
    if (result == CUDA_SUCCESS && handle)
        *handle = popped->handle;
    return result;
}

CUresult relay_cuCtxPopCurrent(CUcontext *handle)
{
    return relay_cuCtxPopCurrent_v2(handle);
}

CUresult relay_cuCtxGetDevice(CUdevice *device)
{
    const struct relay_context *context = relay_current;
    if (__builtin_expect(!context, 0))
        return relay_no_context();
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = (CUdevice)context->link->device;
    return CUDA_SUCCESS;
}

CUresult relay_cuCtxGetDevice_v2(CUdevice *device, CUcontext handle)
{
    struct relay_context *context;
    CUresult result = named_or_current(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = (CUdevice)context->link->device;
    return CUDA_SUCCESS;
}

CUresult relay_cuCtxGetApiVersion(CUcontext handle, unsigned *version)
{
    struct relay_context *context;
    CUresult result = named_or_current(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = context->version;
    return CUDA_SUCCESS;
}

CUresult relay_cuCtxGetId(CUcontext handle, unsigned long long *id)
{
    struct relay_context *context;
    CUresult result = named_or_current(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!id)
        return CUDA_ERROR_INVALID_VALUE;
    if (!context->alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult relay_cuCtxGetFlags(unsigned *flags)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

static bool flags_valid(unsigned flags)
{
    return !(flags & ~CU_CTX_FLAGS_MASK) && (flags & CU_CTX_SCHED_MASK) <= CU_CTX_SCHED_BLOCKING_SYNC;
}

CUresult relay_cuCtxSetFlags(unsigned flags)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult relay_cuCtxGetCacheConfig(int *config)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    *config = context->cache_config;
    return CUDA_SUCCESS;
}

/* A preference that the driver may ignore. The executor's context is shared, so the value stays in the client. */
CUresult relay_cuCtxSetCacheConfig(int config)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (config < 0 || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    context->cache_config = config;
    return CUDA_SUCCESS;
}

CUresult relay_cuCtxGetSharedMemConfig(int *config)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE; /* all that devices since Maxwell have */
    return CUDA_SUCCESS;
}

CUresult relay_cuCtxSetSharedMemConfig(int config)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return config < 0 || config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult relay_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    struct relay_context *context;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (least)
        *least = context->link->segment->device.least_priority;
    if (greatest)
        *greatest = context->link->segment->device.greatest_priority;
    return CUDA_SUCCESS;
}

CUresult relay_cuCtxGetExecAffinity(void *affinity, int type)
{
    struct relay_context *context;
    (void)type;
    CUresult result = relay_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return affinity ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : CUDA_ERROR_INVALID_VALUE;
}

static CUresult peer(CUcontext handle)
{
    struct relay_context *context, *other;
    CUresult result = relay_enter(&context);
    if (result == CUDA_SUCCESS)
        result = named(handle, &other);
    return result;
}

/* As between devices that cannot reach each other. */
CUresult relay_cuCtxEnablePeerAccess(CUcontext handle, unsigned flags)
{
    CUresult result = peer(handle);
    if (result != CUDA_SUCCESS)
        return result;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult relay_cuCtxDisablePeerAccess(CUcontext handle)
{
    CUresult result = peer(handle);
    return result != CUDA_SUCCESS ? result : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
