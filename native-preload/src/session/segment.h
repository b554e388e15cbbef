/*
 * The client's shared segment. Until a manager provides one, it is anonymous memory. Its address never changes, so threads
 * may keep pointers into it.
 */
#ifndef TESSERA_SEGMENT_H
#define TESSERA_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera_abi.h"

/* The segment; NULL only before segment_open(). The fast path reads it without synchronisation. */
extern struct tessera_segment *tessera_segment;

/* Maps the anonymous segment if there is none yet. Any thread; false: no memory. */
bool segment_open(void);

/* The segment, which is opened if needed; a static one if no memory is left. Never NULL. Any thread. */
struct tessera_segment *segment_get(void);

/*
 * Replaces the present segment by the manager's, after copying the fields that the client owns. Only with all gates closed
 * and no submission inside the driver. Returns 0, or -errno: then the old segment stays. The caller keeps the descriptor.
 */
int segment_adopt(int descriptor, uint64_t bytes);

/*
 * Replaces the manager's segment by an anonymous copy, so that this client no longer changes the manager's file, which the
 * next manager may read. With all gates closed, as segment_adopt().
 */
void segment_detach(void);

/*
 * Brackets a change of a field that is not atomic and not protected by the gate, so that segment_adopt() cannot lose it. This
 * is a read lock: it must not be nested, and the code inside must not wait. Any thread.
 */
void segment_change_begin(void);
void segment_change_end(void);

/* In the child of a fork: a new anonymous segment. */
void segment_forked(void);

/* Adds to a process-wide counter. Any thread. */
static inline void segment_count(unsigned counter, uint64_t amount)
{
    struct tessera_segment *segment = tessera_segment;
    if (segment)
        __atomic_fetch_add(&segment->counters[counter], amount, __ATOMIC_RELAXED);
}

#endif
