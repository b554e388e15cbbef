/*
 * The turns thread: one thread for each device, which runs rounds of the function of turns_thread_serves(). It starts
 * when it is first woken after the device was opened.
 */
#ifndef TESSERA_TURNS_THREAD_H
#define TESSERA_TURNS_THREAD_H

#include <stdint.h>

/*
 * Sets the function: one round for the device, which returns how many nanoseconds may pass until the next one if the
 * thread is not woken. To be set before the first device is opened.
 */
void turns_thread_serves(uint64_t (*round)(unsigned device));

/* Wakes the device's thread for another round, and starts it if need be. Never waits for it. Any thread. */
void turns_thread_wake(unsigned device);

/* In the child of a fork: there are no threads. */
void turns_thread_forked(void);

#endif
