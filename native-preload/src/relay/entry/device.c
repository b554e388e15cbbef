/* Devices: answered from the snapshot in the segment, without a message. */
#include <stdio.h>
#include <string.h>

#include "relay/entry/device_attributes.h"
#include "relay/wire/unsupported.h"
#include "relay/wire/relay.h"
#include "relay/wire/vendor.h"
#include "relay_stubs.h"

/* The version of cuda.h from which our description was read: the answer if there is no vendor's driver. */
#define DESCRIBED_VERSION 13000

/* Begins an entry about a device: its link and what is known of it; `valid` says whether the arguments can be used. */
#define ENTER_DEVICE(number, valid)                                                                                    \
    struct relay_link *link = NULL;                                                                                    \
    CUresult entered = relay_link_at(number, &link);                                                                   \
    if (entered != CUDA_SUCCESS)                                                                                       \
        return entered;                                                                                                \
    if (!(valid))                                                                                                      \
        return CUDA_ERROR_INVALID_VALUE;                                                                               \
    const struct tessera_relay_device *known = &link->segment->device;                                                 \
    (void)known

CUresult relay_cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    if (vendor_present())
        return REAL(cuDriverGetVersion)(version);
    *version = DESCRIBED_VERSION;
    return CUDA_SUCCESS;
}

CUresult relay_cuDeviceGetCount(int *count)
{
    CUresult started = relay_started();
    if (started != CUDA_SUCCESS)
        return started;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = (int)relay_link_count;
    return CUDA_SUCCESS;
}

CUresult relay_cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER_DEVICE(ordinal, device != NULL);
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult relay_cuDeviceGetName(char *name, int length, CUdevice device)
{
    ENTER_DEVICE(device, name && length > 0);
    snprintf(name, (size_t)length, "%.*s", (int)sizeof known->name, known->name);
    return CUDA_SUCCESS;
}

CUresult relay_cuDeviceGetUuid(void *uuid, CUdevice device)
{
    ENTER_DEVICE(device, uuid != NULL);
    memcpy(uuid, known->uuid, sizeof known->uuid);
    return CUDA_SUCCESS;
}

CUresult relay_cuDeviceGetUuid_v2(void *uuid, CUdevice device)
{
    return relay_cuDeviceGetUuid(uuid, device);
}

CUresult relay_cuDeviceGetLuid(char *luid, unsigned *node_mask, CUdevice device)
{
    ENTER_DEVICE(device, luid && node_mask);
    if (!known->has_luid)
        return CUDA_ERROR_NOT_SUPPORTED;
    memcpy(luid, known->luid, sizeof known->luid);
    *node_mask = known->node_mask;
    return CUDA_SUCCESS;
}

CUresult relay_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    ENTER_DEVICE(device, bytes != NULL);
    *bytes = known->total_bytes;
    return CUDA_SUCCESS;
}

CUresult relay_cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    ENTER_DEVICE(device, value != NULL);
    return device_attribute(link, attribute, value);
}

CUresult relay_cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    ENTER_DEVICE(device, major && minor);
    CUresult result = device_attribute(link, 75, major); /* COMPUTE_CAPABILITY_MAJOR, _MINOR */
    return result != CUDA_SUCCESS ? result : device_attribute(link, 76, minor);
}

CUresult relay_cuDeviceGetPCIBusId(char *id, int length, CUdevice device)
{
    ENTER_DEVICE(device, id && length > 0);
    if (snprintf(id, (size_t)length, "%.*s", (int)sizeof known->pci_bus_id, known->pci_bus_id) >= length)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Reads domain, bus and device, with any number of digits. The domain may be missing: then it is 0. */
static bool read_bus_id(const char *text, unsigned *domain, unsigned *bus, unsigned *slot)
{
    *domain = 0;
    return sscanf(text, "%x:%x:%x", domain, bus, slot) == 3 || sscanf(text, "%x:%x", bus, slot) == 2;
}

CUresult relay_cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    unsigned wanted[3], has[3];
    CUresult started = relay_started();
    if (started != CUDA_SUCCESS)
        return started;
    if (!device || !id || !read_bus_id(id, &wanted[0], &wanted[1], &wanted[2]))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < relay_link_count; i++) {
        if (read_bus_id(relay_links[i].segment->device.pci_bus_id, &has[0], &has[1], &has[2]) &&
            memcmp(wanted, has, sizeof has) == 0) {
            *device = (CUdevice)i;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

/* CUdevprop: fourteen numbers that are attributes too, in this order. */
CUresult relay_cuDeviceGetProperties(void *properties, CUdevice device)
{
    static const uint8_t attributes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    ENTER_DEVICE(device, properties != NULL);
    int *values = properties;
    for (unsigned i = 0; i < sizeof attributes; i++) {
        CUresult result = device_attribute(link, attributes[i], &values[i]);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

/* Executors do not reach into each other's devices. */
CUresult relay_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    ENTER_DEVICE(device, can != NULL);
    if (peer < 0 || (unsigned)peer >= relay_link_count)
        return CUDA_ERROR_INVALID_DEVICE;
    *can = 0;
    return CUDA_SUCCESS;
}

CUresult relay_cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice device, CUdevice peer)
{
    ENTER_DEVICE(device, value != NULL);
    if (attribute < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        attribute > CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
        return CUDA_ERROR_INVALID_VALUE;
    if (peer < 0 || (unsigned)peer >= relay_link_count || peer == device)
        return CUDA_ERROR_INVALID_DEVICE;
    *value = 0;
    return CUDA_SUCCESS;
}

CUresult relay_cuDeviceGetP2PAtomicCapabilities(unsigned *capabilities, const int *operations, unsigned count,
                                                CUdevice device, CUdevice peer)
{
    ENTER_DEVICE(device, capabilities && operations && count > 0);
    if (peer < 0 || (unsigned)peer >= relay_link_count)
        return CUDA_ERROR_INVALID_DEVICE;
    memset(capabilities, 0, count * sizeof *capabilities); /* there is no peer access, so no atomics over it */
    return CUDA_SUCCESS;
}

CUresult relay_cuDeviceGetHostAtomicCapabilities(unsigned *capabilities, const int *operations, unsigned count,
                                                 CUdevice device)
{
    ENTER_DEVICE(device, capabilities && operations && count > 0);
    return relay_unsupported_query("cuDeviceGetHostAtomicCapabilities", "the executor was not asked for it");
}

/* Partitions of multiprocessors need a context of the program's own. */
CUresult relay_cuDeviceGetExecAffinitySupport(int *supported, int type, CUdevice device)
{
    (void)type;
    ENTER_DEVICE(device, supported != NULL);
    *supported = 0;
    return CUDA_SUCCESS;
}
