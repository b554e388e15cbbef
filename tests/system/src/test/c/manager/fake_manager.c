/*
 * A manager that does what a broken, old or alien one might do.
 *     fake_manager DIRECTORY MODE [SEED]
 * Listens on DIRECTORY/manager.sock, says "listening", and treats every client by the mode until it is ended.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "tessera_relay.h"

static const char *mode;
static const char *directory;

static int is(const char *name)
{
    return strcmp(mode, name) == 0;
}

static int starts(const char *prefix)
{
    return strncmp(mode, prefix, strlen(prefix)) == 0;
}

static void say(const char *what)
{
    printf("%s\n", what);
    fflush(stdout);
}

static struct tessera_message head(unsigned type, unsigned bytes)
{
    return (struct tessera_message){TESSERA_MESSAGE_MAGIC, (uint16_t)type,
                                    is("version") ? TESSERA_ABI_VERSION + 1 : TESSERA_ABI_VERSION, bytes, 0};
}

static struct tessera_segment *make_segment(int *fd)
{
    *fd = memfd_create("segment", MFD_CLOEXEC);
    CHECK(*fd >= 0);
    OKAY(ftruncate(*fd, is("small-segment") ? 4096 : TESSERA_SEGMENT_BYTES));
    if (is("small-segment"))
        return NULL;
    struct tessera_segment *s = mmap(NULL, TESSERA_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    CHECK(s != MAP_FAILED);
    s->magic = is("segment-magic") ? 1 : TESSERA_ABI_MAGIC;
    s->device_slots = is("segment-slots") ? 999 : TESSERA_MAX_DEVICES;
    s->thread_slots = TESSERA_MAX_THREADS;
    s->segment_bytes = is("segment-bytes") ? 1 << 30 : TESSERA_SEGMENT_BYTES;
    s->client_id = 1;
    for (int i = 0; i < TESSERA_MAX_DEVICES; i++)
        s->devices[i].turn = is("good-closed") ? 0 : 1 << 8 | TESSERA_TURN_FREE;
    s->manager_heartbeat_ns = 1; /* long ago */
    s->version = is("segment-unfinished") ? 0 : is("segment-version") ? 77 : TESSERA_ABI_VERSION;
    return s;
}

static void send_with(int client, void *message, size_t bytes, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec data = {message, bytes};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    if (sendmsg(client, &m, MSG_NOSIGNAL) < 0)
        say("client gone");
}

static void welcome(int client, int fd, size_t bytes)
{
    struct tessera_welcome w = {
        .head = head(TESSERA_MSG_WELCOME, sizeof w), .client_id = 1, .segment_bytes = TESSERA_SEGMENT_BYTES};
    send_with(client, &w, bytes, fd);
}

static int listen_at(const char *name)
{
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory, name);
    unlink(address.sun_path);
    OKAY(bind(listener, (struct sockaddr *)&address, sizeof address));
    OKAY(listen(listener, 16));
    return listener;
}

/* The segment of an executor of another release. */
static int relay_segment(void)
{
    int fd = memfd_create("relay", MFD_CLOEXEC);
    CHECK(fd >= 0);
    OKAY(ftruncate(fd, sizeof(struct tessera_relay_segment)));
    struct tessera_relay_segment *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(s != MAP_FAILED);
    s->magic = TESSERA_RELAY_MAGIC;
    s->segment_bytes = sizeof *s;
    s->ring_bytes = TESSERA_RELAY_RING_BYTES * (is("good-relay-shape") ? 2 : 1);
    s->slots = TESSERA_RELAY_SLOTS;
    s->words = TESSERA_RELAY_WORDS;
    s->entries = 1; /* which no release has */
    s->version = TESSERA_RELAY_VERSION + (is("good-relay-newer") ? 1 : is("good-relay-older") ? -1u : 0);
    munmap(s, sizeof *s);
    return fd;
}

