/* Sending over the connection to the manager. Any thread; nothing here waits, except for a lock. */
#ifndef TESSERA_MANAGER_H
#define TESSERA_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera_abi.h"

/* Whether this process has a connection to a manager now. */
bool manager_connected(void);

/* The connection's socket, for the receiving thread (manager_client.c); -1: none. */
int manager_socket(void);

/*
 * Replaces the connection by this socket, which the module then owns; -1: no connection. Closes the previous socket. Manager
 * client's thread only.
 */
void manager_set_socket(int socket);

/* Sends one message. Returns 0, or -errno (-EAGAIN: the socket is full, and nothing was sent; -ENOTCONN: there is no manager). */
int manager_send(struct tessera_message *message, uint16_t type, uint32_t bytes, unsigned device);

/* Sends a doorbell for the device. If the socket is full, the next tick sends it (manager_unrung). */
void manager_ring(unsigned device);

/* Returns, and forgets, the devices (one bit each) whose doorbell found a full socket and has to be sent again. */
uint32_t manager_unrung(void);

/* Sends a quota message. False: there is no manager, or its socket is full. */
bool manager_quota(uint16_t type, unsigned device, uint64_t bytes);

/* Asks the manager which executors serve this program (RELAY_ASK); the answers come to manager_client.relay_answer. */
bool manager_ask_relay(void);

/* In the child of a fork: no connection. */
void manager_forked(void);

#endif
