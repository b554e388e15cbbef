/*
 * The client's shared segment. There always is one: anonymous until a manager gives its own, and the address never
 * changes, so threads keep pointers into it.
 */
#ifndef TESSERA_SEGMENT_H
#define TESSERA_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera_abi.h"

/* The segment; NULL only before segment_open(). Hidden, read without synchronisation on the fast path. */
extern struct tessera_segment *tessera_segment;

/* Maps the anonymous segment if there is none yet. Any thread; false: no memory. */
bool segment_open(void);

/* The segment, opened if needed. If no memory is left, a static one that is not shared. */
struct tessera_segment *segment_get(void);

/*
 * Puts the manager's segment in the place of the present one, with everything that the client owns copied over.
 * Only with all gates closed and no submission inside. Returns 0, or -errno: the old one then stays.
 */
int segment_adopt(int descriptor, uint64_t bytes);

/* Puts an anonymous copy in the place of the manager's segment, so that a later manager cannot be confused. With all gates closed, as segment_adopt(). */
void segment_detach(void);

/*
 * Brackets a change of a field that is neither atomic nor behind the gate, so that segment_adopt() cannot lose it.
 * Cheap (a read lock); not to be nested; nothing that waits in between.
 */
void segment_change_begin(void);
void segment_change_end(void);

/* In the child of a fork: a fresh anonymous segment, the parent's forgotten. */
void segment_forked(void);

/* Adds to a process-wide counter. Any thread. */
static inline void segment_count(unsigned counter, uint64_t amount)
{
    struct tessera_segment *segment = tessera_segment;
    if (segment)
        __atomic_fetch_add(&segment->counters[counter], amount, __ATOMIC_RELAXED);
}

#endif
