/* What a context answers about itself, and access between devices. */
#include "driver.h"
#include "entry.h"
#include "streams/stream.h"

EXPORT CUresult cuCtxGetApiVersion(struct context *c, unsigned *version)
{
    ENTER(cuCtxGetApiVersion);
    LOCKED;
    CUresult error = c ? OK : context_current(&c);
    if (error || !context_valid(c))
        return ERROR_INVALID_CONTEXT;
    *version = c->api_version;
    return OK;
}

EXPORT CUresult cuCtxGetId(struct context *c, unsigned long long *id)
{
    ENTER(cuCtxGetId);
    LOCKED;
    CUresult error = c ? OK : context_current(&c);
    if (error || !context_valid(c))
        return ERROR_INVALID_CONTEXT;
    *id = c->id;
    return OK;
}

EXPORT CUresult cuCtxGetFlags(unsigned *flags)
{
    ENTER(cuCtxGetFlags);
    LOCKED;
    struct context *c;
    CUresult error = context_current(&c);
    if (!error)
        *flags = c->flags;
    return error;
}

EXPORT CUresult cuCtxSetFlags(unsigned flags)
{
    ENTER(cuCtxSetFlags);
    LOCKED;
    struct context *c;
    CUresult error = context_current(&c);
    if (!error)
        c->flags = flags;
    return error;
}

EXPORT CUresult cuCtxGetLimit(size_t *value, int limit)
{
    ENTER(cuCtxGetLimit);
    LOCKED;
    struct context *c;
    CUresult error = context_current(&c);
    if (!error && (limit < 0 || limit > 9))
        error = ERROR_INVALID_VALUE;
    if (!error)
        *value = c->limits[limit];
    return error;
}

EXPORT CUresult cuCtxSetLimit(int limit, size_t value)
{
    ENTER(cuCtxSetLimit);
    LOCKED;
    struct context *c;
    CUresult error = context_current(&c);
    if (!error && (limit < 0 || limit > 9))
        error = ERROR_INVALID_VALUE;
    if (!error)
        c->limits[limit] = value;
    return error;
}

EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    ENTER(cuCtxGetStreamPriorityRange);
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return OK;
}

static CUresult cache_config(int *out)
{
    LOCKED;
    struct context *c;
    CUresult error = context_current(&c);
    if (!error && out)
        *out = 0;
    return error;
}

EXPORT CUresult cuCtxGetCacheConfig(int *config)
{
    ENTER(cuCtxGetCacheConfig);
    return cache_config(config);
}

EXPORT CUresult cuCtxSetCacheConfig(int config)
{
    ENTER(cuCtxSetCacheConfig);
    (void)config;
    return cache_config(NULL);
}

EXPORT CUresult cuCtxGetSharedMemConfig(int *config)
{
    ENTER(cuCtxGetSharedMemConfig);
    return cache_config(config);
}

EXPORT CUresult cuCtxSetSharedMemConfig(int config)
{
    ENTER(cuCtxSetSharedMemConfig);
    (void)config;
    return cache_config(NULL);
}

EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    ENTER(cuDeviceCanAccessPeer);
    if (!device_valid(device) || !device_valid(peer))
        return ERROR_INVALID_DEVICE;
    *can = device != peer;
    return OK;
}

EXPORT CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice device, CUdevice peer)
{
    ENTER(cuDeviceGetP2PAttribute);
    if (!device_valid(device) || !device_valid(peer) || device == peer)
        return ERROR_INVALID_DEVICE;
    *value = attribute == 2 || attribute == 3;
    return OK;
}

static CUresult peer(struct context *other, bool enable)
{
    LOCKED;
    struct context *c;
    CUresult error = context_current(&c);
    if (error)
        return error;
    if (!context_valid(other) || other->device == c->device)
        return ERROR_INVALID_CONTEXT;
    unsigned bit = 1u << other->device;
    if (enable == ((c->peers & bit) != 0))
        return enable ? ERROR_PEER_ACCESS_ALREADY_ENABLED : ERROR_PEER_ACCESS_NOT_ENABLED;
    c->peers ^= bit;
    return OK;
}

EXPORT CUresult cuCtxEnablePeerAccess(struct context *other, unsigned flags)
{
    ENTER(cuCtxEnablePeerAccess);
    return flags ? ERROR_INVALID_VALUE : peer(other, true);
}

EXPORT CUresult cuCtxDisablePeerAccess(struct context *other)
{
    ENTER(cuCtxDisablePeerAccess);
    return peer(other, false);
}
