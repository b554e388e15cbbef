/*
 * Host memory behind chunks that are off the device, in three tiers: pinned (memory of our own, registered with the
 * driver, grown ahead of need by a thread of its own), pageable, and an unlinked file. It comes in steps of at most
 * 256 MiB, each within what the manager allows; a chunk takes pieces of them. All pages are private to the process.
 */
#ifndef TESSERA_BACKING_H
#define TESSERA_BACKING_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/turns/residency.h"

#define BACKING_UNIT (2u << 20) /* pieces are multiples of it, as chunks are */

struct backing_step;

/* Part of a step; the pieces of a chunk follow one another in the chunk. */
struct backing_piece {
    struct backing_piece *next;
    struct backing_step *step;
    uint64_t offset; /* in the step */
    uint64_t bytes;
};

/*
 * With the lock, which is released meanwhile: room for so many bytes (a multiple of BACKING_UNIT), fastest tier first.
 * NULL: no tier has room for them, and nothing is taken.
 */
struct backing_piece *backing_take(unsigned device, uint64_t bytes);

/* With the lock: gives all pieces back. */
void backing_give(unsigned device, struct backing_piece *pieces);

/*
 * With the lock: the pinned step that the fewest moves would empty, if more memory is pinned than allowed; else NULL.
 * Only whole steps can be given back, and other clients wait for them.
 */
const struct backing_step *backing_to_empty(unsigned device);

/* Whether one of the pieces lies in the step. */
bool backing_in(const struct backing_piece *pieces, const struct backing_step *step);

enum host_tier backing_tier(const struct backing_piece *piece);

/* The piece's memory; NULL for a piece of a file. */
char *backing_memory(const struct backing_piece *piece);

/* Reads or writes part of a piece of a file; false: the disk is full or failed. Any thread, without the lock. */
bool backing_read(const struct backing_piece *piece, uint64_t offset, void *to, uint64_t bytes);
bool backing_write(const struct backing_piece *piece, uint64_t offset, const void *from, uint64_t bytes);

/*
 * With the lock, which is released meanwhile: steps that nothing uses and that are more than is wanted or allowed go back
 * to the system, and the manager hears of it.
 */
void backing_trim(unsigned device);

/* The context is about to end, and with it the registrations that were made in it. */
void backing_context_closing(const void *context);

/* In the child of a fork. */
void backing_forked(void);

#endif
