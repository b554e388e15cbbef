/* Marks and counts a wait for the device, so that a waiting client does not count as idle. Used by synchronisations of both ports. */
#ifndef TESSERA_SYNCING_H
#define TESSERA_SYNCING_H

#include <stddef.h>
#include <stdint.h>

#include "driver/clock.h"
#include "session/segment.h"
#include "session/threads.h"

struct sync_pass {
    struct tessera_thread *slot; /* NULL: not marked, because the thread never submitted or shares a slot */
    uint64_t from_ns;
};

static inline struct sync_pass syncing_begin(void)
{
    struct tessera_thread *slot = thread_slot;
    if (slot)
        __atomic_store_n(&slot->syncing, 1, __ATOMIC_RELAXED);
    return (struct sync_pass){slot, monotonic_ns()};
}

static inline void syncing_end(struct sync_pass pass)
{
    if (pass.slot)
        __atomic_store_n(&pass.slot->syncing, 0, __ATOMIC_RELAXED);
    segment_count(TESSERA_COUNTER_SYNCHRONISATIONS, 1);
    segment_count(TESSERA_COUNTER_SYNCHRONISE_NS, monotonic_ns() - pass.from_ns);
}

#endif
