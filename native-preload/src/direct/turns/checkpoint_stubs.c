#include "direct/turns/checkpoint_stubs.h"

#include <stdint.h>
#include <unistd.h>

#include "direct/turns/devices.h"
#include "session/manager.h"
#include "session/segment.h"
#include "tessera_entries.h"
#include "session/threads.h"

/* As in checkpoint_stubs.S: the number of thunks, which are 16 bytes apart. */
#define THUNKS 1024
#define THUNK_BYTES 16
extern char tessera_checkpoint_stubs[];
_Static_assert(TESSERA_ENTRY_COUNT <= THUNKS, "one thunk an entry");

#define LOOK_US 500 /* short beside the time to restore a process: tenths of a second */

static void *target[TESSERA_ENTRY_COUNT]; /* the entries; written before the thunk that reads it is put in place */
static bool in_place;                     /* written by the manager client's thread alone; atomic */

static void *thunk(unsigned index)
{
    return tessera_checkpoint_stubs + (size_t)index * THUNK_BYTES;
}

/* The device whose flags say that the process is suspended; -1: none, or the manager is gone. */
static int away(void)
{
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++)
        if (devices_opened(i) &&
            __atomic_load_n(&tessera_segment->residency[i].flags, __ATOMIC_SEQ_CST) & TESSERA_RESIDENCY_CHECKPOINTED)
            return (int)i;
    return -1;
}

bool checkpointed_now(void)
{
    return away() >= 0;
}

/* Does not mark a shared slot: then another thread at the gate, or `tessera restore`, ends the wait. */
void checkpoint_wait(void)
{
    struct tessera_thread *slot = thread_slot ? thread_slot : thread_slot_take();
    int device = away();
    if (device >= 0 && !thread_slot_shared(slot))
        __atomic_store_n(&slot->syncing, 1, __ATOMIC_SEQ_CST);
    if (device >= 0)
        manager_ring((unsigned)device);
    while (away() >= 0)
        usleep(LOOK_US);
    if (device >= 0 && !thread_slot_shared(slot))
        __atomic_store_n(&slot->syncing, 0, __ATOMIC_RELEASE);
}

void *tessera_checkpoint_wait(uintptr_t index);

/* Called by the thunks, on any thread of the program. */
void *tessera_checkpoint_wait(uintptr_t index)
{
    checkpoint_wait();
    return __atomic_load_n(&target[index], __ATOMIC_ACQUIRE);
}

/*
 * Compare and exchange, so that an entry which a lazy stub (driver.c) stores meanwhile is not overwritten. Its calls then
 * bypass the thunk.
 */
static void exchange(unsigned index, void *from, void *to)
{
    __atomic_compare_exchange_n(&tessera_port[index], &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void checkpoint_stubs_update(void)
{
    bool wanted = away() >= 0;
    if (wanted == checkpoint_stubs_in_place())
        return;
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++) {
        if (wanted)
            __atomic_store_n(&target[i], __atomic_load_n(&tessera_port[i], __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
        exchange(i, wanted ? target[i] : thunk(i), wanted ? thunk(i) : target[i]);
    }
    __atomic_store_n(&in_place, wanted, __ATOMIC_SEQ_CST);
}

bool checkpoint_stubs_in_place(void)
{
    return __atomic_load_n(&in_place, __ATOMIC_SEQ_CST);
}

void checkpoint_stubs_forked(void)
{
    for (unsigned i = 0; in_place && i < TESSERA_ENTRY_COUNT; i++)
        exchange(i, thunk(i), target[i]);
    in_place = false;
}
