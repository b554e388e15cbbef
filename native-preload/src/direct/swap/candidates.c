#include "direct/swap/candidates.h"

#include <stddef.h>

#include "direct/chunks/backing.h"
#include "driver/clock.h"
#include "direct/turns/residency.h"

/* Contents cannot be copied if the device has no read and write access at any of their addresses. */
static bool can_leave(const struct chunk *chunk, uint64_t now_ns)
{
    return chunk->state == CHUNK_RESIDENT && chunk->live && !chunk->fixed && !chunk->stuck &&
           chunk->retry_ns <= now_ns && (chunk_address(chunk) || !chunk_contents(chunk));
}

static bool can_come(const struct chunk *chunk, uint64_t now_ns)
{
    return chunk->state == CHUNK_ABSENT && chunk->live && chunk->retry_ns <= now_ns;
}

bool candidate_copied(const struct chunk *chunk)
{
    return chunk->away && chunk_content_bytes(chunk) > 0;
}

static bool can_come_copied(const struct chunk *chunk, uint64_t now_ns)
{
    return can_come(chunk, now_ns) && candidate_copied(chunk);
}

static bool can_come_cleared(const struct chunk *chunk, uint64_t now_ns)
{
    return can_come(chunk, now_ns) && !candidate_copied(chunk);
}

static struct chunk *search(unsigned device, bool copied, uint64_t now_ns)
{
    return copied ? chunk_search(device, SEARCH_IN, can_come_copied, now_ns)
                  : chunk_search(device, SEARCH_CLEARED, can_come_cleared, now_ns);
}

/* A chunk that may come in, first one whose backing other clients wait for, then one of this kind. NULL: none. */
static struct chunk *next_coming(unsigned device, bool copied)
{
    uint64_t now_ns = monotonic_ns();
    const struct backing_step *step = backing_to_empty(device);
    struct chunk *chunk = step ? chunk_first(device) : NULL;
    while (chunk && !(can_come(chunk, now_ns) && backing_in(chunk->backing, step)))
        chunk = chunk->next;
    chunk = chunk ? chunk : search(device, copied, now_ns);
    return chunk ? chunk : search(device, !copied, now_ns);
}

static struct chunk *take(struct chunk *chunk)
{
    chunk_change_begin(chunk);
    chunk->state = CHUNK_BUSY;
    chunk_change_end(chunk);
    return chunk;
}

struct chunk *candidate_out(unsigned device)
{
    struct chunk *chunk = chunk_search(device, SEARCH_OUT, can_leave, monotonic_ns());
    return chunk ? take(chunk) : NULL;
}

struct chunk *candidate_in(unsigned device, bool copied)
{
    struct chunk *chunk = next_coming(device, copied);
    bool paid = chunk && (chunk->handle || residency_raise(device, chunk->bytes));
    return paid ? take(chunk) : NULL;
}
