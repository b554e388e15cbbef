/* One step of host memory, and the list of them; the inside of backing.c and pinning.c. Guarded by residency's lock. */
#ifndef TESSERA_BACKING_STEP_H
#define TESSERA_BACKING_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/backing.h"

#define STEP_BYTES (256u << 20)
#define STEP_UNITS (STEP_BYTES / BACKING_UNIT)

struct backing_step {
    struct backing_step *next;
    char *memory; /* NULL: of a file */
    uint64_t file_offset;
    uint64_t bytes;
    uint32_t used; /* units */
    uint64_t taken[STEP_UNITS / 64];
    const void *context; /* that the memory is registered in; NULL: it is not */
    uint8_t device;
    uint8_t tier; /* enum host_tier */
    bool busy;    /* being registered, or unregistered: nothing is taken from it */
};

/* With the lock: the bytes of the next step of a tier, within what the device wants and its target; 0: none. */
uint64_t step_bytes_due(unsigned device, enum host_tier tier, uint64_t wanted);

/* Anonymous memory near the device, aligned to huge pages, that a forked child does not get; NULL: none. */
char *step_map(unsigned device, uint64_t bytes);
void step_unmap(char *memory, uint64_t bytes);

/* With the lock: a record of a step in the list; NULL: no memory for it. And out of the list again. */
struct backing_step *step_add(unsigned device, enum host_tier tier, uint64_t bytes, char *memory);
void step_remove(struct backing_step *step);

/* With the lock: the list of a device. */
struct backing_step *step_first(unsigned device);

/* With the lock: whether the device wants no more than `held - bytes` of a tier, or may not have more. */
bool step_surplus(const struct backing_step *step);

/* How an unused pinned step is given back: with the lock, which is released meanwhile. Before there is one. */
void step_pinned_drop(void (*drop)(struct backing_step *step));

#endif
