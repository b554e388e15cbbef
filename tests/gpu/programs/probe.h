/* What programs of probes share, each of which may end its context or hang: how they end, and how they make words that mean nothing. */
#ifndef PROGRAMS_PROBE_H
#define PROGRAMS_PROBE_H

#include <signal.h>
#include <unistd.h>

#include "driver.h"

/* The probe that runs, to find the one that hangs. */
static const char *running = "";

/* On SIGALRM: says so and ends the process with status 3, since nothing else ends what hangs. */
static inline void hangs(int signal)
{
    (void)signal;
    char line[128];
    int length = snprintf(line, sizeof line, "{\"probe\":\"%s\",\"ended\":\"hangs\"}\n", running);
    if (write(1, line, (size_t)length) < 0)
        _exit(4);
    _exit(3);
}

/* The same words for the same numbers, with bits that mean nothing. */
static inline uint64_t mixed(uint64_t value)
{
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

/* Lines come out one by one; from now on alarm() bounds a probe. */
static inline void probes_begin(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGALRM, hangs);
}

static inline const char *error_name(int result)
{
    const char *name = "?";
    if (result == 0)
        return "nothing";
    cuGetErrorName(result, &name);
    return name;
}

#endif
