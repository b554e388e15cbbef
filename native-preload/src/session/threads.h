/* The calling thread's slot in the segment (SPEC.md, section 6). */
#ifndef TESSERA_THREADS_H
#define TESSERA_THREADS_H

#include <stdbool.h>

#include "session/segment.h"

/* The calling thread's own slot; NULL: none taken yet, or the thread shares the last one. */
extern __thread struct tessera_thread *thread_slot __attribute__((tls_model("initial-exec")));

/* Takes a slot for the calling thread. The result may be the shared slot. */
struct tessera_thread *thread_slot_take(void);

/* The slot that threads share when all others are taken; its fields are changed with atomic additions. */
static inline bool thread_slot_shared(const struct tessera_thread *slot)
{
    return slot == &tessera_segment->threads[TESSERA_MAX_THREADS - 1];
}

/*
 * How many submissions of a slot's thread are inside the driver. This count is not in the segment, because the segment is
 * replaced while threads run: a change between the copy and the exchange would be lost, and the thread would count as inside
 * for ever. The slot's own field shows the count to the manager.
 */
struct thread_depth {
    _Alignas(64) uint32_t inside; /* each thread writes a cache line of its own */
};
extern struct thread_depth thread_depths[TESSERA_MAX_THREADS];

static inline uint32_t *thread_inside(const struct tessera_thread *slot)
{
    return &thread_depths[slot - tessera_segment->threads].inside;
}

/*
 * The device that the thread of a slot submits to or synchronises, plus one; 0: not known, counts for every device.
 * Written only in processes that use several devices, where every submission takes the slow path.
 */
extern uint8_t thread_device[TESSERA_MAX_THREADS];

static inline void thread_slot_device(const struct tessera_thread *slot, unsigned device)
{
    if (!thread_slot_shared(slot))
        __atomic_store_n(&thread_device[slot - tessera_segment->threads], (uint8_t)(device + 1), __ATOMIC_RELAXED);
}

/* Whether a submission of any thread is inside the driver: for the device, or at all. */
bool threads_inside(unsigned device);
bool threads_inside_any(void);

/* Whether a thread waits for the device in a synchronisation. */
bool threads_syncing(unsigned device);

/* Submissions to the device so far, over all threads. */
uint64_t threads_submissions(unsigned device);

/* In the child of a fork: the calling thread has no slot any more. */
void threads_forked(void);

#endif
