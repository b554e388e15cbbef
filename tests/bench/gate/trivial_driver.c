/*
 * A driver whose calls return at once: what is left of a launch is the price of the library before it.
 *
 * It has the entries that the preload library needs to take a client through cuInit, a context and launches. It keeps
 * no memory and no state, so it is of no use for anything but timing; tests/scripted-driver is the one that behaves.
 * Types are spelled out because no CUDA header is needed to build this.
 */
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_FOUND = 500 };

static char context; /* its address is the handle of the only context */

EXPORT int cuInit(unsigned flags)
{
    return flags == 0 ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return SUCCESS;
}

EXPORT int cuDeviceGetCount(int *count)
{
    *count = 1;
    return SUCCESS;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal == 0 ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuDeviceGetName(char *name, int length, int device)
{
    (void)device;
    strncpy(name, "trivial driver", (size_t)length);
    return SUCCESS;
}

EXPORT int cuDeviceGetUuid_v2(unsigned char *uuid, int device)
{
    (void)device;
    memset(uuid, 0x7e, 16);
    return SUCCESS;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)8 << 30;
    return SUCCESS;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)attribute;
    (void)device;
    *value = 0;
    return SUCCESS;
}

EXPORT int cuDevicePrimaryCtxRetain(void **handle, int device)
{
    (void)device;
    *handle = &context;
    return SUCCESS;
}

EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    (void)device;
    *flags = 0;
    *active = 1;
    return SUCCESS;
}

EXPORT int cuCtxSetCurrent(void *handle)
{
    return handle == &context ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuCtxGetCurrent(void **handle)
{
    *handle = &context;
    return SUCCESS;
}

EXPORT int cuCtxPushCurrent_v2(void *handle)
{
    return handle == &context ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuCtxPopCurrent_v2(void **handle)
{
    *handle = &context;
    return SUCCESS;
}

EXPORT int cuCtxGetDevice(int *device)
{
    *device = 0;
    return SUCCESS;
}

EXPORT int cuCtxSynchronize(void)
{
    return SUCCESS;
}

EXPORT int cuStreamGetCtx(void *stream, void **handle)
{
    (void)stream;
    *handle = &context;
    return SUCCESS;
}

EXPORT int cuStreamQuery(void *stream)
{
    (void)stream;
    return SUCCESS;
}

EXPORT int cuThreadExchangeStreamCaptureMode(int *mode)
{
    *mode = 0;
    return SUCCESS;
}

EXPORT int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = &context;
    return SUCCESS;
}

EXPORT int cuEventRecord(void *event, void *stream)
{
    (void)event;
    (void)stream;
    return SUCCESS;
}

EXPORT int cuEventQuery(void *event)
{
    (void)event;
    return SUCCESS;
}

EXPORT int cuEventSynchronize(void *event)
{
    (void)event;
    return SUCCESS;
}

EXPORT int cuGetProcAddress_v2(const char *name, void **entry, int version, unsigned long flags, int *status)
{
    (void)name;
    (void)version;
    (void)flags;
    *entry = NULL;
    if (status)
        *status = 1; /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
    return NOT_FOUND;
}

EXPORT int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **parameters,
                          void **extra)
{
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;
    (void)shared_bytes, (void)stream, (void)parameters, (void)extra;
    return SUCCESS;
}
