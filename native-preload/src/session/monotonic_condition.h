/* Conditions with a deadline by CLOCK_MONOTONIC, which cannot be set while a thread waits. */
#ifndef TESSERA_MONOTONIC_CONDITION_H
#define TESSERA_MONOTONIC_CONDITION_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Before the first wait, once: the attribute cannot be given to a static initialiser. */
static inline void condition_prepare(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/*
 * With the lock, released meanwhile: waits for a change; spurious wake-ups are possible. False: the time limit has
 * passed.
 */
static inline bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / 1000000000ULL), (long)(until_ns % 1000000000ULL)};
    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}

#endif
