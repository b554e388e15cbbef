/*
 * The gate that every submission passes: a launch, copy, memset, host function, or stream memory operation.
 *
 * Fast path, with the gate open: increments in the thread's own slot, and a load of the gate's word; no locked
 * instruction, no fence and no system call. The drain (drain.c) is ordered against it by membarrier(2): after it has
 * closed the gate and issued the barrier, either it sees a thread inside, or that thread sees the closed gate.
 */
#ifndef TESSERA_GATE_H
#define TESSERA_GATE_H

#include <stddef.h>
#include <stdint.h>

#include "direct/turns/devices.h"
#include "driver/driver_types.h"
#include "session/threads.h"

/* Values of tessera_device.gate. */
enum {
    GATE_CLOSED = 0,
    GATE_OPEN = 1,
    GATE_PACED = 3, /* open, with a bound on outstanding work (pace.c) */
};

struct gate_pass {
    struct tessera_thread *slot; /* NULL: gate_leave() has nothing to do */
    uintptr_t pace;              /* 0; the ticket of pace.h for a submission that is paced; or GATE_REFUSED */
};

/* The submission must fail with OUT_OF_MEMORY: its memory did not become resident in time (plan swap). */
#define GATE_REFUSED UINTPTR_MAX

/* Costs nothing on the fast path, where the compiler knows pass.pace. */
static inline int gate_refused(struct gate_pass pass)
{
    return pass.pace == GATE_REFUSED;
}

/* Slow paths of gate_enter() and gate_leave(): no slot, several devices, or a gate that is not GATE_OPEN. */
struct gate_pass gate_enter_slowly(unsigned kind, uintptr_t stream);
void gate_leave_slowly(struct gate_pass pass);

/* In a process with several devices: records for which one the calling thread, the slot's owner, waits. */
void sync_note_device(const struct tessera_thread *slot);

/* The stream that a handle names; NULL names the entry's default stream. */
static inline uintptr_t gate_stream(const void *handle, uintptr_t otherwise)
{
    return handle ? (uintptr_t)handle : otherwise;
}

static inline void *launch_config_stream(const void *config)
{
    return config ? ((const struct driver_launch_config *)config)->stream : NULL;
}

/* Waits until the calling thread may submit, or no manager answers any more. The caller tests gate_refused(). */
static inline struct gate_pass gate_enter(unsigned kind, uintptr_t stream)
{
    struct tessera_thread *slot = thread_slot;
    struct tessera_device *device = __atomic_load_n(&gate_sole, __ATOMIC_RELAXED);
    if (__builtin_expect(slot == NULL || device == NULL, 0))
        return gate_enter_slowly(kind, stream);
    uint32_t *inside = thread_inside(slot), outside = *inside;
    __atomic_store_n(inside, outside + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* orders the compiler; membarrier(2) orders the processor */
    if (__builtin_expect(__atomic_load_n(&device->gate, __ATOMIC_RELAXED) != GATE_OPEN, 0)) {
        __atomic_store_n(inside, outside, __ATOMIC_RELEASE);
        return gate_enter_slowly(kind, stream);
    }
    __atomic_store_n(&slot->inside, outside + 1, __ATOMIC_RELAXED);
    size_t index = (size_t)(device - tessera_segment->devices);
    __atomic_store_n(&slot->submitted[kind], slot->submitted[kind] + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->device_submissions[index], slot->device_submissions[index] + 1, __ATOMIC_RELAXED);
    return (struct gate_pass){slot, 0};
}

/* The submission has returned from the driver; its result does not matter. */
static inline void gate_leave(struct gate_pass pass, CUresult result)
{
    (void)result;
    if (__builtin_expect(pass.pace != 0 || pass.slot != thread_slot, 0)) {
        gate_leave_slowly(pass);
        return;
    }
    if (pass.slot) {
        uint32_t *inside = thread_inside(pass.slot);
        __atomic_store_n(&pass.slot->inside, *inside - 1, __ATOMIC_RELAXED);
        __atomic_store_n(inside, *inside - 1, __ATOMIC_RELEASE);
    }
}

#endif
