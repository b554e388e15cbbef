/* How client and executors meet (RELAY.md, section 1). */
#ifndef TESSERA_RELAY_EXECUTOR_CONNECT_H
#define TESSERA_RELAY_EXECUTOR_CONNECT_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera_relay.h"

/* An executor that the manager named, and the connection to it. */
struct executor_connection {
    struct tessera_relay_answer answer;
    struct tessera_relay_segment *segment;
    int socket;
};

/* Takes one answer of the manager. Called by the manager client's thread. */
void executor_connect_answered(const struct tessera_relay_answer *answer);

/*
 * Asks the manager, and connects to every executor that it names. Waits at most 60 s for the names, since executors may
 * have to be started first. Returns the number of executors, in the manager's order; 0: none, and `reason` says why. Once
 * a process.
 */
unsigned executor_connect(struct executor_connection *connections, char *reason, size_t size);

/* Closes and unmaps a connection, for example to a device that the program does not see. */
void executor_disconnect(struct executor_connection *connection);

#endif
