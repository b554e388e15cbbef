/*
 * A manager that plans residency, in a thread of the program under test: it registers the program through the real
 * socket and gives every lease; turns and targets are the test's own to order. For device 0.
 */
#ifndef RESIDENCY_MANAGER_H
#define RESIDENCY_MANAGER_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "tessera_abi.h"

static struct tessera_segment *manager_segment;
static int manager_listener = -1, manager_client = -1;
static uint32_t manager_bells;   /* the client's, counted */
static uint32_t manager_devices; /* devices announced so far */

static uint64_t manager_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static inline void manager_pause_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static inline struct tessera_residency *manager_words(void)
{
    return &manager_segment->residency[0];
}

static inline uint64_t manager_read(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline void manager_write(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static inline void manager_send(const void *message, size_t bytes)
{
    if (manager_client >= 0)
        send(manager_client, message, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static inline void manager_bell(void)
{
    struct tessera_doorbell bell = {{TESSERA_MESSAGE_MAGIC, TESSERA_MSG_DOORBELL, TESSERA_ABI_VERSION, sizeof bell, 0}};
    manager_send(&bell, sizeof bell);
}

static inline void manager_target(uint64_t bytes)
{
    manager_write(&manager_words()->resident_target, bytes);
    manager_bell();
}

static inline void manager_order(unsigned state)
{
    uint64_t *turn = &manager_segment->devices[0].turn;
    manager_write(turn, ((manager_read(turn) >> 8) + 1) << 8 | state);
    manager_bell();
}

/* Ends the test where the client does not answer within 30 s. */
static inline void manager_await_ack(unsigned state)
{
    const struct tessera_device *d = &manager_segment->devices[0];
    uint64_t wanted = (manager_read(&d->turn) & ~0xffULL) | state;
    for (uint64_t until = manager_now_ns() + 30000000000ULL; manager_read(&d->ack) != wanted; manager_pause_us(50))
        CHECK(manager_now_ns() < until);
}

static inline void manager_await_resident(uint64_t most)
{
    for (uint64_t until = manager_now_ns() + 30000000000ULL; manager_read(&manager_words()->resident_bytes) > most;
         manager_pause_us(50))
        CHECK(manager_now_ns() < until);
}

static inline void manager_welcome(int segment)
{
    struct tessera_welcome w = {.head = {TESSERA_MESSAGE_MAGIC, TESSERA_MSG_WELCOME, TESSERA_ABI_VERSION, sizeof w, 0},
                                .client_id = 1,
                                .segment_bytes = TESSERA_SEGMENT_BYTES};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec data = {&w, sizeof w};
    struct msghdr m = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(c), &segment, sizeof segment);
    CHECK(sendmsg(manager_client, &m, MSG_NOSIGNAL) > 0);
}

static inline void manager_hear(const struct tessera_message *head)
{
    if (head->type == TESSERA_MSG_DOORBELL)
        __atomic_fetch_add(&manager_bells, 1, __ATOMIC_RELAXED);
    if (head->type == TESSERA_MSG_DEVICE) {
        __atomic_fetch_add(&manager_devices, 1, __ATOMIC_RELEASE);
        struct tessera_quota lease = {
            {TESSERA_MESSAGE_MAGIC, TESSERA_MSG_QUOTA_ANSWER, TESSERA_ABI_VERSION, sizeof lease, head->device},
            UINT64_MAX};
        manager_send(&lease, sizeof lease);
    }
}

static void *manager_serve(void *unused)
{
    (void)unused;
    _Alignas(8) char packet[4096];
    int segment = memfd_create("segment", MFD_CLOEXEC);
    CHECK(segment >= 0);
    OKAY(ftruncate(segment, TESSERA_SEGMENT_BYTES));
    CHECK(mmap(manager_segment, TESSERA_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, segment, 0) ==
          manager_segment);
    struct tessera_segment *s = manager_segment;
    s->magic = TESSERA_ABI_MAGIC;
    s->device_slots = TESSERA_MAX_DEVICES;
    s->thread_slots = TESSERA_MAX_THREADS;
    s->segment_bytes = TESSERA_SEGMENT_BYTES;
    s->residency[0].active = 1;
    s->manager_heartbeat_ns = UINT64_MAX / 2; /* never silent */
    s->version = TESSERA_ABI_VERSION;
    manager_client = accept4(manager_listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(manager_client >= 0);
    CHECK(recv(manager_client, packet, sizeof packet, 0) == sizeof(struct tessera_hello));
    manager_welcome(segment);
    while (recv(manager_client, packet, sizeof packet, 0) > 0)
        manager_hear((const void *)packet);
    return NULL;
}

/* Before cuInit, or after manager_die(). The targets are 0: nothing may be resident, nothing swapped. */
static inline void manager_start(void)
{
    static pthread_t thread;
    const char *directory = getenv("TESSERA_RUNTIME_DIR");
    CHECK(directory);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/manager.sock", directory);
    manager_listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    unlink(address.sun_path); /* of one that died before */
    OKAY(bind(manager_listener, (struct sockaddr *)&address, sizeof address));
    OKAY(listen(manager_listener, 4));
    manager_segment = mmap(NULL, TESSERA_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(manager_segment != MAP_FAILED);
    OKAY(pthread_create(&thread, NULL, manager_serve, NULL));
}

/* The manager is gone, as when it was killed. */
static inline void manager_die(void)
{
    close(manager_listener);
    shutdown(manager_client, SHUT_RDWR);
}

#endif
