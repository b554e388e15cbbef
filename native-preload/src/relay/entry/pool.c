/* Memory pools. They are in the executor; each client has its own. */
#include <string.h>

#include "relay/executor/device_call.h"
#include "relay/wire/message.h"
#include "relay/wire/unsupported.h"
#include "relay_stubs.h"

CUresult relay_cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    struct relay_context *caller;
    CUresult result = device_caller(device, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    return pool ? MESSAGE_CALL(caller, ENTRY_cuDeviceGetDefaultMemPool, OUT(pool, sizeof *pool), VALUE(0))
                : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    struct relay_context *caller;
    CUresult result = device_caller(device, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    return pool ? MESSAGE_CALL(caller, ENTRY_cuDeviceGetMemPool, OUT(pool, sizeof *pool), VALUE(0))
                : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    struct relay_context *caller;
    CUresult result = device_caller(device, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    return MESSAGE_CALL(caller, ENTRY_cuDeviceSetMemPool, VALUE(0), VALUE((uintptr_t)pool));
}

#define POOL_AT(name)                                                                                                  \
    CUresult relay_##name(CUmemoryPool *pool, void *location, int type)                                                \
    {                                                                                                                  \
        struct relay_context *caller;                                                                                  \
        struct device_location travelling;                                                                             \
        CUresult result = device_caller_at(location, &travelling, &caller);                                            \
        if (result != CUDA_SUCCESS)                                                                                    \
            return result;                                                                                             \
        return pool ? MESSAGE_CALL(caller, ENTRY_##name, OUT(pool, sizeof *pool), IN(&travelling, sizeof travelling),  \
                                   VALUE(type))                                                                        \
                    : CUDA_ERROR_INVALID_VALUE;                                                                        \
    }

POOL_AT(cuMemGetDefaultMemPool)
POOL_AT(cuMemGetMemPool)

CUresult relay_cuMemSetMemPool(void *location, int type, CUmemoryPool pool)
{
    struct relay_context *caller;
    struct device_location travelling;
    CUresult result = device_caller_at(location, &travelling, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    return MESSAGE_CALL(caller, ENTRY_cuMemSetMemPool, IN(&travelling, sizeof travelling), VALUE(type),
                        VALUE((uintptr_t)pool));
}

CUresult relay_cuMemPoolCreate(CUmemoryPool *pool, const void *properties)
{
    struct relay_context *caller;
    struct driver_pool_properties travelling;
    struct device_location location;
    if (!pool || !properties)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&travelling, properties, sizeof travelling);
    if (travelling.handle_types)
        return relay_unsupported("cuMemPoolCreate", "memory of a relayed client stays in its executor");
    CUresult result = device_caller_at((const struct device_location *)&travelling.location, &location, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    travelling.location.id = location.id;
    travelling.security_attributes = NULL;
    return MESSAGE_CALL(caller, ENTRY_cuMemPoolCreate, OUT(pool, sizeof *pool), IN(&travelling, sizeof travelling));
}

/* The context in which calls on a pool are made: one of the pool's device. */
static CUresult caller_of(CUmemoryPool pool, struct relay_context **caller)
{
    CUresult started = relay_started();
    if (started != CUDA_SUCCESS)
        return started;
    const struct relay_link *link = relay_link_of((uintptr_t)pool);
    return link ? device_caller((CUdevice)link->device, caller) : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuMemPoolDestroy(CUmemoryPool pool)
{
    struct relay_context *caller;
    CUresult result = caller_of(pool, &caller);
    return result != CUDA_SUCCESS ? result : MESSAGE_CALL(caller, ENTRY_cuMemPoolDestroy, VALUE((uintptr_t)pool));
}

static CUresult pool_attribute(unsigned entry, CUmemoryPool pool, int attribute, void *value)
{
    struct relay_context *caller;
    uint64_t wide = 0;
    CUresult result = caller_of(pool, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value || attribute < 1 || attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    /* The first ones are int, all others have 64 bits. */
    size_t bytes = attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES ? sizeof(int) : sizeof wide;
    memcpy(&wide, value, bytes);
    result = MESSAGE_CALL(caller, entry, VALUE((uintptr_t)pool), VALUE(attribute), INOUT(&wide, sizeof wide));
    if (result == CUDA_SUCCESS && entry == ENTRY_cuMemPoolGetAttribute)
        memcpy(value, &wide, bytes);
    return result;
}

CUresult relay_cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value)
{
    return pool_attribute(ENTRY_cuMemPoolGetAttribute, pool, attribute, value);
}

CUresult relay_cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value)
{
    return pool_attribute(ENTRY_cuMemPoolSetAttribute, pool, attribute, value);
}

/* CUmemAccessDesc */
struct access {
    struct device_location location;
    int flags;
};

/* Access is refused to devices other than the pool's own: devices do not access each other's memory. */
CUresult relay_cuMemPoolSetAccess(CUmemoryPool pool, const void *list, size_t count)
{
    enum { MOST = 64 };
    struct access travelling[MOST];
    struct relay_context *caller;
    CUresult result = caller_of(pool, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    if (!list || count == 0 || count > MOST)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(travelling, list, count * sizeof *travelling);
    for (size_t i = 0; i < count; i++) {
        if (travelling[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
            travelling[i].location.id != (int)caller->link->device)
            return CUDA_ERROR_INVALID_DEVICE;
        travelling[i].location.id = 0;
    }
    return MESSAGE_CALL(caller, ENTRY_cuMemPoolSetAccess, VALUE((uintptr_t)pool),
                        IN(travelling, count * sizeof *travelling), VALUE(count));
}

CUresult relay_cuMemPoolGetAccess(int *flags, CUmemoryPool pool, void *location)
{
    struct relay_context *caller, *at;
    struct device_location travelling;
    CUresult result = caller_of(pool, &caller);
    if (result == CUDA_SUCCESS)
        result = device_caller_at(location, &travelling, &at);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (travelling.type == CU_MEM_LOCATION_TYPE_DEVICE && at->link != caller->link) {
        *flags = 0;
        return CUDA_SUCCESS;
    }
    return MESSAGE_CALL(caller, ENTRY_cuMemPoolGetAccess, OUT(flags, sizeof *flags), VALUE((uintptr_t)pool),
                        IN(&travelling, sizeof travelling));
}

/* Graph memory of a device: all its attributes are 64 bits wide. */
static CUresult graph_attribute(unsigned entry, CUdevice device, int attribute, void *value)
{
    struct relay_context *caller;
    CUresult result = device_caller(device, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    return value ? MESSAGE_CALL(caller, entry, VALUE(0), VALUE(attribute), INOUT(value, sizeof(uint64_t)))
                 : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, void *value)
{
    return graph_attribute(ENTRY_cuDeviceGetGraphMemAttribute, device, attribute, value);
}

CUresult relay_cuDeviceSetGraphMemAttribute(CUdevice device, int attribute, void *value)
{
    return graph_attribute(ENTRY_cuDeviceSetGraphMemAttribute, device, attribute, value);
}

CUresult relay_cuDeviceGraphMemTrim(CUdevice device)
{
    struct relay_context *caller;
    CUresult result = device_caller(device, &caller);
    return result != CUDA_SUCCESS ? result : MESSAGE_CALL(caller, ENTRY_cuDeviceGraphMemTrim, VALUE(0));
}

CUresult relay_cuDeviceGetTexture1DLinearMaxWidth(size_t *width, int format, unsigned channels, CUdevice device)
{
    struct relay_context *caller;
    CUresult result = device_caller(device, &caller);
    if (result != CUDA_SUCCESS)
        return result;
    return width ? MESSAGE_CALL(caller, ENTRY_cuDeviceGetTexture1DLinearMaxWidth, OUT(width, sizeof *width),
                                VALUE(format), VALUE(channels), VALUE(0))
                 : CUDA_ERROR_INVALID_VALUE;
}
