/*
 * The arena against a map of its slots: allocations never overlap, are aligned, are found by any address in them, and can
 * all be given back. Seeded; the seed is printed.
 */
#include "direct/chunks/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

#define UNIT ARENA_SLOT_BYTES
#define MOST 4096
#define STEPS 60000

static struct arena arena;
static unsigned owner[ARENA_MAX_PAGES * ARENA_PAGE_BYTES / UNIT]; /* 0: nobody */
static struct {
    uint64_t offset, bytes;
} held[MOST + 1];

static void own(uint64_t offset, uint64_t bytes, unsigned from, unsigned to)
{
    for (uint64_t at = offset / UNIT; at < (offset + bytes + UNIT - 1) / UNIT; at++) {
        CHECK(owner[at] == from);
        owner[at] = to;
    }
}

static uint64_t draw_bytes(void)
{
    uint64_t most = random() % 3 ? 4096 : random() % 8 ? 65536 : ARENA_MAX_BYTES;
    return (uint64_t)random() % most + 1;
}

static void take(unsigned id)
{
    uint64_t offset, found, bytes = draw_bytes(), alignment = (uint64_t)UNIT << (random() % 4 ? 0 : random() % 8);
    if (!arena_take(&arena, bytes, alignment, &offset))
        return;
    CHECK(offset % alignment == 0 && offset + bytes <= (uint64_t)arena.pages * ARENA_PAGE_BYTES);
    own(offset, bytes, 0, id);
    held[id].offset = offset;
    held[id].bytes = bytes;
    CHECK(arena_find(&arena, offset + (uint64_t)random() % bytes, &found) && found == offset);
}

static void give(unsigned id)
{
    uint64_t found;
    own(held[id].offset, held[id].bytes, id, 0);
    arena_give(&arena, held[id].offset);
    CHECK(!arena_find(&arena, held[id].offset, &found));
    held[id].bytes = 0;
}

/* Everything that somebody owns lies in a span, and no span is without an owner. */
static void check_spans(void)
{
    uint64_t offset = 0, bytes, end = 0;
    while (arena_span(&arena, &offset, &bytes)) {
        for (uint64_t at = end / UNIT; at < offset / UNIT; at++)
            CHECK(owner[at] == 0);
        bool any = false;
        for (uint64_t at = offset / UNIT; at < (offset + bytes) / UNIT; at++)
            any |= owner[at] != 0;
        CHECK(any);
        end = offset + bytes;
        offset = end;
    }
    for (uint64_t at = end / UNIT; at < (uint64_t)arena.pages * ARENA_PAGE_BYTES / UNIT; at++)
        CHECK(owner[at] == 0);
}

static void run(uint64_t chunk_bytes)
{
    memset(&arena, 0, sizeof arena);
    arena_init(&arena, chunk_bytes);
    for (int i = 0; i < STEPS; i++) {
        unsigned id = (unsigned)random() % MOST + 1;
        if (held[id].bytes)
            give(id);
        else
            take(id);
        if (i % 6000 == 0)
            check_spans();
    }
    for (unsigned id = 1; id <= MOST; id++)
        if (held[id].bytes)
            give(id);
    CHECK(arena.allocations == 0 && arena.taken_pages == 0);
    uint64_t offset;
    for (uint64_t at = 0; at < chunk_bytes; at += ARENA_MAX_BYTES) /* nothing is left behind: it can be filled again */
        CHECK(arena_take(&arena, ARENA_MAX_BYTES, UNIT, &offset));
    CHECK(!arena_take(&arena, 1, UNIT, &offset));
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : (unsigned)time(NULL);
    printf("arena: seed %u\n", seed);
    srandom(seed);
    run(2u << 20);
    run((uint64_t)ARENA_MAX_PAGES * ARENA_PAGE_BYTES);
    return 0;
}
