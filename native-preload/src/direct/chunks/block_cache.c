#include "direct/chunks/block_cache.h"

#include <stddef.h>
#include <string.h>

#include "direct/turns/residency.h"
#include "session/segment.h"

/* Enough for a program that alternates frees and allocations, such as a framework without a caching allocator. */
#define KEPT_BYTES (256u << 20)
#define KEPT_BLOCK_BYTES (128u << 20) /* work on larger blocks takes much longer than mapping them */

static struct swap_block *kept[TESSERA_MAX_DEVICES]; /* most recently freed first */
static struct swap_block *shared[TESSERA_MAX_DEVICES];

struct swap_block **block_cache_shared(unsigned device)
{
    return &shared[device];
}

static bool all_resident(const struct swap_block *block)
{
    for (const struct chunk *chunk = block->chunks; chunk; chunk = chunk->sibling)
        if (chunk->state != CHUNK_RESIDENT || chunk->fixed)
            return false;
    return true;
}

bool block_cache_keep(struct swap_block *block)
{
    struct residency *r = residency_of(block->device);
    if (block->bytes > KEPT_BLOCK_BYTES || r->cached + block->bytes > KEPT_BYTES || !all_resident(block) ||
        r->resident > residency_target(block->device))
        return false;
    for (struct chunk *chunk = block->chunks; chunk; chunk = chunk->sibling) {
        chunk_forget_content(chunk);
        chunk_change_begin(chunk);
        chunk->live = false;
        chunk_change_end(chunk);
    }
    block->cached = true;
    block->next = kept[block->device];
    kept[block->device] = block;
    residency_publish(block->device);
    return true;
}

struct swap_block *block_cache_take(unsigned device, uint64_t bytes)
{
    struct swap_block **at = &kept[device];
    while (*at && ((*at)->bytes != bytes || (*at)->arena || (*at)->refused))
        at = &(*at)->next;
    struct swap_block *block = *at;
    if (!block)
        return NULL;
    *at = block->next;
    block->cached = false;
    block_seize(block);
    return block;
}

/* Removes the block that was kept longest from its list; if there is none, an empty shared block. */
static struct swap_block *oldest(unsigned device)
{
    struct swap_block **at = &kept[device];
    while (*at && (*at)->next)
        at = &(*at)->next;
    if (!*at) {
        at = &shared[device];
        while (*at && ((*at)->arena->allocations || (*at)->chunks->state != CHUNK_RESIDENT || (*at)->chunks->fixed))
            at = &(*at)->next;
    }
    struct swap_block *block = *at;
    if (block)
        *at = block->next;
    return block;
}

bool block_cache_dispose(struct swap_block *block)
{
    block_settle(block);
    block_seize(block);
    unsigned device = block->device;
    if (block_dispose(block)) {
        RESIDENCY_COUNT(device, settled_chunks, 1);
        return true;
    }
    /* At the end of the list, so that it is the first block that is tried when memory is needed. */
    block->refused = true;
    struct swap_block **last = &kept[block->device];
    while (*last)
        last = &(*last)->next;
    *last = block;
    block->next = NULL;
    return false;
}

uint64_t block_cache_drop(unsigned device, uint64_t bytes)
{
    uint64_t dropped = 0;
    struct swap_block *block;
    while (dropped < bytes && (block = oldest(device))) {
        uint64_t size = block->bytes;
        if (!block_cache_dispose(block))
            break;
        dropped += size;
    }
    if (dropped)
        RESIDENCY_COUNT(device, dropped_bytes, dropped);
    return dropped;
}

void block_cache_forked(void)
{
    memset(kept, 0, sizeof kept);
    memset(shared, 0, sizeof shared);
}
