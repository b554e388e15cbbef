/*
 * A client that does not keep to the protocol.
 *     raw_client SOCKET MODE [SEED]
 *     raw_client SOCKET hoard|knock COUNT
 *     raw_client SOCKET late SECONDS
 * Says what the manager does with it: "refused CODE REASON", "welcome", "closed", or "nothing" after 20 s.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "tessera_abi.h"

static int manager;

static struct tessera_hello hello(void)
{
    struct tessera_hello h = {.head = {TESSERA_MESSAGE_MAGIC, TESSERA_MSG_HELLO, TESSERA_ABI_VERSION, sizeof h, 0},
                              .pid = (uint32_t)getpid()};
    strcpy(h.tenant, "raw");
    strcpy(h.command, "raw_client");
    return h;
}

static void post(const void *packet, size_t bytes)
{
    if (send(manager, packet, bytes, MSG_NOSIGNAL) < 0)
        printf("cannot send\n");
}

/* Reads until the connection ends or nothing comes for 20 s. */
static void report(int *descriptor)
{
    char buffer[4096];
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    for (;;) {
        struct pollfd p = {manager, POLLIN, 0};
        if (poll(&p, 1, 20000) == 0) {
            printf("nothing\n");
            return;
        }
        struct iovec data = {buffer, sizeof buffer};
        struct msghdr m = {
            .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
        ssize_t n = recvmsg(manager, &m, MSG_CMSG_CLOEXEC);
        if (n <= 0) {
            printf("closed\n");
            return;
        }
        const struct tessera_message *head = (const void *)buffer;
        const struct tessera_refused *refused = (const void *)buffer;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        if (head->type == TESSERA_MSG_REFUSED)
            printf("refused %u %.*s\n", refused->code, (int)sizeof refused->reason, refused->reason);
        else if (head->type == TESSERA_MSG_WELCOME && c) {
            printf("welcome\n");
            memcpy(descriptor, CMSG_DATA(c), sizeof(int));
            return;
        } else
            printf("message %u\n", head->type);
    }
}

static void random_packet(void)
{
    unsigned char packet[8192];
    for (size_t i = 0; i < sizeof packet; i++)
        packet[i] = (unsigned char)random();
    size_t bytes = (size_t)random() % 300 + 1;
    if (random() % 50 == 0)
        bytes = sizeof packet;
    if (random() % 4) {
        struct tessera_message h = {TESSERA_MESSAGE_MAGIC, (uint16_t)(random() % 11), TESSERA_ABI_VERSION,
                                    random() % 3 ? (uint32_t)bytes : (uint32_t)random(), (uint32_t)(random() % 20)};
        memcpy(packet, &h, bytes < sizeof h ? bytes : sizeof h);
    }
    if (send(manager, packet, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; /* the manager has closed: the expected answer */
}

static void check_segment(int fd)
{
    struct stat s;
    OKAY(fstat(fd, &s));
    EQUAL(TESSERA_SEGMENT_BYTES, s.st_size);
    EQUAL(0600, s.st_mode & 0777);
    EQUAL(getuid(), s.st_uid);
    const struct tessera_segment *g = mmap(NULL, TESSERA_SEGMENT_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(g != MAP_FAILED);
    CHECK(g->magic == TESSERA_ABI_MAGIC && g->version == TESSERA_ABI_VERSION);
    EQUAL(getpid(), g->client_pid);
    EQUAL(0, strcmp(g->tenant, "raw"));
    printf("segment\n");
}

static int connected(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int result = connect(s, (struct sockaddr *)&address, sizeof address);
    if (result != 0 && errno == EPROTOTYPE) { /* the control socket */
        close(s);
        s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        result = connect(s, (struct sockaddr *)&address, sizeof address);
    }
    OKAY(result);
    return s;
}

/* Connections that say nothing, all open at once, until standard input ends. */
static int hoard(const char *path, long count)
{
    for (long i = 0; i < count; i++)
        CHECK(connected(path) >= 0);
    printf("hoarded\n");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}

/*
 * A connection that says nothing for this long, as of a program that has no processor. Says whether it is open still.
 */
static int late(const char *path, long seconds)
{
    struct pollfd p = {connected(path), POLLIN, 0};
    printf("%s\n", poll(&p, 1, (int)seconds * 1000) == 0 ? "open" : "refused");
    return 0;
}

/* Connections one after the other, each with a packet that is refused. */
static int knock(const char *path, long count)
{
    struct tessera_hello h = hello();
    for (long i = 0; i < count; i++) {
        int s = connected(path), ended = 0;
        if (send(s, &h, 1, MSG_NOSIGNAL) < 0)
            return 1;
        while (recv(s, &ended, sizeof ended, 0) > 0)
            ;
        close(s);
    }
    printf("knocked\n");
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc >= 3);
    const char *mode = argv[2];
    if (strcmp(mode, "hoard") == 0)
        return hoard(argv[1], atol(argv[3]));
    if (strcmp(mode, "knock") == 0)
        return knock(argv[1], atol(argv[3]));
    if (strcmp(mode, "late") == 0)
        return late(argv[1], atol(argv[3]));
    srandom(argc > 3 ? (unsigned)atol(argv[3]) : 1);
    manager = connected(argv[1]);
    struct tessera_hello h = hello();
    int fd = -1;
    if (strcmp(mode, "good") == 0)
        post(&h, sizeof h);
    else if (strcmp(mode, "old-version") == 0) {
        h.head.version = 0;
        post(&h, sizeof h);
    } else if (strcmp(mode, "new-version") == 0) {
        h.head.version = TESSERA_ABI_VERSION + 1;
        post(&h, sizeof h);
    } else if (strcmp(mode, "magic") == 0) {
        h.head.magic = 7;
        post(&h, sizeof h);
    } else if (strcmp(mode, "length") == 0) {
        h.head.bytes = 8;
        post(&h, sizeof h);
    } else if (strcmp(mode, "short") == 0)
        post(&h, sizeof h - 4);
    else if (strcmp(mode, "empty") == 0)
        post(&h, 1);
    else if (strcmp(mode, "type") == 0) {
        h.head.type = 99;
        post(&h, sizeof h);
    } else if (strcmp(mode, "device-first") == 0) {
        struct tessera_device_message d = {
            .head = {TESSERA_MESSAGE_MAGIC, TESSERA_MSG_DEVICE, TESSERA_ABI_VERSION, sizeof d, 0}};
        post(&d, sizeof d);
    } else if (strcmp(mode, "device-range") == 0) {
        struct tessera_device_message d = {
            .head = {TESSERA_MESSAGE_MAGIC, TESSERA_MSG_DEVICE, TESSERA_ABI_VERSION, sizeof d, TESSERA_MAX_DEVICES}};
        post(&h, sizeof h);
        report(&fd);
        post(&d, sizeof d);
    } else if (strcmp(mode, "twice") == 0) {
        post(&h, sizeof h);
        report(&fd);
        post(&h, sizeof h);
    } else if (strcmp(mode, "flood") == 0) {
        if (random() % 2) {
            post(&h, sizeof h);
            report(&fd);
        }
        for (int i = 0; i < 200; i++)
            random_packet();
    } else
        CHECK(!"a known mode");
    report(&fd);
    if (fd >= 0 && strcmp(mode, "good") == 0)
        check_segment(fd);
    return 0;
}
