/*
 * Synchronisations. They submit nothing and pass no gate, but are marked, so that a waiting client does not count as
 * idle.
 */
#ifndef TESSERA_SYNC_H
#define TESSERA_SYNC_H

#include "direct/pools/captured_memory.h"
#include "driver/driver_types.h"
#include "direct/turns/gate.h"
#include "direct/pools/pools.h"
#include "session/syncing.h"

static inline struct sync_pass sync_enter(void)
{
    if (thread_slot && !__atomic_load_n(&gate_sole, __ATOMIC_RELAXED))
        sync_note_device(thread_slot);
    return syncing_begin();
}

static inline void sync_leave(struct sync_pass pass, CUresult result)
{
    (void)result;
    syncing_end(pass);
    if (__builtin_expect(__atomic_load_n(&pools_surplus, __ATOMIC_RELAXED) != 0 ||
                             __atomic_load_n(&captured_gone, __ATOMIC_RELAXED) != NULL,
                         0)) {
        captured_collect();
        pools_synchronised();
    }
}

#endif
