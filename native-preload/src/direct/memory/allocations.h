/* What this process has allocated: found by address or handle when it is freed or asked about. */
#ifndef TESSERA_ALLOCATIONS_H
#define TESSERA_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Addresses and handles of different kinds may have the same value. */
enum allocation_space {
    ALLOCATION_POINTER = 1, /* device pointers; of managed ones `link` is the age, the higher the newer */
    ALLOCATION_HANDLE,      /* cuMemCreate handles; `link` is the backing */
    ALLOCATION_BACKING,     /* physical memory behind handles and mappings; `references` counts both */
    ALLOCATION_MAPPING,     /* mapped ranges; `link` is the backing */
    ALLOCATION_ARRAY,       /* arrays and mipmapped arrays */
    ALLOCATION_HOST,        /* pinned host memory */
    ALLOCATION_PROGRAM,     /* the program's own physical memory under plan swap; `link` is the object */
    ALLOCATION_EXTERNAL,    /* external memory that was imported */
    ALLOCATION_SWAP,        /* in shared blocks of plan swap; `link` is the record (swap.c) */
};

struct allocation {
    uint64_t key;     /* address, handle, or backing number; not 0 */
    uint64_t bytes;   /* that count against the limit */
    uint64_t link;    /* see the spaces */
    uint64_t context; /* whose end frees it; 0: none */
    uint64_t fixed;   /* bytes that plan swap counts as never moving */
    uint32_t references;
    uint8_t space;  /* enum allocation_space */
    uint8_t device; /* slot */
    bool managed;   /* converted to managed memory */
};

/* Records it, replacing one of the same space and key. False: no memory for the table. Any thread. */
bool allocations_add(struct allocation allocation);

/* Takes it out; false: not known. */
bool allocations_remove(enum allocation_space space, uint64_t key, struct allocation *removed);

/* Looks it up; false: not known. */
bool allocations_find(enum allocation_space space, uint64_t key, struct allocation *found);

/* Adds to the references; at 0 the allocation is removed. Returns those left, or UINT32_MAX if it is not known. */
uint32_t allocations_refer(enum allocation_space space, uint64_t key, int by, struct allocation *changed);

/* Takes out one allocation that dies with the context; false: none is left. */
bool allocations_remove_of_context(uint64_t context, struct allocation *removed);

/* Calls with every allocation, under the table's lock: nothing that waits or allocates. */
void allocations_each(void (*visit)(const struct allocation *allocation, void *state), void *state);

/* A number that no backing had before. */
uint64_t allocations_new_backing(void);

/* In the child of a fork: nothing is allocated. */
void allocations_forked(void);

#endif
