/* cuInit and what the driver answers about itself and its devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "entry.h"
#include "memory/memory.h"
#include "script/witness.h"

struct device devices[SCRIPT_MAX_DEVICES];
bool driver_initialised;
uint64_t driver_ids;

bool device_valid(CUdevice device)
{
    return device >= 0 && device < script.devices;
}

static void make_devices(void)
{
    for (int i = 0; i < script.devices; i++) {
        struct device *d = &devices[i];
        int gpu = script.gpu[i];
        d->total_bytes = script.memory_bytes[gpu];
        snprintf(d->name, sizeof d->name, "Scripted GPU %d", gpu);
        /* Fixed, so that every process of a test sees the same devices. */
        memcpy(d->uuid.bytes, "\x5c\x21\x97\xed\x10\x00\x40\x00\x80\x00\x00\x00\x00\x00\x00\x00", 16);
        d->uuid.bytes[15] = (unsigned char)gpu;
    }
}

EXPORT CUresult cuInit(unsigned flags)
{
    ENTER_EARLY(cuInit);
    if (flags != 0)
        return ERROR_INVALID_VALUE;
    if (script.devices == 0)
        return ERROR_NO_DEVICE;
    LOCKED;
    if (!driver_initialised) {
        make_devices();
        __atomic_store_n(&driver_initialised, true, __ATOMIC_RELEASE);
    }
    return OK;
}

EXPORT CUresult cuDriverGetVersion(int *version)
{
    ENTER_EARLY(cuDriverGetVersion);
    if (!version)
        return ERROR_INVALID_VALUE;
    *version = script.version;
    return OK;
}

EXPORT CUresult cuDeviceGetCount(int *count)
{
    ENTER(cuDeviceGetCount);
    if (!count)
        return ERROR_INVALID_VALUE;
    *count = script.devices;
    return OK;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER(cuDeviceGet);
    if (!device || !device_valid(ordinal))
        return device ? ERROR_INVALID_DEVICE : ERROR_INVALID_VALUE;
    *device = ordinal;
    return OK;
}

EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    ENTER(cuDeviceGetName);
    if (!name || size <= 0)
        return ERROR_INVALID_VALUE;
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)size, "%s", devices[device].name);
    return OK;
}

static CUresult uuid(CUuuid *out, CUdevice device)
{
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    *out = devices[device].uuid;
    return OK;
}

EXPORT CUresult cuDeviceGetUuid(CUuuid *out, CUdevice device)
{
    ENTER(cuDeviceGetUuid);
    return uuid(out, device);
}

EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *out, CUdevice device)
{
    ENTER(cuDeviceGetUuid_v2);
    return uuid(out, device);
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    ENTER(cuDeviceTotalMem_v2);
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    *bytes = devices[device].total_bytes;
    return OK;
}

EXPORT CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    ENTER(cuMemGetInfo_v2);
    LOCKED;
    struct context *c;
    CUresult error = context_current(&c);
    if (error)
        return error;
    uint64_t used = witness_used(c->device) + script.taken_bytes, total = devices[c->device].total_bytes;
    if (free_bytes)
        *free_bytes = used < total ? total - used : 0;
    if (total_bytes)
        *total_bytes = total;
    return OK;
}

/* Attributes by number, as of a compute capability 9.0 device; those not listed are 0. */
static int attribute_value(int attribute, CUdevice device)
{
    switch (attribute) {
    case ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case ATTRIBUTE_MAX_BLOCK_DIM_X:
    case ATTRIBUTE_MAX_BLOCK_DIM_Y:
        return 1024;
    case ATTRIBUTE_MAX_BLOCK_DIM_Z:
        return 64;
    case ATTRIBUTE_MAX_GRID_DIM_X:
        return 2147483647;
    case ATTRIBUTE_MAX_GRID_DIM_Y:
    case ATTRIBUTE_MAX_GRID_DIM_Z:
        return 65535;
    case ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        return 49152;
    case ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
        return 65536;
    case ATTRIBUTE_WARP_SIZE:
        return 32;
    case ATTRIBUTE_MAX_PITCH:
        return 2147483647;
    case ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
        return 65536;
    case ATTRIBUTE_CLOCK_RATE:
        return 1000000;
    case ATTRIBUTE_TEXTURE_ALIGNMENT:
        return 512;
    case ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return 4;
    case ATTRIBUTE_PCI_BUS_ID:
        return script.gpu[device] + 1;
    case ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        return 2048;
    case ATTRIBUTE_ASYNC_ENGINE_COUNT:
        return 2;
    case ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return 9;
    case ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    case ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return 232448;
    case ATTRIBUTE_GPU_OVERLAP:
    case ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case ATTRIBUTE_CONCURRENT_KERNELS:
    case ATTRIBUTE_UNIFIED_ADDRESSING:
    case ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case ATTRIBUTE_MANAGED_MEMORY:
    case ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:
    case ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:
    case ATTRIBUTE_COOPERATIVE_LAUNCH:
    case ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
        return 1;
    default:
        return 0;
    }
}

EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    ENTER(cuDeviceGetAttribute);
    if (!value || attribute <= 0)
        return ERROR_INVALID_VALUE;
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    *value = attribute_value(attribute, device);
    return OK;
}

EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    ENTER(cuDeviceComputeCapability);
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    *major = 9;
    *minor = 0;
    return OK;
}

EXPORT CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    ENTER(cuDeviceGetPCIBusId);
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    if (size < 13)
        return ERROR_INVALID_VALUE;
    snprintf(id, (size_t)size, "0000:%02X:00.0", script.gpu[device] + 1);
    return OK;
}

EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    ENTER(cuDeviceGetByPCIBusId);
    unsigned domain, bus;
    if (!device || !id || sscanf(id, "%x:%x", &domain, &bus) != 2 || domain != 0)
        return ERROR_INVALID_VALUE;
    for (int i = 0; i < script.devices; i++)
        if (script.gpu[i] == (int)bus - 1) {
            *device = i;
            return OK;
        }
    return ERROR_INVALID_VALUE;
}

EXPORT CUresult cuModuleGetLoadingMode(int *mode)
{
    ENTER(cuModuleGetLoadingMode);
    *mode = 2; /* lazy */
    return OK;
}

static CUresult graph_attribute(CUdevice device, int attribute, uint64_t *value, bool set)
{
    LOCKED;
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    struct device *d = &devices[device];
    if (attribute < 0 || attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH || !value ||
        (set && (attribute % 2 == 0 || *value != 0)))
        return ERROR_INVALID_VALUE;
    if (set)
        d->graph_bytes_high = d->graph_bytes;
    else
        *value = attribute % 2 ? d->graph_bytes_high : d->graph_bytes; /* what is used is what is reserved */
    return OK;
}

EXPORT CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, uint64_t *value)
{
    ENTER(cuDeviceGetGraphMemAttribute);
    return graph_attribute(device, attribute, value, false);
}

EXPORT CUresult cuDeviceSetGraphMemAttribute(CUdevice device, int attribute, uint64_t *value)
{
    ENTER(cuDeviceSetGraphMemAttribute);
    return graph_attribute(device, attribute, value, true);
}

EXPORT CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    ENTER(cuDeviceGraphMemTrim);
    return device_valid(device) ? OK : ERROR_INVALID_DEVICE;
}
