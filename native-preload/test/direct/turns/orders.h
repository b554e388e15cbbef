/* A manager's orders to device 0, which the test writes into the segment, and what the client answers, there and at a socket. */
#ifndef TESSERA_ORDERS_H
#define TESSERA_ORDERS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "check.h"
#include "direct/turns/gate.h"
#include "direct/turns/turns.h"
#include "session/connection.h"
#include "session/manager.h"
#include "session/segment.h"

#define MS 1000000ULL

static int managers_end;
static uint64_t epoch;

static struct tessera_device *block(void)
{
    return &tessera_segment->devices[0];
}

/* Messages that the client has sent since it was last asked; all are of the type. */
static unsigned messages(uint16_t type)
{
    unsigned count = 0;
    for (;;) {
        _Alignas(8) char buffer[4096];
        int descriptor = -1, size = connection_receive_with(managers_end, buffer, &descriptor, 0);
        if (size == -ETIMEDOUT)
            return count;
        CHECK(size > 0 && connection_valid(buffer, size));
        const struct tessera_message *head = (const struct tessera_message *)(const void *)buffer;
        CHECK(head->type == type && head->device == 0);
        count++;
    }
}

static inline uint64_t order(unsigned state)
{
    uint64_t word = ++epoch << 8 | state;
    __atomic_store_n(&block()->turn, word, __ATOMIC_RELEASE);
    turns_apply(0);
    return word;
}

static inline bool answers(uint64_t word, unsigned state)
{
    return block()->ack == ((word & ~0xffULL) | state);
}

/* A manager connects. The gate stays closed until its first order; the device is announced again. */
static void manager_comes(void)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    managers_end = ends[1];
    CHECK(turns_freeze(1000 * MS) && block()->gate == GATE_CLOSED);
    manager_set_socket(ends[0]);
    turns_thaw(true);
    CHECK(block()->gate == GATE_CLOSED && messages(TESSERA_MSG_DEVICE) == 1);
}

#endif