/* Names an executor to a client that asks for one, and is it. */
static void be_executor(int client)
{
    int listener = listen_at("executor.sock");
    struct tessera_relay_answer a = {.head = head(TESSERA_MSG_RELAY_ANSWER, sizeof a), .count = 1};
    snprintf(a.socket, sizeof a.socket, "%s/executor.sock", directory);
    if (send(client, &a, sizeof a, MSG_NOSIGNAL) < 0)
        say("client gone");
    int visitor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    char packet[4096];
    CHECK(visitor >= 0 && recv(visitor, packet, sizeof packet, 0) == sizeof(struct tessera_relay_hello));
    int fd = relay_segment();
    struct tessera_relay_welcome w = {.head = head(TESSERA_MSG_RELAY_WELCOME, sizeof w),
                                      .client_id = 1,
                                      .segment_bytes = sizeof(struct tessera_relay_segment) +
                                                       (is("good-relay-size") ? 4096 : 0)};
    send_with(visitor, &w, sizeof w, fd);
    say(recv(visitor, packet, sizeof packet, 0) == 0 ? "left" : "stayed");
    close(fd);
    close(visitor);
    close(listener);
}

static void rubbish(int client)
{
    unsigned char packet[4200];
    for (size_t i = 0; i < sizeof packet; i++)
        packet[i] = (unsigned char)random();
    size_t bytes = (size_t)random() % sizeof packet + 1;
    if (random() % 2 && bytes >= sizeof(struct tessera_message)) { /* looks right at first sight */
        struct tessera_message h = head((unsigned)random() % 12, random() % 2 ? (unsigned)bytes : (unsigned)random());
        memcpy(packet, &h, sizeof h);
    }
    if (send(client, packet, bytes, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
        perror("send");
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void after_welcome(int client, struct tessera_segment *s)
{
    if (is("good-then-rubbish"))
        for (int i = 0; i < 200; i++)
            rubbish(client);
    if (is("good-rubbish-words"))
        for (int i = 0; i < 50 && s; i++) {
            uint64_t value = (uint64_t)random() << 32 | (uint64_t)random();
            s->devices[0].turn = value;
            s->devices[0].pace_ns = (uint64_t)random();
            s->devices[0].flags = (uint64_t)random();
            struct tessera_doorbell bell = {head(TESSERA_MSG_DOORBELL, sizeof bell)};
            if (send(client, &bell, sizeof bell, MSG_NOSIGNAL) < 0)
                break;
            pause_ms(2);
        }
    if (is("good-then-close") || is("good-then-rubbish"))
        return;
    _Alignas(8) char packet[4096];
    while (recv(client, packet, sizeof packet, 0) > 0) /* hears everything, answers nothing else */
        if (starts("good-relay") && ((struct tessera_message *)(void *)packet)->type == TESSERA_MSG_RELAY_ASK)
            be_executor(client);
}

static void serve(int client)
{
    char hello[4096];
    if (is("close-at-once"))
        return;
    ssize_t n = recv(client, hello, sizeof hello, 0);
    if (n != sizeof(struct tessera_hello)) {
        say("no hello");
        return;
    }
    say("hello");
    if (is("close-after-hello"))
        return;
    if (is("silent")) {
        pause_ms(20000);
        return;
    }
    if (is("refuse")) {
        struct tessera_refused r = {.head = head(TESSERA_MSG_REFUSED, sizeof r),
                                    .code = TESSERA_REFUSED_VERSION,
                                    .reason = "this manager is older than you"};
        if (send(client, &r, sizeof r, MSG_NOSIGNAL) < 0)
            say("client gone");
        pause_ms(50);
        return;
    }
    if (is("rubbish")) {
        rubbish(client);
        pause_ms(50);
        return;
    }
    int fd = -1;
    struct tessera_segment *s = is("no-descriptor") ? NULL : make_segment(&fd);
    welcome(client, fd, is("short-welcome") ? 24 : sizeof(struct tessera_welcome));
    if (starts("good"))
        after_welcome(client, s);
    else
        pause_ms(50);
    if (fd >= 0)
        close(fd);
    if (s)
        munmap(s, TESSERA_SEGMENT_BYTES);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 3);
    directory = argv[1];
    mode = argv[2];
    srandom(argc > 3 ? (unsigned)atol(argv[3]) : 1);
    int listener = listen_at("manager.sock");
    say("listening");
    for (;;) {
        int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        CHECK(client >= 0);
        serve(client);
        close(client);
    }
}
