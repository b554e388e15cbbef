/*
 * The contexts of this process, and which device each is on. All contexts and devices are tracked; a slot of the
 * segment is a device's CUDA ordinal in this process.
 */
#ifndef TESSERA_DEVICES_H
#define TESSERA_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver_types.h"

/* The only device on which the process has opened contexts; NULL: none yet, several, or the fast path is off. */
extern struct tessera_device *gate_sole;

/*
 * What is done at the first context on each device, with the lock and before anybody finds the device open: it is governed from
 * then on. Before the first context is opened.
 */
void devices_first(void (*first)(unsigned device));

/* A context came to life on the device (created, or its primary context retained). Any thread; idempotent. */
void devices_context_opened(void *context, CUdevice device);

/*
 * A context may be about to end. Waits, bounded by the work in it, while a drain synchronises it; afterwards drains
 * wait until devices_context_closed() says how it ended. Returns its device, or -1 if it was not tracked.
 */
int devices_context_closing(void *context);

/* After devices_context_closing() of a tracked context: it is gone, or it lives on. */
void devices_context_closed(void *context, bool gone);

/* The primary context of the device, if it was opened; NULL otherwise. */
void *devices_primary(CUdevice device);
void devices_primary_opened(void *context, CUdevice device);

/* The device that work on the stream runs on, with the calling thread's current context; -1: none of ours. */
int devices_of_stream(uintptr_t stream);

/* The device of the calling thread's current context; -1: none, or beyond the slots. */
int devices_current(void);

/* How many devices have had a context in this process. */
unsigned devices_opened_count(void);

/* Whether the device has had a context in this process. */
bool devices_opened(unsigned device);

/*
 * Waits until all contexts of the device are idle. The calling thread must have no current context that it needs.
 * A context that answers with an error (it faulted, or the driver is shutting down) has no work left.
 */
void devices_synchronise(unsigned device);

/*
 * Makes a context of the device current for the calling thread, and keeps it from ending until devices_leave(), which
 * takes it away again. NULL: the device has none now. For threads of our own, around calls that end by themselves.
 */
void *devices_enter(unsigned device);
void devices_leave(void *context);

/* Whether the legacy stream of one of the device's contexts has unfinished work. */
bool devices_busy(unsigned device);

/* Whether the device can reach memory of the peer, as the driver says. */
bool devices_reach(unsigned device, unsigned peer);

/* Whether some of the devices that the process sees cannot reach each other's memory: then none must ever be mapped. */
bool devices_apart(void);

/* In the child of a fork: no contexts. */
void devices_forked(void);

#endif
