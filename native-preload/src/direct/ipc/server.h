/*
 * The thread that gives descriptors of exported memory to other processes. It starts with the first export, waits only
 * at its socket, and holds no lock meanwhile. It is a thread of its own because the manager client's thread must never
 * call the driver, and the turns thread waits for the device.
 */
#ifndef TESSERA_IPC_SERVER_H
#define TESSERA_IPC_SERVER_H

#include <stdbool.h>

#include "direct/ipc/handle.h"

/* Answers a request. The server closes the descriptors after sending them. Called by the server's thread, without a lock. */
typedef void ipc_answers(const struct ipc_request *request, struct ipc_answer *answer, int descriptors[IPC_BATCH]);

/*
 * Starts the thread if needed, with the function that answers, and sets the fields of a handle that name this
 * process; the rest is 0. False: no socket, or no thread.
 */
bool ipc_server_start(struct ipc_handle *handle, ipc_answers *answers);

/* Whether the handle names this process's socket. */
bool ipc_server_is(const struct ipc_handle *handle);

/* In the child of a fork: there is no server. */
void ipc_server_forked(void);

#endif
