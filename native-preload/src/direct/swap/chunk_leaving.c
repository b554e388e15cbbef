#include "direct/swap/chunk_leaving.h"

#include <string.h>

#include "direct/chunks/backing.h"
#include "direct/chunks/kept_copies.h"
#include "direct/content/content_look.h"
#include "direct/turns/residency.h"
#include "driver/clock.h"
#include "session/segment.h"

void leaving_failed(struct moving *t, struct chunk *chunk, CUresult result, const char *what)
{
    move_failed(chunk->device, t, result, what);
    t->stopped = true;
    chunk->retry_ns = monotonic_ns() + MOVING_RETRY_NS;
    chunk_drop_copy(chunk);
    move_settle(chunk, CHUNK_RESIDENT);
}

void leaving_emptied(struct moving *t, struct place *place)
{
    struct chunk *chunk = place->change.chunk;
    unsigned device = chunk->device;
    t->leaving -= chunk->bytes;
    move_leave_place(t, place);
    if (place->change.result != CUDA_SUCCESS) {
        leaving_failed(t, chunk, place->change.result, "physical memory could not be taken away");
        return;
    }
    residency_lower(device, chunk->bytes);
    RESIDENCY_COUNT(device, settled_chunks, 1);
    RESIDENCY_COUNT(device, moved_out_bytes, place->copied);
    if (chunk->away)
        RESIDENCY_COUNT(device, spared_bytes, chunk->bytes - place->copied);
    else
        RESIDENCY_COUNT(device, dropped_bytes, chunk->bytes);
    move_settle(chunk, CHUNK_ABSENT);
    t->freed += chunk->bytes;
}

void leaving_copied(const struct place *place)
{
    struct chunk *chunk = place->change.chunk;
    chunk_change_begin(chunk);
    if (chunk->content)
        chunk->content->copied |= place->parts;
    chunk_change_end(chunk);
}

/*
 * With the lock, which is released meanwhile: adds host memory for the contents from `at` on. Pinned memory comes first,
 * even if kept copies have to be dropped for it. False: there is not enough.
 */
static bool add_backing(struct chunk *chunk, uint64_t at, uint64_t bytes)
{
    struct backing_piece *pieces, *last;
    do
        pieces = backing_take(chunk->device, at, bytes, TIER_PINNED);
    while (!pieces && kept_copies_drop(chunk->device));
    if (!pieces)
        pieces = backing_take(chunk->device, at, bytes, TIER_FILE);
    for (last = pieces; last && last->next;)
        last = last->next;
    if (last) {
        last->next = chunk->backing;
        chunk->backing = pieces;
    }
    return pieces != NULL;
}

/* With the lock, which is released meanwhile: as add_backing(), for the parts; for the whole chunk if it has no record of them. */
static bool backing_for(struct chunk *chunk, unit_mask parts)
{
    unsigned first = 0, count = 0;
    if (!chunk->content)
        return chunk->backing || add_backing(chunk, 0, chunk->bytes);
    for (parts &= ~backing_units(chunk->backing); content_run(parts, &first, &count); first += count)
        if (!add_backing(chunk, first * PART_BYTES, count * PART_BYTES))
            return false;
    return true;
}

/* With the lock: the chunk that was to leave stays resident, and nothing more leaves in this round. */
static void stays(struct moving *t, struct place *place)
{
    struct chunk *chunk = place->change.chunk;
    t->leaving -= chunk->bytes;
    t->stopped = true;
    move_leave_place(t, place);
}

/* With the lock: whether the target has been raised since the chunk was chosen, so that it need not leave. */
static bool may_stay(const struct moving *t, const struct chunk *chunk)
{
    uint64_t others = t->leaving - chunk->bytes;
    return residency_of(chunk->device)->resident - others <= residency_target(chunk->device);
}

bool leaving_copy(struct moving *t, struct place *place)
{
    struct chunk *chunk = place->change.chunk;
    unit_mask parts = place->parts;
    if (may_stay(t, chunk)) {
        t->leaving -= chunk->bytes;
        move_leave_place(t, place);
        move_settle(chunk, CHUNK_RESIDENT);
        return true;
    }
    bool copies = !chunk->content || parts;
    if (copies && !move_may_copy(t))
        return false;
    place->copied = 0;
    if (!backing_for(chunk, parts)) { /* the next round tries again; by then more memory may be pinned or free */
        move_settle(chunk, CHUNK_RESIDENT);
        stays(t, place);
        return true;
    }
    move_set_away(chunk, true);
    if (!copies) {
        move_change_pages(place, false);
        return true;
    }
    CUresult result = move_begin_copy(t, place, parts, true);
    if (result != CUDA_SUCCESS) {
        stays(t, place);
        leaving_failed(t, chunk, result, "memory could not be copied to the host: it stays on the device");
    }
    return true;
}

void leaving_begin(struct moving *t, struct place *place)
{
    struct chunk *chunk = place->change.chunk;
    unsigned device = chunk->device;
    t->leaving += chunk->bytes;
    place->parts = 0;
    place->copied = 0;
    if (!chunk_contents(chunk) || copier_lost(device)) {
        chunk_forget_content(chunk);
        move_change_pages(place, false);
        return;
    }
    residency_unlock();
    bool looks = look_begin(looker_of_moves(device), copier_context(device), chunk);
    residency_lock();
    t->looking += looks;
    place->stage = looks ? PLACE_LOOKING : PLACE_LOOKED;
    if (!looks) {
        chunk_set_unseen(chunk);
        leaving_copy(t, place);
    }
}

/* With the lock: records the result of the look. Returns the parts that have to be copied. */
static unit_mask note(struct chunk *chunk, const struct look *look)
{
    unit_mask same = 0;
    unsigned parts = (unsigned)(chunk->bytes / PART_BYTES); /* small chunks touch little of their record */
    chunk_change_begin(chunk);
    struct content *content = chunk->content ? chunk->content : content_new();
    for (unsigned i = 0; content && i < parts; i++)
        same |= memcmp(&content->hashes[i], &look->hashes[i], sizeof look->hashes[i]) == 0 ? (unit_mask)1 << i : 0;
    if (content) {
        content->filled = look->filled;
        content->copied &= look->filled & same;
        memcpy(content->hashes, look->hashes, parts * sizeof *look->hashes);
    }
    chunk->content = content;
    chunk->unseen = !content;
    chunk_change_end(chunk);
    return content ? content->filled & ~content->copied : 0;
}

bool leaving_end_looks(unsigned device, struct moving *t)
{
    struct look look = {0};
    CUresult result;
    bool any = false;
    for (;;) {
        residency_unlock();
        bool ended = look_ended(looker_of_moves(device), &look, &result);
        residency_lock();
        if (!ended)
            return any;
        any = true;
        t->looking--;
        struct place *place = t->places;
        while (place->stage != PLACE_LOOKING || place->change.chunk != look.chunk)
            place++;
        place->stage = PLACE_LOOKED;
        if (result == CUDA_SUCCESS)
            place->parts = note(look.chunk, &look);
        else
            chunk_set_unseen(look.chunk);
    }
}
