#include "direct/chunks/kept_copies.h"

#include <stddef.h>

#include "direct/chunks/chunks.h"

static bool has_copy(const struct chunk *chunk, uint64_t now_ns)
{
    (void)now_ns;
    return chunk->state == CHUNK_RESIDENT && chunk->backing && !chunk->away;
}

/* The search visits chunks in the order in which they come in and get their copies, so it finds the oldest copy first. */
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
 * With the lock: if more memory is pinned than the target allows, drops the copies in the step of backing_to_empty(). That
 * step may hold no copies, but only contents of chunks that cannot come in now. Then drops the oldest copy of all. False:
 * nothing was dropped.
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
