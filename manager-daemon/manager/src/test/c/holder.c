/*
 * A client that registers with the manager at PATH, asks for a turn on one device, says "granted" when it has it, and
 * then holds it until it is killed. What a client must do beyond that (draining) it does not do.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tessera_abi.h"

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static struct tessera_message head(uint16_t type, uint32_t bytes)
{
    struct tessera_message h = {TESSERA_MESSAGE_MAGIC, type, TESSERA_ABI_VERSION, bytes, 0};
    return h;
}

static int receive_segment(int s)
{
    struct tessera_welcome welcome;
    struct iovec data = {&welcome, sizeof welcome};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(s, &message, 0) != sizeof welcome || welcome.head.type != TESSERA_MSG_WELCOME)
        fail("no WELCOME");
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    if (!rights || rights->cmsg_type != SCM_RIGHTS)
        fail("no descriptor");
    int fd;
    memcpy(&fd, CMSG_DATA(rights), sizeof fd);
    return fd;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[1]);
    if (connect(s, (struct sockaddr *)&address, sizeof address) != 0)
        fail("connect");
    struct tessera_hello hello = {.head = head(TESSERA_MSG_HELLO, sizeof hello), .pid = (uint32_t)getpid()};
    strcpy(hello.tenant, "holder");
    strcpy(hello.command, "holder");
    if (send(s, &hello, sizeof hello, 0) != sizeof hello)
        fail("HELLO");
    struct tessera_segment *segment = mmap(NULL, sizeof *segment, PROT_READ | PROT_WRITE, MAP_SHARED,
                                           receive_segment(s), 0);
    if (segment == MAP_FAILED || segment->magic != TESSERA_ABI_MAGIC || segment->version != TESSERA_ABI_VERSION)
        fail("segment");
    struct tessera_device *device = &segment->devices[0];
    struct tessera_device_message announce = {.head = head(TESSERA_MSG_DEVICE, sizeof announce),
                                              .total_bytes = 1ull << 36};
    memset(announce.uuid, 0x11, sizeof announce.uuid);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    device->want_since_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (send(s, &announce, sizeof announce, 0) != sizeof announce)
        fail("DEVICE");
    for (;;) {
        uint64_t turn = __atomic_load_n(&device->turn, __ATOMIC_ACQUIRE);
        if ((turn & 0xff) == TESSERA_TURN_GRANTED) {
            __atomic_store_n(&device->want_since_ns, 0, __ATOMIC_RELEASE);
            __atomic_store_n(&device->ack, turn >> 8 << 8 | TESSERA_ACK_OPEN, __ATOMIC_RELEASE);
            break;
        }
        struct pollfd ready = {s, POLLIN, 0};
        if (poll(&ready, 1, 10000) != 1)
            fail("no bell within 10 s");
        char packet[256];
        if (recv(s, packet, sizeof packet, 0) <= 0)
            fail("the manager is gone");
    }
    printf("granted\n");
    fflush(stdout);
    sleep(60);
    return 0;
}
