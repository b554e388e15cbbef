/*
 * Chunks on their way between the device and the host. Page changes, copies and bookkeeping of different chunks go on at
 * the same time: memory is mapped ahead of the copies into it (pages.h), and given up while others are copied out. Runs on
 * the device's turns thread; what is to move says moves.c.
 */
#ifndef TESSERA_TRANSIT_H
#define TESSERA_TRANSIT_H

#include <stdbool.h>
#include <stdint.h>

/* Moves in one direction until nothing more is to be done, or can be. True: something was moved. Without the lock. */
bool transit_move(unsigned device, bool out);

/* With the lock: how much more than allowed is held, less what is leaving. */
uint64_t transit_excess(unsigned device);

/* So much without contents was given up; with `now` the manager hears of all that was freed. Without the lock. */
void transit_freed(unsigned device, uint64_t bytes, bool now);

/* With the lock: tells the manager what the device's memory does now. */
void transit_state(unsigned device, unsigned state);

/* When something last came in. */
uint64_t transit_came_in_ns(unsigned device);

/* Says once, on standard error, which may be a pipe that nobody reads, that a move failed. Without the lock. */
void transit_say_failure(unsigned device);

/* In the child of a fork. */
void transit_forked(void);

#endif
