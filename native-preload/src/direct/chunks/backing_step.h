/* A step of host memory, and the list of steps. Internal to backing.c and pinning.c. Guarded by residency's lock. */
#ifndef TESSERA_BACKING_STEP_H
#define TESSERA_BACKING_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/backing.h"

#define STEP_BYTES (256u << 20)
/*
 * Size of a step of pinned memory. While memory is registered, every launch in the context waits: 53 ms for 1 GiB of touched
 * pages on an H200. A step of this size takes 1.7 ms.
 */
#define PINNED_STEP_BYTES (32u << 20)
#define STEP_UNITS (STEP_BYTES / BACKING_UNIT)

struct backing_step {
    struct backing_step *next;
    char *memory; /* NULL: a range of the file */
    uint64_t file_offset;
    uint64_t bytes;
    uint32_t used; /* units */
    uint64_t taken[STEP_UNITS / 64];
    const void *context; /* in which the memory is registered; NULL: it is not */
    uint8_t device;
    uint8_t tier; /* enum host_tier */
    bool busy;    /* being registered or unregistered: no piece is taken from it */
};

/* With the lock: the size of the next step of a tier, within `wanted` and the device's target; 0: no step is due. */
uint64_t step_bytes_due(unsigned device, enum host_tier tier, uint64_t wanted);

/* Maps anonymous memory on the device's NUMA node, aligned to huge pages, not inherited by fork; NULL: no memory. */
char *step_map(unsigned device, uint64_t bytes);
void step_unmap(char *memory, uint64_t bytes);

/* With the lock: step_add() records a step in its device's list (NULL: no memory), step_remove() deletes it. */
struct backing_step *step_add(unsigned device, enum host_tier tier, uint64_t bytes, char *memory);
void step_remove(struct backing_step *step);

/* With the lock: the first step of a device. */
struct backing_step *step_first(unsigned device);

/*
 * With the lock: whether the step may be released: it is unused, and its tier is cheap to allocate, or it is beyond the
 * target or the need.
 */
bool step_surplus(const struct backing_step *step);

/*
 * Sets the function that releases an unused pinned step. It is called with the lock, and releases the lock meanwhile. To be
 * set before the first pinned step.
 */
void step_pinned_drop(void (*drop)(struct backing_step *step));

#endif
