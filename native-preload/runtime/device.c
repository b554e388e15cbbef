/* Devices: count, attributes, limits, peers, synchronisation. */
#include <string.h>

#include "runtime.h"

/* An entry that needs the driver but no context. */
#define STARTED(name, parameters, call)                                                                                \
    EXPORT cudaError_t name parameters;                                                                                \
    EXPORT cudaError_t name parameters                                                                                 \
    {                                                                                                                  \
        cudaError_t failed = start();                                                                                  \
        return failed ? failed : keep(call);                                                                           \
    }

STARTED(cudaGetDeviceCount, (int *count), cuDeviceGetCount(count))
STARTED(cudaDeviceGetAttribute, (int *value, int which, int device), cuDeviceGetAttribute(value, which, device))
STARTED(cudaDeviceGetPCIBusId, (char *text, int bytes, int device), cuDeviceGetPCIBusId(text, bytes, device))
STARTED(cudaDeviceGetByPCIBusId, (int *device, const char *text), cuDeviceGetByPCIBusId(device, text))
STARTED(cudaDeviceCanAccessPeer, (int *can, int device, int peer), cuDeviceCanAccessPeer(can, device, peer))
STARTED(cudaDeviceGetP2PAttribute, (int *value, int which, int from, int to),
        cuDeviceGetP2PAttribute(value, which, from, to))

FORWARD(cudaDeviceSynchronize, cuCtxSynchronize, (void), ())
FORWARD(cudaDeviceSetLimit, cuCtxSetLimit, (int limit, size_t value), (limit, value))
FORWARD(cudaDeviceGetLimit, cuCtxGetLimit, (size_t * value, int limit), (value, limit))
FORWARD(cudaDeviceGetCacheConfig, cuCtxGetCacheConfig, (int *config), ((void *)config))
FORWARD(cudaDeviceSetCacheConfig, cuCtxSetCacheConfig, (int config), (config))
FORWARD(cudaDeviceGetStreamPriorityRange, cuCtxGetStreamPriorityRange, (int *least, int *greatest), (least, greatest))
FORWARD(cudaCtxResetPersistingL2Cache, cuCtxResetPersistingL2Cache, (void), ())

static cudaError_t peer(int device, bool enable)
{
    CUcontext context;
    cudaError_t failed = cuDevicePrimaryCtxRetain(&context, device);
    if (failed)
        return failed;
    failed = enable ? cuCtxEnablePeerAccess(context, 0) : cuCtxDisablePeerAccess(context);
    cuDevicePrimaryCtxRelease_v2(device);
    return failed;
}

EXPORT cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned flags);
EXPORT cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned flags)
{
    cudaError_t failed = flags ? keep(cudaErrorInvalidValue) : enter();
    return failed ? failed : keep(peer(device, true));
}

EXPORT cudaError_t cudaDeviceDisablePeerAccess(int device);
EXPORT cudaError_t cudaDeviceDisablePeerAccess(int device)
{
    cudaError_t failed = enter();
    return failed ? failed : keep(peer(device, false));
}

/* Bank widths are fixed since sm_50: 4 bytes. The runtime and the driver have the same numbers. */
EXPORT cudaError_t cudaDeviceGetSharedMemConfig(int *config);
EXPORT cudaError_t cudaDeviceGetSharedMemConfig(int *config)
{
    if (!config)
        return keep(cudaErrorInvalidValue);
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceSetSharedMemConfig(int config);
EXPORT cudaError_t cudaDeviceSetSharedMemConfig(int config)
{
    return config < 0 || config > 2 ? keep(cudaErrorInvalidValue) : cudaSuccess;
}

STARTED(cudaSetDeviceFlags, (unsigned flags), cuDevicePrimaryCtxSetFlags_v2(current_device(), flags & ~8u /* MapHost */))

static cudaError_t flags_of(unsigned *flags)
{
    int active;
    return flags ? cuDevicePrimaryCtxGetState(current_device(), flags, &active) : cudaErrorInvalidValue;
}

STARTED(cudaGetDeviceFlags, (unsigned *flags), flags_of(flags))

/* Which devices a program prefers: the order of the driver is kept, so there is nothing to remember but wrong lists. */
static cudaError_t valid_devices(const int *devices, int length)
{
    int count = 0;
    cudaError_t failed = cuDeviceGetCount(&count);
    for (int i = 0; !failed && i < length; i++)
        if (!devices || devices[i] < 0 || devices[i] >= count)
            failed = cudaErrorInvalidDevice;
    return failed;
}

STARTED(cudaSetValidDevices, (int *devices, int length), valid_devices(devices, length))

EXPORT cudaError_t cudaRuntimeGetVersion(int *version);
EXPORT cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return keep(cudaErrorInvalidValue);
    *version = RUNTIME_MAJOR == 12 ? 12060 : 13000; /* whose calls are served */
    return cudaSuccess;
}

EXPORT cudaError_t cudaDriverGetVersion(int *version);
EXPORT cudaError_t cudaDriverGetVersion(int *version)
{
    return keep(cuDriverGetVersion(version));
}

FORWARD(cudaProfilerStart, cuProfilerStart, (void), ())
FORWARD(cudaProfilerStop, cuProfilerStop, (void), ())
