#include "direct/turns/gate.h"

#include "driver/clock.h"
#include "direct/turns/devices.h"
#include "direct/turns/pace.h"
#include "session/settings.h"
#include "direct/turns/turns.h"

/* Publishes the count for the manager. For the shared slot it may lag by a submission. */
static void show(struct tessera_thread *slot, uint32_t inside)
{
    __atomic_store_n(&slot->inside, inside, __ATOMIC_RELAXED);
}

static void enter_slot(struct tessera_thread *slot)
{
    uint32_t *inside = thread_inside(slot);
    if (thread_slot_shared(slot))
        __atomic_fetch_add(inside, 1, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(inside, *inside + 1, __ATOMIC_SEQ_CST);
    show(slot, __atomic_load_n(inside, __ATOMIC_RELAXED));
}

static void leave_slot(struct tessera_thread *slot)
{
    uint32_t *inside = thread_inside(slot);
    if (thread_slot_shared(slot))
        __atomic_fetch_sub(inside, 1, __ATOMIC_RELEASE);
    else
        __atomic_store_n(inside, *inside - 1, __ATOMIC_RELEASE);
    show(slot, __atomic_load_n(inside, __ATOMIC_RELAXED));
}

static void count(struct tessera_thread *slot, unsigned kind, unsigned device)
{
    if (thread_slot_shared(slot)) {
        __atomic_fetch_add(&slot->submitted[kind], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&slot->device_submissions[device], 1, __ATOMIC_RELAXED);
        return;
    }
    __atomic_store_n(&slot->submitted[kind], slot->submitted[kind] + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->device_submissions[device], slot->device_submissions[device] + 1, __ATOMIC_RELAXED);
}

struct gate_pass gate_enter_slowly(unsigned kind, uintptr_t stream)
{
    int index = settings()->disabled ? -1 : devices_of_stream(stream);
    if (index < 0)
        return (struct gate_pass){NULL, 0}; /* no tracked device: the driver reports what is wrong */
    struct tessera_thread *slot = thread_slot ? thread_slot : thread_slot_take();
    struct tessera_device *device = &tessera_segment->devices[index];
    if (*thread_inside(slot) == 0 && !__atomic_load_n(&gate_sole, __ATOMIC_RELAXED))
        thread_slot_device(slot, (unsigned)index);
    for (;;) {
        enter_slot(slot);
        uint64_t gate = __atomic_load_n(&device->gate, __ATOMIC_SEQ_CST);
        if (gate != GATE_CLOSED) {
            count(slot, kind, (unsigned)index);
            uintptr_t pace = gate == GATE_PACED ? pace_ticket((unsigned)index, stream) : 0;
            return (struct gate_pass){slot, pace};
        }
        leave_slot(slot);
        if (turns_refuse((unsigned)index))
            return (struct gate_pass){NULL, GATE_REFUSED};
        turns_wait((unsigned)index);
    }
}

void gate_leave_slowly(struct gate_pass pass)
{
    if (!pass.slot)
        return;
    leave_slot(pass.slot);
    if (pass.pace)
        pace_submission(pass.pace);
}

/*
 * Takes the current context's device for that of the stream or event; they differ only in contrived programs. In space
 * sharing there is no context of the driver, and nothing waits for turns.
 */
void sync_note_device(const struct tessera_thread *slot)
{
    if (settings()->space)
        return;
    int device = devices_current();
    if (device >= 0)
        thread_slot_device(slot, (unsigned)device);
}
