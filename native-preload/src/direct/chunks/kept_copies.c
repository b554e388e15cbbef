#include "direct/chunks/kept_copies.h"

#include <stddef.h>

#include "direct/chunks/chunks.h"

static bool has_copy(const struct chunk *chunk, uint64_t now_ns)
{
    (void)now_ns;
    return chunk->state == CHUNK_RESIDENT && chunk->backing && !chunk->away;
}

/* Chunks come in, and so get their copies, in the order in which the search goes round. */
bool kept_copies_drop(unsigned device)
{
    struct chunk *chunk = chunk_search(device, SEARCH_COPY, has_copy, 0);
    if (chunk) {
        chunk_drop_copy(chunk);
        residency_publish(device);
    }
    return chunk != NULL;
}

/*
 * With the lock, while more is pinned than may be: drops the copies in the step that is emptied first, or, where
 * contents alone are in it, which may have no way back at the moment, the oldest copy of all. False: there is none.
 */
static bool give_up(unsigned device)
{
    const struct backing_step *step = backing_to_empty(device);
    bool any = false;
    for (struct chunk *chunk = step ? chunk_first(device) : NULL; chunk; chunk = chunk->next)
        if (has_copy(chunk, 0) && backing_in(chunk->backing, step)) {
            chunk_drop_copy(chunk);
            any = true;
        }
    if (any)
        residency_publish(device);
    return any || (step && kept_copies_drop(device));
}

void kept_copies_trim(unsigned device)
{
    do
        backing_trim(device);
    while (give_up(device));
}
