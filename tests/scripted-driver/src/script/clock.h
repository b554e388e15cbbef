/* The clock of the machine, as all processes of a test read it. */
#ifndef SCRIPTED_CLOCK_H
#define SCRIPTED_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static inline void sleep_until_ns(uint64_t when_ns)
{
    struct timespec t = {(time_t)(when_ns / 1000000000ULL), (long)(when_ns % 1000000000ULL)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

#endif
