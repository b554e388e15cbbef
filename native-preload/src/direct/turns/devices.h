/*
 * The contexts of this process and their devices. All contexts are tracked. A context that was created without a call of
 * the library is tracked from when it is first seen as current. A device's slot in the segment is its CUDA ordinal in this
 * process. Any thread may call these functions unless they say otherwise.
 */
#ifndef TESSERA_DEVICES_H
#define TESSERA_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver_types.h"

/* The only device with contexts of this process; NULL: none yet, several, or no membarrier (no fast path). */
extern struct tessera_device *gate_sole;

/*
 * Sets what is called at the first context on each device, under the lock and before the device counts as open. To be
 * set before the first context is opened.
 */
void devices_first(void (*first)(unsigned device));

/* A context on the device was created, or its primary context was retained. Idempotent. */
void devices_context_opened(void *context, CUdevice device);

/*
 * A context may be about to end. Waits while threads of the library use it, bounded by the work in it. After this they
 * wait for devices_context_closed(). Returns its device; -1: it was not tracked, or another thread has ended it.
 */
int devices_context_closing(void *context);

/* After devices_context_closing() of a tracked context: whether it has ended. */
void devices_context_closed(void *context, bool gone);

/* The tracked primary context of the device; NULL: none. */
void *devices_primary(CUdevice device);
void devices_primary_opened(void *context, CUdevice device);

/* The device of work on the stream, or of the current context for default streams; -1: not tracked. */
int devices_of_stream(uintptr_t stream);

/* The device of the calling thread's current context; -1: no context, or a device beyond TESSERA_MAX_DEVICES. */
int devices_current(void);

/* How many devices have had a context in this process. */
unsigned devices_opened_count(void);

/* Whether the device has had a context in this process. */
bool devices_opened(unsigned device);

/*
 * Waits until all contexts of the device are idle. The calling thread's current context stays current. A context that
 * returns an error (it has faulted, or the driver is shutting down) counts as idle.
 */
void devices_synchronise(unsigned device);

/*
 * Pushes a context of the device and keeps it from ending until devices_leave(), which pops it. NULL: the device has
 * none now. Only around calls that end by themselves, because the end of the context waits for them.
 */
void *devices_enter(unsigned device);
/* As devices_enter(), for the contexts after `before`, which was entered earlier; NULL: from the first one on. */
void *devices_enter_after(unsigned device, const void *before);
void devices_leave(void *context);

/* Whether the legacy stream of any context of the device has work that is not complete. */
bool devices_busy(unsigned device);

/* Whether the peer can access memory of the device, by cuDeviceCanAccessPeer. */
bool devices_reach(unsigned device, unsigned peer);

/* Whether two of the devices that the process sees cannot access each other's memory; then plan auto maps no memory. */
bool devices_apart(void);

/* In the child of a fork: there are no contexts. */
void devices_forked(void);

#endif
