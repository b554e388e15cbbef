/* The opener's connection to the process that made a handle. Any thread, without a lock. */
#ifndef TESSERA_IPC_CLIENT_H
#define TESSERA_IPC_CLIENT_H

#include "driver/driver_types.h"
#include "direct/ipc/handle.h"

struct ipc_client {
    struct ipc_request request;
    uint64_t until_ns; /* of the whole conversation */
    int socket;        /* -1: none */
};

/*
 * Connects. INVALID_HANDLE: the process has ended, or did not make the handle. OPERATING_SYSTEM: no socket, or no
 * answer until until_ns.
 */
CUresult ipc_client_open(struct ipc_client *client, const struct ipc_handle *handle, uint64_t until_ns);

/*
 * Requests up to IPC_BATCH chunks from `first` on: a checked answer, and their descriptors, which the caller closes.
 * Errors: the exporter's, or as ipc_client_open().
 */
CUresult ipc_client_ask(struct ipc_client *client, uint32_t first, struct ipc_answer *answer,
                        int descriptors[IPC_BATCH]);

void ipc_client_close(struct ipc_client *client);

#endif
