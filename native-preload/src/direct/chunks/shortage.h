/*
 * Reports to the manager how much memory the device really has, since the manager's figure may differ (SPEC.md, section
 * 9.9): free memory as the driver reports it, and requests that the driver refused.
 */
#ifndef TESSERA_SHORTAGE_H
#define TESSERA_SHORTAGE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reports the driver's figure of free memory once a second, or five times a second while the gate waits for memory
 * (`waits`). Turns thread, without a lock.
 */
void shortage_sample(unsigned device, bool waits);

/*
 * The driver had no memory for a chunk. True: it has refused for some time, and `free_bytes` is its figure of
 * free memory. The caller then tries once more, and calls shortage_found() if that fails. Any thread, with a context of
 * the device current.
 */
bool shortage_lasts(unsigned device, uint64_t *free_bytes);
void shortage_found(unsigned device, uint64_t free_bytes);

/* The driver has given memory again. Any thread. */
void shortage_over(unsigned device);

/*
 * Reports a shortage to the manager, if one was found. To be called after the process has lowered what it holds, and
 * before it rings. Any thread.
 */
void shortage_tell(unsigned device);

/* In the child of a fork. */
void shortage_forked(void);

#endif
