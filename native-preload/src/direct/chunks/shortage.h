/*
 * What the device really has, for the manager, which believes more or less of it (SPEC.md, section 9.9): what the driver
 * says is free, and memory that it refuses.
 */
#ifndef TESSERA_SHORTAGE_H
#define TESSERA_SHORTAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Says what the driver says is free, once a second, or five times while the gate waits for memory. By the turns thread, without a lock. */
void shortage_sample(unsigned device, bool waits);

/*
 * The driver had no memory for a chunk. True: it has had none for a while, and was asked what is free; the caller tries once
 * more, and if that fails too, says so by shortage_found(). Any thread, with a context of the device.
 */
bool shortage_lasts(unsigned device, uint64_t *free_bytes);
void shortage_found(unsigned device, uint64_t free_bytes);

/* The driver gave memory. Any thread. */
void shortage_over(unsigned device);

/* Tells the manager what was found, if anything: after the process has lowered what it holds, before it rings. Any thread. */
void shortage_tell(unsigned device);

/* In the child of a fork. */
void shortage_forked(void);

#endif
