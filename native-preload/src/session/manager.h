/* The connection to the manager, as far as threads send over it. Any thread; nothing here waits, but for a lock. */
#ifndef TESSERA_MANAGER_H
#define TESSERA_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera_abi.h"

/* Whether a manager governs this process now. */
bool manager_connected(void);

/* The connection's socket, for the thread that receives (manager_client.c); -1: none. */
int manager_socket(void);

/* The connection is this socket from now on, which the module owns; -1: there is none. The one before is closed. By the manager client's thread alone. */
void manager_set_socket(int socket);

/* Sends one message: 0, or -errno (-EAGAIN: the socket is full, and nothing was sent; -ENOTCONN: there is no manager). */
int manager_send(struct tessera_message *message, uint16_t type, uint32_t bytes, unsigned device);

/* Rings the manager's bell for the device. */
void manager_ring(unsigned device);

/* Takes the devices, a bit each, whose bell found a full socket and has to be rung again. */
uint32_t manager_unrung(void);

/* Sends a quota message. False: there is no manager, or its socket is full. */
bool manager_quota(uint16_t type, unsigned device, uint64_t bytes);

/* Asks the manager which executors serve this program (RELAY_ASK); the answers come to manager_client.relay_answer. */
bool manager_ask_relay(void);

/* In the child of a fork: no connection. */
void manager_forked(void);

#endif
