/* The registration socket, from the client's side (SPEC.md, sections 1 and 2). No state: descriptors in and out. */
#ifndef TESSERA_CONNECTION_H
#define TESSERA_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tessera_abi.h"

/* How the reason begins where a manager answers that it does not take the program. */
#define CONNECTION_REFUSED "the manager refused: "

static inline bool connection_refused(const char *reason)
{
    return strncmp(reason, CONNECTION_REFUSED, sizeof CONNECTION_REFUSED - 1) == 0;
}

/* The answer to HELLO. */
struct connection {
    int socket;     /* non-blocking; -1: none */
    int segment;    /* descriptor of the segment; -1: none */
    uint64_t bytes; /* of the segment */
    uint64_t client_id;
    bool reached;     /* a manager was there; without a socket, it did not register the client */
    char reason[256]; /* why there is no connection */
};

/* Connects to the manager of this user, else to root's, and registers; waits at most timeout_ms for the answer. */
struct connection connection_open(int timeout_ms);

/*
 * Asks the manager on a connection of its own whether this program shares by space; waits at most timeout_ms for the answer.
 * Without an answer, false.
 */
bool connection_ask_space(int timeout_ms);

/* Connects to the socket whose path is both joined, without waiting for anybody: a non-blocking socket, or -errno. */
int connection_to(const char *folder, const char *name);

/* Sends one message without waiting. 0, or -errno (-EAGAIN: the manager is slow; nothing was sent). */
int connection_send(int socket, struct tessera_message *message, uint16_t type, uint32_t bytes, uint32_t device);

/* As connection_send(), with a descriptor, which is duplicated for the peer; -1: none. */
int connection_send_with(int socket, struct tessera_message *message, uint16_t type, uint32_t bytes, uint32_t device,
                         int descriptor);

/*
 * Receives one message into a buffer of 4096 bytes, and the descriptor that may come with it (else left as it is; -EMFILE:
 * one came, and this program has none left for it), waiting at most timeout_ms: its size; 0: closed by the peer; -errno.
 */
int connection_receive_with(int socket, void *buffer, int *descriptor, int timeout_ms);

/* Whether the bytes are a message of this version: magic, length, device in range. */
bool connection_valid(const void *buffer, int size);

#endif
