#include "direct/ipc/client.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "direct/chunks/chunks.h"
#include "driver/clock.h"
#include "driver/own_descriptor.h"
#include "session/report.h"
#include "session/wait_ready.h"

#define CONNECT_AGAIN_US 1000
#define MOST_BYTES (1ULL << 46) /* more than any device has, so sums of sizes cannot overflow */

static CUresult unanswered(const struct ipc_handle *handle)
{
    report_error(ETIMEDOUT, "process %u, which exported memory, does not answer", handle->pid);
    return CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult ipc_client_open(struct ipc_client *client, const struct ipc_handle *handle, uint64_t until_ns)
{
    struct sockaddr_un address;
    socklen_t length = ipc_address(handle, &address);
    *client = (struct ipc_client){.request.handle = *handle, .until_ns = until_ns};
    client->socket = own_descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (client->socket < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    int failed = connect(client->socket, (struct sockaddr *)&address, length) ? errno : 0;
    while ((failed == EAGAIN || failed == EINTR) && monotonic_ns() < until_ns) { /* EAGAIN: a full backlog */
        usleep(CONNECT_AGAIN_US);
        failed = connect(client->socket, (struct sockaddr *)&address, length) ? errno : 0;
    }
    if (failed == 0 && ipc_peer_trusted(client->socket, handle->pid))
        return CUDA_SUCCESS;
    ipc_client_close(client);
    return failed == EAGAIN || failed == EINTR ? unanswered(handle) : CUDA_ERROR_INVALID_HANDLE;
}

static bool await_answer(const struct ipc_client *client)
{
    struct pollfd ready = {.fd = client->socket, .events = POLLIN};
    for (;;) {
        uint64_t now_ns = monotonic_ns();
        uint64_t left_ns = now_ns < client->until_ns ? client->until_ns - now_ns : 0;
        int n = wait_ready(&ready, 1, wait_ready_ms(left_ns + 999999)); /* rounded up */
        if (n > 0)
            return true;
        if (n == 0 || errno != EINTR)
            return false;
    }
}

/* Receives an answer; returns the number of its descriptors, or -1. The kernel closes those beyond IPC_BATCH. */
static int receive(int socket, struct ipc_answer *answer, int descriptors[IPC_BATCH])
{
    union {
        char bytes[CMSG_SPACE(IPC_BATCH * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec data = {answer, sizeof *answer};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    int count = 0;
    struct cmsghdr *c = size >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(c), (size_t)count * sizeof(int));
    }
    if (size == (ssize_t)sizeof *answer && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return count;
    while (count > 0)
        close(descriptors[--count]);
    return -1;
}

/* Answers of another process are checked before use. */
static bool is_valid(const struct ipc_answer *answer, uint32_t first, int descriptors)
{
    if (answer->magic != IPC_MAGIC || answer->status != CUDA_SUCCESS)
        return false;
    bool valid = answer->sent > 0 && answer->sent <= IPC_BATCH && (int)answer->sent == descriptors &&
                 first < answer->chunks && answer->sent <= answer->chunks - first && answer->bytes <= MOST_BYTES &&
                 answer->allocation_bytes > 0 && answer->allocation_bytes <= answer->bytes &&
                 answer->offset <= answer->bytes - answer->allocation_bytes;
    for (uint32_t i = 0; valid && i < answer->sent; i++)
        valid = answer->chunk_bytes[i] > 0 && answer->chunk_bytes[i] <= answer->bytes &&
                answer->chunk_bytes[i] % CHUNK_UNIT == 0;
    return valid;
}

CUresult ipc_client_ask(struct ipc_client *client, uint32_t first, struct ipc_answer *answer, int descriptors[IPC_BATCH])
{
    client->request.first = first;
    if (send(client->socket, &client->request, sizeof client->request, MSG_DONTWAIT | MSG_NOSIGNAL) !=
        (ssize_t)sizeof client->request)
        return CUDA_ERROR_INVALID_HANDLE; /* the exporter has ended, or is not the expected process */
    if (!await_answer(client))
        return unanswered(&client->request.handle);
    int count = receive(client->socket, answer, descriptors);
    if (count >= 0 && is_valid(answer, first, count))
        return CUDA_SUCCESS;
    CUresult error = count >= 0 && answer->magic == IPC_MAGIC && answer->status > 0 ? answer->status
                                                                                    : CUDA_ERROR_INVALID_HANDLE;
    while (count > 0)
        close(descriptors[--count]);
    return error;
}

void ipc_client_close(struct ipc_client *client)
{
    if (client->socket >= 0)
        close(client->socket);
    client->socket = -1;
}
