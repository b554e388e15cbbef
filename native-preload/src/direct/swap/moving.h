/*
 * The state of moves in progress, shared by the files that carry them out: swap_pipeline.c drives them; chunk_leaving.c and
 * chunk_coming.c implement their steps. Turns thread of the device only, unless a comment says otherwise.
 */
#ifndef TESSERA_MOVING_H
#define TESSERA_MOVING_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/chunks.h"
#include "direct/swap/chunk_copier.h"
#include "direct/content/content_look.h"
#include "direct/swap/mapping_threads.h"
#include "driver/driver_types.h"

#define MOVING_RETRY_NS 100000000ULL /* after a copy or a mapping that failed */
#define MOVING_COPIED_BYTES                                                                                            \
    (512u << 20) /* copies under way, 10 ms of bus time: two of the largest chunks, so that the bus never idles */
#define MOVING_PLACES (LOOKS + 3 * COPIER_DEPTH) /* COPIER_DEPTH small chunks each before, in and after their copies */

/* How far a move is. LOOKED: the chunk was examined, or cannot be, and waits for its copy. */
enum stage {
    PLACE_FREE,
    PLACE_LOOKING,
    PLACE_LOOKED,
    PLACE_FILLING,
    PLACE_FILLED,
    PLACE_COPYING,
    PLACE_EMPTYING,
};

struct place {
    struct page_change change; /* its `chunk` is the place's chunk */
    enum stage stage;
    unit_mask parts; /* LOOKED and COPYING, of a chunk with a record: the parts that are copied */
    uint64_t copied; /* bytes copied by the move */
    bool feeds;      /* FILLING and FILLED: contents will be copied */
};

/* The state of one device. */
struct moving {
    struct place places[MOVING_PLACES];
    unsigned used, copying, looking;
    uint64_t ahead;   /* bytes of places FILLING or FILLED */
    uint64_t feeding; /* of these, bytes of chunks whose contents will be copied */
    uint64_t flying;  /* bytes of copies, either way */
    uint64_t leaving; /* bytes leaving the device, from the look to the end of the page change; read with the lock */
    uint64_t freed, rung_ns; /* bytes freed since the last doorbell, and its time */
    uint64_t came_in_ns;
    bool waiting; /* no chunk can move now; written to the trace once */
    bool stopped; /* a move failed; the next round moves the rest */
    bool failure_said;
    const char *failure; /* to be reported once, without the lock */
    CUresult failure_code;
};

/* With the lock: a failure to report when the lock is released. */
void move_failed(unsigned device, struct moving *t, CUresult result, const char *what);
/* With the lock: a place that is free; there is one. */
struct place *move_free_place(struct moving *t);
/* With the lock: the move is over. */
void move_leave_place(struct moving *t, struct place *place);
/* With the lock, which is released meanwhile: begins the page change. */
void move_change_pages(struct place *place, bool fill);
/* With the lock: ends the chunk's move in `state`, and publishes the sums. */
void move_settle(struct chunk *chunk, unsigned state);
/* With the lock: sets whether the chunk's contents are off the device, and updates the sums. */
void move_set_away(struct chunk *chunk, bool away);
/* Whether one more copy may begin. */
bool move_may_copy(const struct moving *t);
/* With the lock, which is released meanwhile: begins the copy of parts of a chunk that has a place. */
CUresult move_begin_copy(struct moving *t, struct place *place, unit_mask parts, bool out);

#endif
