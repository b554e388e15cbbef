#include "direct/swap/moving.h"

#include <stddef.h>

#include "direct/chunks/move_trace.h"
#include "direct/turns/residency.h"
#include "session/report.h"
#include "session/segment.h"

void move_failed(unsigned device, struct moving *t, CUresult result, const char *what)
{
    if (result == CUDA_ERROR_DEINITIALIZED)
        return;
    RESIDENCY_COUNT(device, move_failures, 1);
    report_failure(result, "%s", what);
    t->failure = what;
    t->failure_code = result;
}

struct place *move_free_place(struct moving *t)
{
    struct place *place = t->places;
    while (place->stage != PLACE_FREE)
        place++;
    return place;
}

void move_leave_place(struct moving *t, struct place *place)
{
    place->stage = PLACE_FREE;
    t->used--;
}

void move_change_pages(struct place *place, bool fill)
{
    place->stage = fill ? PLACE_FILLING : PLACE_EMPTYING;
    place->change.fill = fill;
    residency_unlock();
    mapping_begin(&place->change);
    residency_lock();
}

void move_settle(struct chunk *chunk, unsigned state)
{
    chunk_change_begin(chunk);
    chunk->state = (uint8_t)state;
    chunk_change_end(chunk);
    residency_publish(chunk->device);
}

void move_set_away(struct chunk *chunk, bool away)
{
    chunk_change_begin(chunk);
    chunk->away = away;
    chunk_change_end(chunk);
}

bool move_may_copy(const struct moving *t)
{
    return t->copying < COPIER_DEPTH && t->flying < MOVING_COPIED_BYTES;
}

CUresult move_begin_copy(struct moving *t, struct place *place, unit_mask parts, bool out)
{
    struct chunk *chunk = place->change.chunk;
    place->parts = parts;
    place->copied = chunk->content ? content_bytes(parts) : chunk->bytes;
    move_trace(chunk->device, out ? "copy-out" : "copy-in", chunk, place->copied);
    residency_unlock();
    CUresult result = copier_begin(chunk->device, chunk, parts, out);
    residency_lock();
    if (result != CUDA_SUCCESS)
        return result;
    place->stage = PLACE_COPYING;
    t->copying++;
    t->flying += place->copied;
    return result;
}
