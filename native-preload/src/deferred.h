/*
 * Frees during a stream capture: waiting for the device would destroy the capture (capture.h), and without waiting the
 * memory must not be used again. They are done as soon as no capture is open.
 */
#ifndef TESSERA_DEFERRED_H
#define TESSERA_DEFERRED_H

#include <stdbool.h>

#include "driver_types.h"

/* Keeps an allocation of plan swap to be freed later. False: too many are kept already. Any thread. */
bool deferred_add(unsigned device, CUdeviceptr pointer);

/* Frees what is kept, after the device's work, unless a capture is open. Any thread, without the lock. */
void deferred_flush(unsigned device);

/* In the child of a fork. */
void deferred_forked(void);

#endif
