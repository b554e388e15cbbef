/* Synchronisations: not gated, since they submit nothing, but marked, so that a waiting client is not taken for idle. */
#ifndef TESSERA_SYNC_H
#define TESSERA_SYNC_H

#include <stddef.h>
#include <stdint.h>

#include "direct/pools/captured_memory.h"
#include "driver/clock.h"
#include "driver/driver_types.h"
#include "direct/turns/gate.h"
#include "direct/pools/pools.h"
#include "session/segment.h"
#include "session/threads.h"

struct sync_pass {
    struct tessera_thread *slot;
    uint64_t from_ns;
};

/* In a process with several devices: which one the calling thread waits for. */
void sync_note_device(const struct tessera_thread *slot);

static inline struct sync_pass sync_enter(void)
{
    struct tessera_thread *slot = thread_slot; /* a thread that never submitted, or shares a slot, goes unmarked */
    if (slot && !__atomic_load_n(&gate_sole, __ATOMIC_RELAXED))
        sync_note_device(slot);
    if (slot)
        __atomic_store_n(&slot->syncing, 1, __ATOMIC_RELAXED);
    return (struct sync_pass){slot, monotonic_ns()};
}

static inline void sync_leave(struct sync_pass pass, CUresult result)
{
    (void)result;
    if (pass.slot)
        __atomic_store_n(&pass.slot->syncing, 0, __ATOMIC_RELAXED);
    segment_count(TESSERA_COUNTER_SYNCHRONISATIONS, 1);
    segment_count(TESSERA_COUNTER_SYNCHRONISE_NS, monotonic_ns() - pass.from_ns);
    if (__builtin_expect(__atomic_load_n(&pools_surplus, __ATOMIC_RELAXED) != 0 ||
                             __atomic_load_n(&captured_gone, __ATOMIC_RELAXED) != NULL, 0)) {
        captured_collect();
        pools_synchronised();
    }
}

#endif
