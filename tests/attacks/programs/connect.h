/* Connections to the executor's socket, past the library. */
#ifndef ATTACKS_CONNECT_H
#define ATTACKS_CONNECT_H

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tessera_relay.h"

/* 0: the executor answered with a segment or memory; 1: it refused or closed; 2: it cannot be reached. */
static int connect_and_send(const void *message, size_t bytes)
{
    struct tessera_message head = {0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("ATTACK_EXECUTOR");
    int executor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), result = 1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path ? path : "");
    if (executor < 0 || connect(executor, (struct sockaddr *)&address, sizeof address) != 0)
        return 2;
    if (send(executor, message, bytes, MSG_NOSIGNAL) == (ssize_t)bytes) {
        struct pollfd answered = {executor, POLLIN, 0};
        if (poll(&answered, 1, 200) > 0 && recv(executor, &head, sizeof head, 0) == sizeof head &&
            (head.type == TESSERA_MSG_RELAY_WELCOME || head.type == TESSERA_MSG_PINNED))
            result = 0;
    }
    close(executor);
    return result;
}

static int connect_with_token(int number)
{
    struct tessera_relay_hello hello = {
        .head = {TESSERA_MESSAGE_MAGIC, TESSERA_MSG_RELAY_HELLO, TESSERA_ABI_VERSION, sizeof hello, 0}};
    for (int i = 0; i < TESSERA_RELAY_TOKEN; i++)
        hello.token[i] = number == 0 ? 0 : (uint8_t)random();
    return connect_and_send(&hello, sizeof hello);
}

static int connect_without_token(void)
{
    struct tessera_pin pin = {.head = {TESSERA_MESSAGE_MAGIC, TESSERA_MSG_PIN, TESSERA_ABI_VERSION, sizeof pin, 0},
                              .bytes = 4096};
    return connect_and_send(&pin, sizeof pin);
}

#endif
