/* The calling thread's slot in the segment (SPEC.md, section 6). */
#ifndef TESSERA_THREADS_H
#define TESSERA_THREADS_H

#include <stdbool.h>

#include "segment.h"

/* The calling thread's own slot; NULL: none taken yet, or the thread shares the last one. */
extern __thread struct tessera_thread *thread_slot __attribute__((tls_model("initial-exec")));

/* Takes a slot for the calling thread. The result may be the shared slot. */
struct tessera_thread *thread_slot_take(void);

/* The slot that threads share when all others are taken; its fields are changed with atomic additions. */
static inline bool thread_slot_shared(const struct tessera_thread *slot)
{
    return slot == &tessera_segment->threads[TESSERA_MAX_THREADS - 1];
}

/* Whether a submission of any thread is inside the driver for the device, or a synchronisation waits. */
bool threads_inside(void);
bool threads_syncing(void);

/* Submissions to the device so far, over all threads. */
uint64_t threads_submissions(unsigned device);

/* In the child of a fork: the calling thread has no slot any more. */
void threads_forked(void);

#endif
