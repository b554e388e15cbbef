/*
 * A standstill: the program's own work on a device has ended, none begins, and the process keeps its turn. For a change
 * under the program's memory that must happen now, with a manager or without one. The device's turns thread (drain.c)
 * brings it about, so that whoever asked for it can give up.
 */
#ifndef TESSERA_STANDSTILL_H
#define TESSERA_STANDSTILL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Waits until nothing of the program's runs on the device, and no capture is open; from then on submissions wait for
 * standstill_end(). False: not until until_ns (CLOCK_MONOTONIC), and all goes on. The calling thread is in no submission.
 */
bool standstill_begin(unsigned device, uint64_t until_ns);

/* The standstill is over. By the thread that began it. */
void standstill_end(unsigned device);

/* The turns thread: brings about what was asked for. Without a lock. */
void standstill_step(unsigned device);

/* In the child of a fork. */
void standstill_forked(void);

#endif
