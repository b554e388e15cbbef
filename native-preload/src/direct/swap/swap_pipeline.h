/*
 * Moves chunks between the device and the host. Page changes, copies and bookkeeping of different chunks overlap:
 * memory is mapped ahead of copies in (mapping_threads.h), and released while other chunks are copied out. Runs on the
 * device's turns thread; moves.c chooses the chunks.
 */
#ifndef TESSERA_SWAP_PIPELINE_H
#define TESSERA_SWAP_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

/* Moves in one direction until nothing more is to be done, or can be. True: something was moved. Without the lock. */
bool pipeline_move(unsigned device, bool out);

/* With the lock: how much more than allowed is held, less what is leaving. */
uint64_t pipeline_excess(unsigned device);

/* So much without contents was given up; with `now` the manager hears of all that was freed. Without the lock. */
void pipeline_freed(unsigned device, uint64_t bytes, bool now);

/* With the lock: tells the manager what the device's memory does now. */
void pipeline_state(unsigned device, unsigned state);

/* When something last came in. */
uint64_t pipeline_came_in_ns(unsigned device);

/* Reports a failed move once on standard error. Without the lock, because writing may block. */
void pipeline_say_failure(unsigned device);

/* In the child of a fork. */
void pipeline_forked(void);

#endif
