#include "session/connection.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "driver/clock.h"
#include "driver/own_descriptor.h"
#include "session/process_start.h"
#include "session/settings.h"
#include "session/wait_ready.h"

#define MESSAGE_MAX 4096
#define MANAGER_SOCKET "/manager.sock"

int connection_to(const char *folder, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof address.sun_path)
        return -ENAMETOOLONG;
    int s = own_descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (s < 0)
        return -errno;
    if (connect(s, (struct sockaddr *)&address, sizeof address) == 0)
        return s;
    int error = errno;
    close(s);
    return -error;
}

/* Tries the directories of SPEC.md, section 1, in order. Returns a socket, or -errno of the first one, whose name is in `directory`. */
static int connect_somewhere(char *directory, size_t size)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (settings()->runtime_directory[0])
        snprintf(directory, size, "%s", settings()->runtime_directory);
    else if (geteuid() == 0)
        snprintf(directory, size, "/run/tessera");
    else if (runtime && *runtime)
        snprintf(directory, size, "%s/tessera", runtime);
    else
        snprintf(directory, size, "/tmp/tessera-%u", (unsigned)geteuid());
    int s = connection_to(directory, MANAGER_SOCKET);
    if (s < 0 && !settings()->runtime_directory[0] && geteuid() != 0) {
        int root = connection_to("/run/tessera", MANAGER_SOCKET);
        if (root >= 0)
            return root;
    }
    return s;
}

int connection_send(int socket, struct tessera_message *message, uint16_t type, uint32_t bytes, uint32_t device)
{
    return connection_send_with(socket, message, type, bytes, device, -1);
}

int connection_send_with(int socket, struct tessera_message *message, uint16_t type, uint32_t bytes, uint32_t device,
                         int descriptor)
{
    *message = (struct tessera_message){
        .magic = TESSERA_MESSAGE_MAGIC, .type = type, .version = TESSERA_ABI_VERSION, .bytes = bytes, .device = device};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } control = {{0}};
    struct iovec data = {message, bytes};
    struct msghdr packet = {.msg_iov = &data, .msg_iovlen = 1};
    if (descriptor >= 0) {
        control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), &descriptor, sizeof descriptor);
        packet.msg_control = control.bytes;
        packet.msg_controllen = sizeof control.bytes;
    }
    ssize_t sent = sendmsg(socket, &packet, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent == (ssize_t)bytes ? 0 : sent < 0 ? -errno : -EIO;
}

bool connection_valid(const void *buffer, int size)
{
    const struct tessera_message *head = buffer;
    return size >= (int)sizeof *head && head->magic == TESSERA_MESSAGE_MAGIC && head->version == TESSERA_ABI_VERSION &&
           head->bytes == (uint32_t)size && head->device < TESSERA_MAX_DEVICES;
}

int connection_receive_with(int socket, void *buffer, int *descriptor, int timeout_ms)
{
    struct pollfd ready = {.fd = socket, .events = POLLIN};
    uint64_t until_ns = monotonic_ns() + (uint64_t)timeout_ms * 1000000;
    int n;
    while ((n = wait_ready(&ready, 1, timeout_ms)) < 0 &&
           errno == EINTR) { /* signals of the program do not end the wait */
        uint64_t now_ns = monotonic_ns();
        timeout_ms = now_ns < until_ns ? (int)((until_ns - now_ns) / 1000000) : 0;
    }
    if (n <= 0)
        return n == 0 ? -ETIMEDOUT : -errno;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec data = {buffer, MESSAGE_MAX};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (size < 0)
        return -errno;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int))) {
        memcpy(descriptor, CMSG_DATA(c), sizeof(int));
        *descriptor = own_descriptor(*descriptor);
        if (*descriptor < 0)
            *descriptor = -errno;
    } else if (message.msg_flags & MSG_CTRUNC) {
        *descriptor = -EMFILE;
    }
    return (int)size;
}

