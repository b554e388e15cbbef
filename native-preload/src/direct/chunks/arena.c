#include "direct/chunks/arena.h"

#include <stddef.h>

#define NONE ((uint16_t)ARENA_MAX_PAGES)

void arena_init(struct arena *arena, uint64_t bytes)
{
    arena->pages = (uint32_t)(bytes / ARENA_PAGE_BYTES);
    for (int i = 0; i < 4; i++)
        arena->partial[i] = NONE;
}

/* The first page at or after `from` whose state is `taken`; arena->pages: none. */
static uint32_t next_page(const struct arena *arena, uint32_t from, bool taken)
{
    while (from < arena->pages) {
        uint64_t word = arena->taken[from / 64];
        uint64_t wanted = (taken ? word : ~word) >> (from % 64);
        if (wanted) {
            uint32_t found = from + (uint32_t)__builtin_ctzll(wanted);
            return found < arena->pages ? found : arena->pages;
        }
        from = (from / 64 + 1) * 64;
    }
    return arena->pages;
}

static void mark(struct arena *arena, uint32_t first, uint32_t count, bool taken)
{
    for (uint32_t i = first; i < first + count; i++) {
        uint64_t bit = 1ULL << (i % 64);
        arena->taken[i / 64] = taken ? arena->taken[i / 64] | bit : arena->taken[i / 64] & ~bit;
        arena->page[i] = (struct arena_page){.start = (uint16_t)first};
    }
    arena->page[first].run = taken ? (uint16_t)count : 0;
    arena->taken_pages += taken ? count : -count;
}

/* First fit. */
static bool take_run(struct arena *arena, uint32_t count, uint32_t alignment, uint32_t *first)
{
    if (count > arena->pages - arena->taken_pages)
        return false;
    uint32_t at = 0;
    while ((at = next_page(arena, at, false)) < arena->pages) {
        uint32_t end = next_page(arena, at, true);
        uint32_t aligned = (at + alignment - 1) & ~(alignment - 1);
        if (aligned < end && end - aligned >= count) {
            mark(arena, aligned, count, true);
            *first = aligned;
            return true;
        }
        at = end;
    }
    return false;
}

static void link_partial(struct arena *arena, uint16_t index)
{
    struct arena_page *page = &arena->page[index];
    page->previous = NONE;
    page->next = arena->partial[page->size_class];
    if (page->next != NONE)
        arena->page[page->next].previous = index;
    arena->partial[page->size_class] = index;
}

static void unlink_partial(struct arena *arena, uint16_t index)
{
    struct arena_page *page = &arena->page[index];
    if (page->previous != NONE)
        arena->page[page->previous].next = page->next;
    else
        arena->partial[page->size_class] = page->next;
    if (page->next != NONE)
        arena->page[page->next].previous = page->previous;
}

static uint16_t all_slots(unsigned size_class)
{
    return (uint16_t)((1u << (ARENA_PAGE_BYTES / ARENA_SLOT_BYTES >> size_class)) - 1);
}

static bool take_slot(struct arena *arena, unsigned size_class, uint64_t *offset)
{
    uint32_t index = arena->partial[size_class];
    if (index == NONE) {
        if (!take_run(arena, 1, 1, &index))
            return false;
        arena->page[index].cut = true;
        arena->page[index].size_class = (uint8_t)size_class;
        link_partial(arena, (uint16_t)index);
    }
    struct arena_page *page = &arena->page[index];
    unsigned slot = (unsigned)__builtin_ctz(~(unsigned)page->slots);
    page->slots |= (uint16_t)(1u << slot);
    if (page->slots == all_slots(size_class))
        unlink_partial(arena, (uint16_t)index);
    *offset = (uint64_t)index * ARENA_PAGE_BYTES + ((uint64_t)slot * ARENA_SLOT_BYTES << size_class);
    return true;
}

bool arena_take(struct arena *arena, uint64_t bytes, uint64_t alignment, uint64_t *offset)
{
    uint64_t size = bytes > alignment ? bytes : alignment;
    bool taken;
    if (size <= ARENA_PAGE_BYTES / 2) {
        unsigned size_class = 0;
        while ((uint64_t)ARENA_SLOT_BYTES << size_class < size)
            size_class++;
        taken = take_slot(arena, size_class, offset);
    } else {
        uint32_t first = 0, count = (uint32_t)((bytes + ARENA_PAGE_BYTES - 1) / ARENA_PAGE_BYTES);
        uint32_t pages = alignment > ARENA_PAGE_BYTES ? (uint32_t)(alignment / ARENA_PAGE_BYTES) : 1;
        taken = take_run(arena, count, pages, &first);
        *offset = (uint64_t)first * ARENA_PAGE_BYTES;
    }
    arena->allocations += taken;
    return taken;
}

void arena_give(struct arena *arena, uint64_t offset)
{
    uint32_t index = (uint32_t)(offset / ARENA_PAGE_BYTES);
    struct arena_page *page = &arena->page[index];
    arena->allocations--;
    if (!page->cut) {
        mark(arena, index, page->run, false);
        return;
    }
    bool full = page->slots == all_slots(page->size_class);
    page->slots &= (uint16_t) ~(1u << (offset % ARENA_PAGE_BYTES / ARENA_SLOT_BYTES >> page->size_class));
    if (page->slots == 0) {
        if (!full)
            unlink_partial(arena, (uint16_t)index);
        mark(arena, index, 1, false);
    } else if (full) {
        link_partial(arena, (uint16_t)index);
    }
}

bool arena_find(const struct arena *arena, uint64_t inside, uint64_t *offset)
{
    uint64_t index = inside / ARENA_PAGE_BYTES;
    if (index >= arena->pages || !(arena->taken[index / 64] >> (index % 64) & 1))
        return false;
    const struct arena_page *page = &arena->page[index];
    if (!page->cut) {
        *offset = (uint64_t)page->start * ARENA_PAGE_BYTES;
        return true;
    }
    unsigned slot = (unsigned)(inside % ARENA_PAGE_BYTES / ARENA_SLOT_BYTES >> page->size_class);
    *offset = index * ARENA_PAGE_BYTES + ((uint64_t)slot * ARENA_SLOT_BYTES << page->size_class);
    return page->slots >> slot & 1;
}

bool arena_span(const struct arena *arena, uint64_t *offset, uint64_t *bytes)
{
    uint32_t first = next_page(arena, (uint32_t)((*offset + ARENA_PAGE_BYTES - 1) / ARENA_PAGE_BYTES), true);
    if (first >= arena->pages)
        return false;
    *offset = (uint64_t)first * ARENA_PAGE_BYTES;
    *bytes = (uint64_t)(next_page(arena, first, false) - first) * ARENA_PAGE_BYTES;
    return true;
}
