/*
 * Backing: host memory for the contents of chunks that are off the device. There are three tiers: pinned (registered
 * with the driver, allocated ahead of need by the thread of pinning.h), pageable, and an unlinked file. Memory is
 * allocated in steps of at most 256 MiB, within the targets that the manager sets; a chunk's backing is a list of
 * pieces of steps. No page is shared with another process.
 */
#ifndef TESSERA_BACKING_H
#define TESSERA_BACKING_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/turns/residency.h"

#define BACKING_UNIT (2u << 20) /* pieces are multiples of it, as chunks are */

struct backing_step;

/* Part of a step. A chunk's pieces hold its contents, or parts of them, in any order. */
struct backing_piece {
    struct backing_piece *next;
    struct backing_step *step;
    uint64_t offset; /* in the step */
    uint64_t bytes;
    uint64_t at; /* where in the chunk it begins */
};

/*
 * With the lock, which is released meanwhile: allocates this many bytes (a multiple of BACKING_UNIT) for a chunk's
 * contents from `at` on, from the fastest tier first, and from none that is slower than `slowest`. NULL: these tiers
 * together lack room, and nothing is allocated.
 */
struct backing_piece *backing_take(unsigned device, uint64_t at, uint64_t bytes, enum host_tier slowest);

/* With the lock: frees all pieces of the list. */
void backing_give(unsigned device, struct backing_piece *pieces);

/*
 * With the lock: if more memory is pinned than the target allows, the pinned step with the least memory in use; else
 * NULL. Its chunks should move first: only whole steps can be released, and other clients wait for that memory.
 */
const struct backing_step *backing_to_empty(unsigned device);

/* The units of a chunk that the pieces cover, as bits: the lowest for the first BACKING_UNIT bytes. */
unit_mask backing_units(const struct backing_piece *pieces);

/* Whether all of the pieces' memory is pinned. */
bool backing_pinned(const struct backing_piece *pieces);

/* Whether one of the pieces is part of the step. */
bool backing_in(const struct backing_piece *pieces, const struct backing_step *step);

enum host_tier backing_tier(const struct backing_piece *piece);

/* The piece's memory; NULL for a piece of a file. */
char *backing_memory(const struct backing_piece *piece);

/* Reads or writes part of a piece of a file; false: the disk is full or failed. Any thread, without the lock. */
bool backing_read(const struct backing_piece *piece, uint64_t offset, void *to, uint64_t bytes);
bool backing_write(const struct backing_piece *piece, uint64_t offset, const void *from, uint64_t bytes);

/*
 * With the lock, which is released meanwhile: returns unused steps beyond the need or the target to the system, and
 * tells the manager.
 */
void backing_trim(unsigned device);

/* The context is about to end, which ends the host registrations that were made in it. */
void backing_context_closing(const void *context);

/* In the child of a fork. */
void backing_forked(void);

#endif
