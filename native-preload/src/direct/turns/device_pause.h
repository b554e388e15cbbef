/*
 * A pause of a device: the program's work there is complete and no new work begins, while the process keeps its turn.
 * For changes of the program's memory that cannot wait for the turn's end, with or without a manager. The device's
 * turns thread makes the pause (drain.c), so that the requesting thread can stop waiting.
 */
#ifndef TESSERA_DEVICE_PAUSE_H
#define TESSERA_DEVICE_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Waits until the program's work on the device is complete and no capture is open there. From then on submissions wait
 * for device_pause_end(). False: not by until_ns (CLOCK_MONOTONIC), and there is no pause. The calling thread is in no
 * submission. Any thread; a second pause waits for the end of the first.
 */
bool device_pause_begin(unsigned device, uint64_t until_ns);

/* Ends the pause. Called by the thread that began it. */
void device_pause_end(unsigned device);

/* Turns thread, without a lock: makes a pause that was requested. */
void device_pause_step(unsigned device);

/* In the child of a fork. */
void device_pause_forked(void);

#endif
