/* Waits for sockets of the library, independently of the program's limit on descriptors. */
#ifndef TESSERA_WAIT_READY_H
#define TESSERA_WAIT_READY_H

#include <limits.h>
#include <poll.h>
#include <stdint.h>

/*
 * As poll(), but works also if the kernel refuses it: poll() takes no more entries than RLIMIT_NOFILE, which a program may set
 * to less than it has open (a sandbox to 0). Then connected sockets are checked every 2 ms, and a listening socket is never
 * ready, because no descriptor is left to accept a connection. timeout_ms must not be negative. Returns -1 with errno set:
 * EINTR, or the kernel has no memory. Any thread.
 */
int wait_ready(struct pollfd *ready, unsigned count, int timeout_ms);

/* A time as timeout_ms: at most INT_MAX, some 24 days. Settings allow a year. */
static inline int wait_ready_ms(uint64_t ns)
{
    uint64_t ms = ns / 1000000ULL;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

#endif
