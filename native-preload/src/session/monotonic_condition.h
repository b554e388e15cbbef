/* Condition variables with a deadline on CLOCK_MONOTONIC, which no one can set while a thread waits. */
#ifndef TESSERA_MONOTONIC_CONDITION_H
#define TESSERA_MONOTONIC_CONDITION_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* To be called once, before the first wait: a static initialiser cannot choose the clock. */
static inline void condition_prepare(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/*
 * Waits for a change, until until_ns (CLOCK_MONOTONIC); spurious wake-ups are possible. False: the deadline has passed. The
 * caller holds the lock, which is released during the wait.
 */
static inline bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / 1000000000ULL), (long)(until_ns % 1000000000ULL)};
    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}

#endif
