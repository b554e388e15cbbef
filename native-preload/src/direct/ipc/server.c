#include "direct/ipc/server.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "driver/clock.h"
#include "driver/driver_types.h"
#include "driver/own_descriptor.h"
#include "session/own_thread.h"
#include "session/process_start.h"
#include "session/report.h"
#include "session/wait_ready.h"
#include "tessera_entries.h"

#define PEERS 16 /* connections served at once; others wait in the backlog */
#define BACKLOG 64
#define SILENCE_NS 10000000000ULL /* a connection without a request for this long is closed */
#define TICK_MS 1000              /* poll() does not return when its socket is closed, so the wait is bounded */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ipc_handle identity; /* the part of a handle that names this process; server 0: not started */
static int listening = -1;
static ipc_answers *answers;

/* Used by the server's thread alone. */
static struct {
    int socket;
    uint64_t heard_ns;
} peers[PEERS];
static unsigned peer_count;

static int open_socket(void)
{
    struct sockaddr_un address;
    socklen_t length = ipc_address(&identity, &address);
    int s = own_descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (s >= 0 && (bind(s, (struct sockaddr *)&address, length) != 0 || listen(s, BACKLOG) != 0)) {
        close(s);
        s = -1;
    }
    return s;
}

static void drop_peer(unsigned at)
{
    close(peers[at].socket);
    peers[at] = peers[--peer_count];
}

/* A daemon closes all descriptors, so the socket's number may now name another file. Opens a new socket, and closes nothing. */
static void listen_again(void)
{
    int s = open_socket();
    if (s >= 0)
        listening = s;
    else
        usleep(TICK_MS * 1000);
}

static void accept_peer(void)
{
    int s = own_descriptor(accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (s < 0 && (errno == EBADF || errno == ENOTSOCK || errno == EINVAL || errno == EOPNOTSUPP))
        listen_again();
    else if (s < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        usleep(TICK_MS * 1000); /* out of descriptors or memory: tries again */
    if (s < 0)
        return;
    if (!ipc_peer_trusted(s, 0)) {
        report_error(EPERM, "a process of another user asked for exported memory");
        close(s);
        return;
    }
    peers[peer_count].socket = s;
    peers[peer_count++].heard_ns = monotonic_ns();
}

/* False: the peer does not accept the answer. */
static bool send_answer(int socket, const struct ipc_answer *answer, const int *descriptors)
{
    union {
        char bytes[CMSG_SPACE(IPC_BATCH * sizeof(int))];
        struct cmsghdr head;
    } control = {{0}};
    struct iovec data = {(void *)answer, sizeof *answer};
    struct msghdr packet = {.msg_iov = &data, .msg_iovlen = 1};
    if (answer->sent) {
        control.head = (struct cmsghdr){CMSG_LEN(answer->sent * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), descriptors, answer->sent * sizeof(int));
        packet.msg_control = control.bytes;
        packet.msg_controllen = CMSG_SPACE(answer->sent * sizeof(int));
    }
    return sendmsg(socket, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *answer;
}

/* Answers one request. False: the peer is gone, or its request is malformed. */
static bool serve(int socket)
{
    struct ipc_request request;
    struct ipc_answer answer;
    int descriptors[IPC_BATCH];
    ssize_t size = recv(socket, &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR;
    if (size != (ssize_t)sizeof request)
        return false;
    answers(&request, &answer, descriptors);
    bool sent = send_answer(socket, &answer, descriptors);
    for (unsigned i = 0; i < answer.sent; i++)
        close(descriptors[i]);
    return sent;
}

static void serve_all(struct pollfd *ready, uint64_t now_ns)
{
    for (unsigned i = peer_count; i-- > 0;) { /* backwards: drop_peer() moves the last one, which is served already */
        bool asks = ready[i].revents != 0;
        if (asks)
            peers[i].heard_ns = now_ns;
        if ((asks && !serve(peers[i].socket)) || now_ns - peers[i].heard_ns > SILENCE_NS)
            drop_peer(i);
    }
}

static void *run(void *unused)
{
    (void)unused;
    own_thread_relax("the thread for exported memory");
    for (;;) {
        struct pollfd ready[PEERS + 1];
        unsigned count = peer_count;
        for (unsigned i = 0; i < count; i++)
            ready[i] = (struct pollfd){.fd = peers[i].socket, .events = POLLIN};
        ready[count] = (struct pollfd){.fd = count < PEERS ? listening : -1, .events = POLLIN};
        if (wait_ready(ready, count + 1, TICK_MS) < 0 && errno != EINTR) {
            usleep(TICK_MS * 1000); /* the kernel has no memory: tries again */
            continue;
        }
        serve_all(ready, monotonic_ns());
        if (ready[count].revents & (POLLNVAL | POLLERR | POLLHUP))
            listen_again();
        else if (ready[count].revents & POLLIN)
            accept_peer();
    }
    return NULL;
}

/* With the lock: opens the socket and starts the thread. */
static bool start(ipc_answers *by)
{
    answers = by;
    identity = (struct ipc_handle){
        .magic = IPC_MAGIC, .version = IPC_VERSION, .pid = (uint32_t)getpid(), .start_ticks = process_start_ticks()};
    if (getrandom(&identity.server, sizeof identity.server, 0) != (ssize_t)sizeof identity.server)
        identity.server = 0;
    listening = identity.server ? open_socket() : -1;
    bool started = listening >= 0 && own_thread_start("tessera-ipc", run, NULL);
    if (!started) {
        report_error(errno, "no socket or no thread to export memory with");
        if (listening >= 0)
            close(listening);
        listening = -1;
        identity.server = 0;
    }
    return started;
}

bool ipc_server_start(struct ipc_handle *handle, ipc_answers *by)
{
    pthread_mutex_lock(&lock);
    bool started = identity.server != 0 || start(by);
    *handle = identity;
    pthread_mutex_unlock(&lock);
    return started;
}

bool ipc_server_is(const struct ipc_handle *handle)
{
    pthread_mutex_lock(&lock);
    bool same = identity.server != 0 && handle->server == identity.server && handle->start_ticks == identity.start_ticks;
    pthread_mutex_unlock(&lock);
    return same;
}

void ipc_server_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    for (unsigned i = 0; i < peer_count; i++)
        close(peers[i].socket); /* copies that the child inherited */
    peer_count = 0;
    if (listening >= 0)
        close(listening);
    listening = -1;
    identity.server = 0;
}
