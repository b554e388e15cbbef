/*
 * Handles of legacy IPC (CUipcMemHandle) for memory of plan swap, and the messages between exporter and opener. A
 * handle names the process that made it. The opener sends the handle to that process's socket and receives descriptors
 * of the memory.
 *
 * The socket (AF_UNIX, SOCK_SEQPACKET) is abstract, so it needs no directory and leaves no file. Both sides ask the
 * kernel for the other's identity (SO_PEERCRED): it must be the same user, and for the opener the process that the
 * handle names. A request consists of the handle and the number of the first chunk that is wanted; the server keeps no
 * state between requests. The answer has up to IPC_BATCH chunks from there on, with their descriptors (SCM_RIGHTS) in
 * the same order.
 */
#ifndef TESSERA_IPC_HANDLE_H
#define TESSERA_IPC_HANDLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tessera_entries.h"

#define IPC_MAGIC 0x4350492d53534554ULL /* "TESS-IPC"; the driver's handles do not begin with it */
#define IPC_VERSION 1
#define IPC_BATCH 16 /* descriptors in one answer: few compared with the usual limit of 1,024 open files */

struct ipc_handle {
    uint64_t magic;
    uint32_t version;
    uint32_t pid; /* of the exporter; pid, start_ticks and server name the process and its socket */
    uint64_t start_ticks;
    uint64_t server;    /* random */
    uint64_t id;        /* of the allocation, in the exporter */
    uint8_t secret[16]; /* random; proves that the opener has received the handle */
    uint64_t zero;
};
_Static_assert(sizeof(struct ipc_handle) == 64 && sizeof(struct tessera_value_64) == 64, "CU_IPC_HANDLE_SIZE");

struct ipc_request {
    struct ipc_handle handle;
    uint32_t first; /* number of a chunk */
    uint32_t zero;
};

struct ipc_answer {
    uint64_t magic;
    int32_t status;  /* CUresult; not 0: nothing else is filled in */
    uint32_t chunks; /* of the memory, in all */
    uint64_t bytes;  /* of all chunks */
    uint64_t offset; /* of the allocation in the chunks */
    uint64_t allocation_bytes;
    uint8_t device[16]; /* UUID */
    uint32_t sent;      /* chunks in this answer */
    uint32_t zero;
    uint64_t chunk_bytes[IPC_BATCH];
};

/* Whether the value is a handle of this library and version; if so, copies it. */
bool ipc_handle_ours(const struct tessera_value_64 *value, struct ipc_handle *handle);

/* Sets the address of the exporter's socket; returns its length. */
socklen_t ipc_address(const struct ipc_handle *handle, struct sockaddr_un *address);

/* Whether the process at the other end has this process's user and, if pid is not 0, this pid. */
bool ipc_peer_trusted(int socket, uint32_t pid);

#endif
