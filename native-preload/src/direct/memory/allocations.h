/* The table of this process's allocations, by address or handle. Any thread; the table has a lock of its own. */
#ifndef TESSERA_ALLOCATIONS_H
#define TESSERA_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The kind of a key: addresses and handles of different kinds may have the same value. */
enum allocation_space {
    ALLOCATION_POINTER = 1, /* device pointers; for managed memory `link` is the age, higher for newer */
    ALLOCATION_HANDLE,      /* cuMemCreate handles; `link` is the backing */
    ALLOCATION_BACKING,     /* physical memory behind handles and mappings; `references` counts both */
    ALLOCATION_MAPPING,     /* mapped ranges; `link` is the backing */
    ALLOCATION_ARRAY,       /* arrays and mipmapped arrays */
    ALLOCATION_HOST,        /* pinned host memory */
    ALLOCATION_PROGRAM,     /* the program's own physical memory under plan swap; `link` is the object */
    ALLOCATION_EXTERNAL,    /* imported external memory */
    ALLOCATION_SWAP,        /* allocations in shared blocks of plan swap; `link` is the record (swap.c) */
};

struct allocation {
    uint64_t key;     /* address, handle, or backing number; not 0 */
    uint64_t bytes;   /* bytes that count against the limit */
    uint64_t link;    /* see enum allocation_space */
    uint64_t context; /* the context whose end frees it; 0: none */
    uint64_t fixed;   /* bytes that plan swap counts as fixed */
    uint32_t references;
    uint8_t space;  /* enum allocation_space */
    uint8_t device; /* slot */
    bool managed;   /* converted to managed memory */
};

/* Adds an allocation, or replaces the one with the same space and key. False: no memory for the table. */
bool allocations_add(struct allocation allocation);

/* Removes an allocation; false: it is not in the table. */
bool allocations_remove(enum allocation_space space, uint64_t key, struct allocation *removed);

/* Finds an allocation; false: it is not in the table. */
bool allocations_find(enum allocation_space space, uint64_t key, struct allocation *found);

/* Adds `by` to the references and removes the allocation at 0. Returns the references left; UINT32_MAX: not found. */
uint32_t allocations_refer(enum allocation_space space, uint64_t key, int by, struct allocation *changed);

/* Removes one allocation that the context's end frees; false: there is none left. */
bool allocations_remove_of_context(uint64_t context, struct allocation *removed);

/* Calls `visit` with every allocation, under the table's lock: it must not wait or use the table. */
void allocations_each(void (*visit)(const struct allocation *allocation, void *state), void *state);

/* A new number for a backing, never used before. */
uint64_t allocations_new_backing(void);

/* In the child of a fork: nothing is allocated. */
void allocations_forked(void);

#endif
