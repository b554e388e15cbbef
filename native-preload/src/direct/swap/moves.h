/*
 * Moves of plan swap. At the end of a turn, memory beyond the manager's target leaves the device, chunk by chunk.
 * Before the gate opens, all live memory comes back. Runs on the device's turns thread (drain.c).
 */
#ifndef TESSERA_MOVES_H
#define TESSERA_MOVES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sets a function that releases memory which the program has freed and an upper layer keeps. It is called before
 * contents leave the device, by the turns thread, without a lock, and returns the bytes. To be set before the first
 * device is opened.
 */
void moves_release_first(uint64_t (*release)(unsigned device));

/*
 * One round: moves until nothing is left to move, or the targets forbid more. `opening`: the gate is to open as soon as
 * all is resident. Returns how long the thread may sleep until the next round, in nanoseconds; UINT64_MAX: until woken.
 */
uint64_t moves_step(unsigned device, bool opening);

/* In the child of a fork. */
void moves_forked(void);

#endif
