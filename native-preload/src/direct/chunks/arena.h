/*
 * Suballocator for small allocations that share a chunk. An allocation larger than half a page takes a run of 4 KiB
 * pages; smaller ones take equal slots of a page. It computes offsets only and touches no memory. Guarded by its
 * owner's lock.
 */
#ifndef TESSERA_ARENA_H
#define TESSERA_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#define ARENA_PAGE_BYTES 4096u
#define ARENA_SLOT_BYTES 256u      /* the smallest slot: CUDA aligns every allocation to it */
#define ARENA_MAX_PAGES 8192u      /* 32 MiB */
#define ARENA_MAX_BYTES (1u << 20) /* the largest allocation that shares */

struct arena_page {
    uint16_t start;    /* page where the run that holds this one begins */
    uint16_t run;      /* pages of the run that begins here; 0 elsewhere */
    uint16_t slots;    /* of a cut page: one bit for each taken slot */
    uint16_t previous; /* pages of the same class with a free slot; ARENA_MAX_PAGES: none */
    uint16_t next;
    uint8_t size_class; /* of a cut page: its slots have ARENA_SLOT_BYTES << size_class bytes */
    bool cut;
};

/* All fields are zero except those that arena_init() sets. Allocate it with mmap: it is large. */
struct arena {
    uint32_t pages;
    uint32_t taken_pages;
    uint32_t allocations;
    uint16_t partial[4]; /* by class: first page with a free slot */
    uint64_t taken[ARENA_MAX_PAGES / 64];
    struct arena_page page[ARENA_MAX_PAGES];
};

/* `arena` is zeroed memory. `bytes` is the size of the chunk: whole pages, at most ARENA_MAX_PAGES. */
void arena_init(struct arena *arena, uint64_t bytes);

/* Allocates `bytes` (1 to ARENA_MAX_BYTES). The offset is a multiple of `alignment`, a power of two. False: no room. */
bool arena_take(struct arena *arena, uint64_t bytes, uint64_t alignment, uint64_t *offset);

/* Frees the allocation at an offset that arena_take() returned. */
void arena_give(struct arena *arena, uint64_t offset);

/* Finds where the allocation that contains the offset begins; false: no allocation contains it. */
bool arena_find(const struct arena *arena, uint64_t inside, uint64_t *offset);

/* Finds the next run of taken pages at or after *offset, and sets both; false: there is none. */
bool arena_span(const struct arena *arena, uint64_t *offset, uint64_t *bytes);

#endif
