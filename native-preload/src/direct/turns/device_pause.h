/*
 * A pause of the device: the program's work on the device has ended, no new work begins, and the process keeps its
 * turn. Used for changes of the program's memory that cannot wait for a turn's end, with or without a manager. The
 * device's turns thread (drain.c) brings the pause about, so that the requesting thread can give up.
 */
#ifndef TESSERA_DEVICE_PAUSE_H
#define TESSERA_DEVICE_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Waits until nothing of the program's runs on the device, and no capture is open; from then on submissions wait for
 * device_pause_end(). False: not until until_ns (CLOCK_MONOTONIC), and all goes on. The calling thread is in no submission.
 */
bool device_pause_begin(unsigned device, uint64_t until_ns);

/* The pause is over. By the thread that began it. */
void device_pause_end(unsigned device);

/* The turns thread: brings about what was asked for. Without a lock. */
void device_pause_step(unsigned device);

/* In the child of a fork. */
void device_pause_forked(void);

#endif
