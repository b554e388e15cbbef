/*
 * Moves chunks between the device and the host. Page changes, copies and bookkeeping of different chunks overlap:
 * memory is mapped ahead of copies in (mapping_threads.h), and released while other chunks are copied out. Runs on the
 * device's turns thread; candidates.c selects the chunks.
 */
#ifndef TESSERA_SWAP_PIPELINE_H
#define TESSERA_SWAP_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

/* Moves chunks in one direction until no more have to move, or no more can. True: a move was begun. Without the lock. */
bool pipeline_move(unsigned device, bool out);

/* With the lock: the bytes held beyond the target, without those that are leaving. */
uint64_t pipeline_excess(unsigned device);

/* Counts memory without contents as freed. `now`: tells the manager of all freed memory. Without the lock. */
void pipeline_freed(unsigned device, uint64_t bytes, bool now);

/* With the lock: publishes the state of the device's memory (TESSERA_RESIDENCY_*). */
void pipeline_state(unsigned device, unsigned state);

/* When a chunk last came in; 0: never. */
uint64_t pipeline_came_in_ns(unsigned device);

/* Reports a failed move on standard error, once for each device. Without the lock, because writing may block. */
void pipeline_say_failure(unsigned device);

/* In the child of a fork. */
void pipeline_forked(void);

#endif
