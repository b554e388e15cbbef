/* Device attributes. Include relay.h first. */
#ifndef TESSERA_RELAY_DEVICE_ATTRIBUTES_H
#define TESSERA_RELAY_DEVICE_ATTRIBUTES_H

#include "relay/wire/relay.h"

/* Reads an attribute. INVALID_VALUE: the executor's driver does not know it. */
CUresult device_attribute(const struct relay_link *link, int attribute, int *value);

#endif
