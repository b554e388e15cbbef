/*
 * One thread per device, the turns thread, and the bell that wakes it: it is started when the bell first rings after the device
 * was opened, and does rounds of what bell_serves() was given. Any thread may ring.
 */
#ifndef TESSERA_BELL_H
#define TESSERA_BELL_H

#include <stdint.h>

/*
 * What the threads do: one round for the device, which returns how many nanoseconds may pass until the next one if the bell does
 * not ring. Before the first device is opened.
 */
void bell_serves(uint64_t (*round)(unsigned device));

/* Something changed for the device: its thread looks. Starts it if need be; never waits for it. */
void bell_ring(unsigned device);

/* In the child of a fork: no threads. */
void bell_forked(void);

#endif
