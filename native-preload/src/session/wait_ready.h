/* Waiting for sockets of the library, whatever the program has made of its limits. */
#ifndef TESSERA_WAIT_READY_H
#define TESSERA_WAIT_READY_H

#include <poll.h>

/*
 * As poll(), also where the kernel refuses it: it takes no more entries than RLIMIT_NOFILE, which a program may set below what it has
 * open (a sandbox to 0). Then connected sockets are looked at every few ms, and a listening one is never ready: what it accepts would need a descriptor. -1 with errno set: EINTR,
 * or the kernel has no memory. Any thread.
 */
int wait_ready(struct pollfd *ready, unsigned count, int timeout_ms);

#endif
