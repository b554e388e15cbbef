/*
 * The turns thread: one thread per device, which does rounds of what turns_thread_serves() was given. It starts when it is first
 * woken after the device was opened. Any thread may wake it.
 */
#ifndef TESSERA_TURNS_THREAD_H
#define TESSERA_TURNS_THREAD_H

#include <stdint.h>

/*
 * What the threads do: one round for the device, which returns how many nanoseconds may pass until the next one if the bell does
 * not ring. Before the first device is opened.
 */
void turns_thread_serves(uint64_t (*round)(unsigned device));

/* Something changed for the device: its thread looks. Starts it if need be; never waits for it. */
void turns_thread_wake(unsigned device);

/* In the child of a fork: no threads. */
void turns_thread_forked(void);

#endif