static void take_answer(struct connection *c, const void *buffer, int size)
{
    const struct tessera_message *head = buffer;
    if (size == 0) {
        snprintf(c->reason, sizeof c->reason, "the manager closed the connection");
    } else if (size < 0) {
        snprintf(c->reason, sizeof c->reason, "no answer from the manager (%s)", strerror(-size));
    } else if (size >= (int)sizeof *head && head->magic == TESSERA_MESSAGE_MAGIC && head->type == TESSERA_MSG_REFUSED &&
               size == (int)sizeof(struct tessera_refused)) {
        const struct tessera_refused *refused = buffer; /* has the same layout in every version */
        snprintf(c->reason, sizeof c->reason, CONNECTION_REFUSED "%.*s", (int)sizeof refused->reason, refused->reason);
    } else if (!connection_valid(buffer, size) || head->type != TESSERA_MSG_WELCOME ||
               size != (int)sizeof(struct tessera_welcome)) {
        snprintf(c->reason, sizeof c->reason, "the manager answered with something else than version %u",
                 TESSERA_ABI_VERSION);
    } else if (c->segment < 0) {
        snprintf(c->reason, sizeof c->reason,
                 c->segment == -EMFILE ? "no descriptor is left for the manager's segment: raise the limit (ulimit -n)"
                                       : "the manager sent no segment");
    } else {
        const struct tessera_welcome *welcome = buffer;
        c->bytes = welcome->segment_bytes;
        c->client_id = welcome->client_id;
    }
}

/* False in a user namespace, where the real root appears as the overflow user. */
static bool knows_all_users(void)
{
    unsigned inside = 0, outside = 0, count = 0;
    FILE *map = fopen("/proc/self/uid_map", "re");
    bool is = map && fscanf(map, "%u %u %u", &inside, &outside, &count) == 3 && inside == outside && count == UINT32_MAX;
    if (map)
        fclose(map);
    return is;
}

/* A manager sees what its programs do, and its executors hold their data. So only managers of this user and of root are trusted. */
static bool is_trusted(int socket, uid_t *owner)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t bytes = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
        return false;
    *owner = peer.uid;
    return peer.uid == 0 || peer.uid == geteuid() || !knows_all_users();
}

struct connection connection_open(int timeout_ms)
{
    struct connection c = {.socket = -1, .segment = -1};
    char directory[sizeof settings()->runtime_directory];
    int s = connect_somewhere(directory, sizeof directory);
    if (s < 0) {
        snprintf(c.reason, sizeof c.reason, "no manager at %.180s (%s)", directory, strerror(-s));
        return c;
    }
    c.reached = true;
    uid_t owner = 0;
    if (!is_trusted(s, &owner)) {
        snprintf(c.reason, sizeof c.reason, "the manager at %.150s belongs to user %u, not to you or root: not used",
                 directory, owner);
        close(s);
        return c;
    }
    struct tessera_hello hello = {.pid = (uint32_t)getpid(),
                                  .plan = settings()->space     ? TESSERA_PLAN_RELAY
                                          : settings()->swap    ? TESSERA_PLAN_SWAP
                                          : settings()->managed ? TESSERA_PLAN_MANAGED
                                                                : TESSERA_PLAN_PLAIN,
                                  .start_ticks = process_start_ticks(),
                                  .limit_bytes = settings()->limit_bytes};
    memcpy(hello.tenant, settings()->tenant, sizeof hello.tenant);
    memcpy(hello.command, settings()->command, sizeof hello.command);
    _Alignas(8) char buffer[MESSAGE_MAX];
    int size = connection_send(s, &hello.head, TESSERA_MSG_HELLO, sizeof hello, 0);
    if (size == 0)
        size = connection_receive_with(s, buffer, &c.segment, timeout_ms);
    take_answer(&c, buffer, size);
    if (c.reason[0] == '\0') {
        c.socket = s;
        return c;
    }
    close(s);
    if (c.segment >= 0)
        close(c.segment);
    c.segment = -1;
    return c;
}

bool connection_ask_space(int timeout_ms)
{
    char directory[sizeof settings()->runtime_directory];
    uid_t owner = 0;
    int s = connect_somewhere(directory, sizeof directory), descriptor = -1, size = 0;
    if (s < 0)
        return false;
    struct tessera_sharing_ask ask = {.tenant = ""};
    memcpy(ask.tenant, settings()->tenant, sizeof ask.tenant);
    _Alignas(8) char buffer[MESSAGE_MAX];
    if (is_trusted(s, &owner) && connection_send(s, &ask.head, TESSERA_MSG_SHARING_ASK, sizeof ask, 0) == 0)
        size = connection_receive_with(s, buffer, &descriptor, timeout_ms);
    close(s);
    if (descriptor >= 0)
        close(descriptor);
    const struct tessera_sharing *answer = (const void *)buffer;
    return connection_valid(buffer, size) && answer->head.type == TESSERA_MSG_SHARING && size == (int)sizeof *answer &&
           answer->space == 1;
}
