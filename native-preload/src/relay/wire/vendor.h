/*
 * The vendor's driver beside the relay. It does no work; it answers what only it knows: its export tables, which entry an
 * old or new name means, and in which order the program sees the devices. It never gets a context.
 */
#ifndef TESSERA_RELAY_VENDOR_H
#define TESSERA_RELAY_VENDOR_H

#include <stdbool.h>

#include "driver/driver_types.h"

/* Finds and initialises it. At cuInit; idempotent. */
void vendor_start(void);

/* Whether there is a driver that sees at least one device. Before vendor_start(): whether its library is there at all. */
bool vendor_present(void);

/* Its devices in the program's order: UUIDs of 16 bytes. The number; 0 without a vendor's driver. */
unsigned vendor_devices(unsigned char (*uuids)[16], unsigned room);

/* The handle that the vendor's runtime will take for the device's primary context; NULL: not available. */
void *vendor_primary(int device);

/* One of its export tables; NULL: it does not have that table. */
const void *vendor_table(const unsigned char *id);

#endif
