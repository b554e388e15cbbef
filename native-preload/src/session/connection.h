/* The client's side of the registration socket (SPEC.md, sections 1 and 2). Keeps no state. Any thread. */
#ifndef TESSERA_CONNECTION_H
#define TESSERA_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tessera_abi.h"

/* The beginning of the reason if a manager answers that it refuses the program. */
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
    bool reached;     /* a manager was there; if `socket` is -1, it did not register the client */
    char reason[256]; /* why there is no connection */
};

/* Connects to this user's manager, else to root's, and registers; waits at most timeout_ms. The caller owns both descriptors. */
struct connection connection_open(int timeout_ms);

/*
 * Asks the manager, on a separate connection, whether this program shares by space; waits at most timeout_ms for the answer.
 * False if there is none.
 */
bool connection_ask_space(int timeout_ms);

/* Connects to the socket at the path `folder` followed by `name`, without waiting. Returns a non-blocking socket, or -errno. */
int connection_to(const char *folder, const char *name);

/* Sends one message without waiting. Returns 0, or -errno (-EAGAIN: the socket is full, and nothing was sent). */
int connection_send(int socket, struct tessera_message *message, uint16_t type, uint32_t bytes, uint32_t device);

/* As connection_send(), with a descriptor of which the peer gets a duplicate; -1: none. */
int connection_send_with(int socket, struct tessera_message *message, uint16_t type, uint32_t bytes, uint32_t device,
                         int descriptor);

/*
 * Receives one message into a buffer of 4096 bytes; waits at most timeout_ms. Returns its size; 0: the peer has closed the
 * connection; or -errno. If a descriptor comes with it, it is stored in *descriptor and is the caller's; -EMFILE: this process
 * had no free descriptor for it. If none comes, *descriptor does not change.
 */
int connection_receive_with(int socket, void *buffer, int *descriptor, int timeout_ms);

/* Whether the bytes are a message of this version: checks magic, length and range of the device. */
bool connection_valid(const void *buffer, int size);

#endif
