#include "session/wait_ready.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "driver/clock.h"

#define LOOK_US 2000

/* What poll() would return in revents for one socket. */
static short state(int socket, short events)
{
    char byte;
    ssize_t got = recv(socket, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0)
        return events & POLLIN;
    if (got == 0)
        return (events & (POLLIN | POLLRDHUP)) | POLLHUP;
    switch (errno) {
    case EAGAIN:
    case EINTR:
    case ENOTCONN: /* a listening socket */
    case EINVAL:
        return 0;
    case EBADF:
    case ENOTSOCK:
        return POLLNVAL;
    default:
        return POLLERR;
    }
}

static int look(struct pollfd *ready, unsigned count)
{
    int found = 0;
    for (unsigned i = 0; i < count; i++) {
        ready[i].revents = ready[i].fd < 0 ? 0 : state(ready[i].fd, ready[i].events);
        found += ready[i].revents != 0;
    }
    return found;
}

int wait_ready(struct pollfd *ready, unsigned count, int timeout_ms)
{
    int found = poll(ready, count, timeout_ms);
    if (found >= 0 || errno != EINVAL)
        return found;
    uint64_t until_ns = monotonic_ns() + (uint64_t)timeout_ms * 1000000;
    while ((found = look(ready, count)) == 0 && monotonic_ns() < until_ns)
        usleep(LOOK_US);
    return found;
}
