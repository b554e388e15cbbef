#include "relay/executor/device_call.h"

/* The caller of a device's calls while the program has no context on it. */
static struct relay_context nobody[TESSERA_MAX_DEVICES];

CUresult device_caller(CUdevice device, struct relay_context **caller)
{
    struct relay_link *link;
    CUresult result = relay_link_at(device, &link);
    if (result != CUDA_SUCCESS)
        return result;
    struct relay_context *current = relay_current, *primary = relay_primary(link);
    if (current && current->link == link && __atomic_load_n(&current->alive, __ATOMIC_ACQUIRE)) {
        *caller = current;
    } else if (__atomic_load_n(&primary->alive, __ATOMIC_ACQUIRE)) {
        *caller = primary;
    } else {
        __atomic_store_n(&nobody[device].link, link, __ATOMIC_RELEASE);
        *caller = &nobody[device];
    }
    return relay_link_state(link);
}

CUresult device_caller_at(const struct device_location *location, struct device_location *travelling,
                          struct relay_context **caller)
{
    if (!location)
        return CUDA_ERROR_INVALID_VALUE;
    *travelling = *location;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return relay_enter(caller); /* host memory: the executor decides what it supports */
    travelling->id = 0;
    return device_caller(location->id, caller);
}
