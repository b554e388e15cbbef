/* Calls that name a device and no context. Include relay.h first. */
#ifndef TESSERA_RELAY_DEVICE_CALL_H
#define TESSERA_RELAY_DEVICE_CALL_H

#include "relay/wire/relay.h"

/*
 * Finds the context in which a call about the device is made: the current one if it is on that device, else the primary
 * one, else one without a number. The device itself is sent as 0, since an executor has only one.
 */
CUresult device_caller(CUdevice device, struct relay_context **caller);

/* As device_caller(), for a CUmemLocation, whose copy for the executor is written to `travelling`. */
struct device_location {
    int type, id;
};
CUresult device_caller_at(const struct device_location *location, struct device_location *travelling,
                          struct relay_context **caller);

#endif
