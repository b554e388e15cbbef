#include "direct/swap/chunk_coming.h"

#include "direct/chunks/backing.h"
#include "direct/chunks/shortage.h"
#include "direct/turns/residency.h"
#include "driver/clock.h"
#include "session/report.h"
#include "session/segment.h"

void coming_begun(struct moving *t, const struct place *place)
{
    t->ahead -= place->change.chunk->bytes;
    t->feeding -= place->feeds ? place->change.chunk->bytes : 0;
}

void coming_failed(struct moving *t, struct place *place, CUresult result)
{
    struct chunk *chunk = place->change.chunk;
    unsigned device = chunk->device;
    move_leave_place(t, place);
    t->stopped = true;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        RESIDENCY_COUNT(device, move_failures, 1); /* other clients are about to release memory */
    else
        move_failed(device, t, result, "memory could not be brought back to the device");
    if (chunk->handle) {
        residency_unlock();
        CUresult left = chunk_empty(chunk);
        residency_lock();
        /* The contents are still in the backing; the memory on the device is not used. */
        report_failure(left, "a chunk without contents stays on the device");
    }
    if (!chunk->handle)
        residency_lower(device, chunk->bytes);
    shortage_tell(device);
    chunk->retry_ns = monotonic_ns() + (result == CUDA_ERROR_OUT_OF_MEMORY ? MOVING_RETRY_NS / 20 : MOVING_RETRY_NS);
    move_settle(chunk, CHUNK_ABSENT);
}

void coming_ended(struct moving *t, struct place *place)
{
    struct chunk *chunk = place->change.chunk;
    move_leave_place(t, place);
    if (chunk->away) {
        RESIDENCY_COUNT(chunk->device, moved_in_bytes, place->copied);
        RESIDENCY_COUNT(chunk->device, cleared_bytes, chunk->bytes - place->copied);
        if (chunk->content && backing_pinned(chunk->backing) && !backing_to_empty(chunk->device))
            move_set_away(chunk, false);
        else
            chunk_drop_copy(chunk);
        chunk_change_begin(chunk);
        chunk->empty_since = UINT64_MAX;
        chunk_change_end(chunk);
    } else {
        chunk_change_begin(chunk);
        chunk_set_empty(chunk);
        chunk_change_end(chunk);
    }
    move_settle(chunk, CHUNK_RESIDENT);
    RESIDENCY_COUNT(chunk->device, settled_chunks, 1);
    t->came_in_ns = monotonic_ns();
}

bool coming_copy(struct moving *t, struct place *place)
{
    struct chunk *chunk = place->change.chunk;
    bool copies = chunk->away;
    if (copies && !move_may_copy(t))
        return false;
    place->copied = 0;
    CUresult result = copies ? move_begin_copy(t, place, chunk->content ? chunk->content->filled : 0, false)
                             : CUDA_SUCCESS;
    coming_begun(t, place);
    if (result != CUDA_SUCCESS)
        coming_failed(t, place, result);
    else if (!copies)
        coming_ended(t, place);
    return true;
}
