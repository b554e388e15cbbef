/*
 * What moves when: at the end of a turn what the manager's target no longer covers leaves, chunk by chunk; before the gate
 * opens all that is live comes back. Runs on the device's turns thread (drain.c).
 */
#ifndef TESSERA_MOVES_H
#define TESSERA_MOVES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How memory is had back that the program has freed and a layer above keeps: it is asked before contents leave the device. Without
 * a lock, by the turns thread; returns the bytes. Before the first device is opened.
 */
void moves_release_first(uint64_t (*release)(unsigned device));

/*
 * One round, as long as there is something to move and the targets allow it. `opening`: the gate is to open as soon as all
 * is resident. Returns how long the thread may sleep until the next round, in nanoseconds; UINT64_MAX: until it is woken.
 */
uint64_t moves_step(unsigned device, bool opening);

/* In the child of a fork. */
void moves_forked(void);

#endif
