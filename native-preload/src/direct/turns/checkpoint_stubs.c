#include "direct/turns/checkpoint_stubs.h"

#include <stdint.h>
#include <unistd.h>

#include "direct/turns/devices.h"
#include "session/manager.h"
#include "session/segment.h"
#include "tessera_entries.h"
#include "session/threads.h"

/* Of checkpoint_stubs.S: thunks, 16 bytes apart. */
#define THUNKS 1024
#define THUNK_BYTES 16
extern char tessera_checkpoint_stubs[];
_Static_assert(TESSERA_ENTRY_COUNT <= THUNKS, "one thunk an entry");

#define LOOK_US 500 /* short beside what bringing a process back takes: tenths of a second */

static void *target[TESSERA_ENTRY_COUNT]; /* written before a thunk that reads it is in place */
static bool in_place;                     /* of the manager client's thread */

static void *thunk(unsigned index)
{
    return tessera_checkpoint_stubs + (size_t)index * THUNK_BYTES;
}

/* The device whose flags say that the process is away; -1: it is not, or its manager is gone. */
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

/* The shared slot is left alone: a thread at the gate, or a restore by hand, ends this too. */
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

/* Any thread of the host. */
void *tessera_checkpoint_wait(uintptr_t index)
{
    checkpoint_wait();
    return __atomic_load_n(&target[index], __ATOMIC_ACQUIRE);
}

/* What a resolving stub of driver.c puts into the table meanwhile goes past the thunk, as if it had come before. */
static void exchange(unsigned index, void *from, void *to)
{
    __atomic_compare_exchange_n(&tessera_port[index], &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void checkpoint_stubs_update(void)
{
    bool wanted = away() >= 0;
    if (wanted == in_place)
        return;
    in_place = wanted;
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++) {
        if (wanted)
            __atomic_store_n(&target[i], __atomic_load_n(&tessera_port[i], __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
        exchange(i, wanted ? target[i] : thunk(i), wanted ? thunk(i) : target[i]);
    }
}

void checkpoint_stubs_forked(void)
{
    for (unsigned i = 0; in_place && i < TESSERA_ENTRY_COUNT; i++)
        exchange(i, thunk(i), target[i]);
    in_place = false;
}
