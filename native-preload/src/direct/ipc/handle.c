#include "direct/ipc/handle.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool ipc_handle_ours(const struct tessera_value_64 *value, struct ipc_handle *handle)
{
    memcpy(handle, value, sizeof *handle);
    return handle->magic == IPC_MAGIC && handle->version == IPC_VERSION && handle->zero == 0;
}

socklen_t ipc_address(const struct ipc_handle *handle, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX}; /* an abstract name begins with a 0 byte */
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "tessera-ipc/%u/%llu/%016llx",
                          handle->pid, (unsigned long long)handle->start_ticks, (unsigned long long)handle->server);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

bool ipc_peer_trusted(int socket, uint32_t pid)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid() &&
           (pid == 0 || (uint32_t)peer.pid == pid);
}
