/*
 * Reports the memory that the device really has to the manager, whose own figure may differ (SPEC.md, section 9.9):
 * free memory as the driver reports it, and memory that the driver refuses.
 */
#ifndef TESSERA_SHORTAGE_H
#define TESSERA_SHORTAGE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reports the driver's figure of free memory once a second, or five times a second while the gate waits for memory. By
 * the turns thread, without a lock.
 */
void shortage_sample(unsigned device, bool waits);

/*
 * The driver had no memory for a chunk. True: it has refused for a while, and its figure of free memory was read. Then
 * the caller tries once more, and calls shortage_found() if that fails. Any thread, with a context of the device.
 */
bool shortage_lasts(unsigned device, uint64_t *free_bytes);
void shortage_found(unsigned device, uint64_t free_bytes);

/* The driver gave memory. Any thread. */
void shortage_over(unsigned device);

/*
 * Tells the manager of a shortage, if there was one: after the process has lowered what it holds, and before it rings.
 * Any thread.
 */
void shortage_tell(unsigned device);

/* In the child of a fork. */
void shortage_forked(void);

#endif
