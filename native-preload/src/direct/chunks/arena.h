/*
 * Places of small allocations in a chunk that they share. An allocation larger than half a page takes a run of 4 KiB
 * pages; smaller ones take equal slots of a page. Computes offsets only and touches no memory. Guarded by its owner's
 * lock.
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
    uint16_t slots;    /* of a page that is cut: bit: slot is taken */
    uint16_t previous; /* pages of the same class with a free slot; ARENA_MAX_PAGES: none */
    uint16_t next;
    uint8_t size_class; /* of a page that is cut: slots of ARENA_SLOT_BYTES << size_class */
    bool cut;
};

/* All zero but for what arena_init() sets. Large: in memory of its own (mmap). */
struct arena {
    uint32_t pages;
    uint32_t taken_pages;
    uint32_t allocations;
    uint16_t partial[4]; /* by class: first page with a free slot */
    uint64_t taken[ARENA_MAX_PAGES / 64];
    struct arena_page page[ARENA_MAX_PAGES];
};

/* `arena`: zeroed memory; bytes: of the chunk, whole pages, at most ARENA_MAX_PAGES of them. */
void arena_init(struct arena *arena, uint64_t bytes);

/* Takes bytes (1 to ARENA_MAX_BYTES) at a multiple of alignment (a power of two) from the chunk's start. */
bool arena_take(struct arena *arena, uint64_t bytes, uint64_t alignment, uint64_t *offset);

/* Gives back what begins at offset, as arena_take() told it. */
void arena_give(struct arena *arena, uint64_t offset);

/* The beginning of the allocation that the offset lies in; false: none. */
bool arena_find(const struct arena *arena, uint64_t inside, uint64_t *offset);

/* The next run of taken pages from *offset on: sets both; false: none left. */
bool arena_span(const struct arena *arena, uint64_t *offset, uint64_t *bytes);

#endif
