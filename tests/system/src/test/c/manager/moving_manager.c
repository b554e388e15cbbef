/*
 * A manager for one client at a time that takes its memory away and gives it back all the time.
 *     moving_manager DIRECTORY KEY=VALUE...
 * Keys: open_us, how long a turn lasts at most; seed; pinned, pageable: bytes of host memory the client may hold.
 * Listens on DIRECTORY/manager.sock and says "listening". Each round: the client is stopped, its target is lowered, to
 * nothing or by chance, until it holds no more than that; the target is raised, sometimes before its turn begins. When
 * the client is gone: "moved ROUNDS OUT_BYTES IN_BYTES FAILURES". A step that takes 60 s ends it with 3.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "tessera_abi.h"

#define STUCK_NS 60000000000ULL

static unsigned long long open_us = 5000, seed = 1, pinned = 1ULL << 30, pageable = 1ULL << 30;
static struct tessera_segment *segment;
static int client, gone;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void say(const char *what)
{
    printf("%s\n", what);
    fflush(stdout);
}

static struct tessera_message head(unsigned type, unsigned bytes, unsigned device)
{
    return (struct tessera_message){TESSERA_MESSAGE_MAGIC, (uint16_t)type, TESSERA_ABI_VERSION, bytes, device};
}

static void tell(const void *message, size_t bytes)
{
    if (send(client, message, bytes, MSG_NOSIGNAL) < 0)
        gone = gone || errno == EPIPE || errno == ECONNRESET;
}

static void ring(unsigned device)
{
    struct tessera_doorbell bell = {head(TESSERA_MSG_DOORBELL, sizeof bell, device)};
    tell(&bell, sizeof bell);
}

static void welcome(void)
{
    int fd = memfd_create("segment", MFD_CLOEXEC);
    CHECK(fd >= 0);
    OKAY(ftruncate(fd, TESSERA_SEGMENT_BYTES));
    segment = mmap(NULL, TESSERA_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(segment != MAP_FAILED);
    segment->magic = TESSERA_ABI_MAGIC;
    segment->device_slots = TESSERA_MAX_DEVICES;
    segment->thread_slots = TESSERA_MAX_THREADS;
    segment->segment_bytes = TESSERA_SEGMENT_BYTES;
    segment->client_id = 1;
    segment->manager_heartbeat_ns = UINT64_MAX / 2; /* never silent, however long a move takes on a busy machine */
    segment->version = TESSERA_ABI_VERSION;
    struct tessera_welcome w = {
        .head = head(TESSERA_MSG_WELCOME, sizeof w, 0), .client_id = 1, .segment_bytes = TESSERA_SEGMENT_BYTES};
    struct iovec part = {&w, sizeof w};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {{0}};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    CHECK(sendmsg(client, &message, MSG_NOSIGNAL) > 0);
    close(fd);
}

static void hear(const struct tessera_message *m)
{
    struct tessera_quota all = {head(TESSERA_MSG_QUOTA_ANSWER, sizeof all, m->device), UINT64_MAX};
    if (m->type == TESSERA_MSG_DEVICE) {
        struct tessera_residency *r = &segment->residency[m->device];
        r->pinned_target = pinned;
        r->pageable_target = pageable;
        r->resident_target = segment->devices[m->device].total_bytes;
        r->active = 1;
        segment->devices[m->device].registered = 1;
    }
    if (m->type == TESSERA_MSG_DEVICE || m->type == TESSERA_MSG_QUOTA_ASK)
        tell(&all, sizeof all);
}

/* Takes in what comes for this long; the heart beats. */
static void attend(uint64_t us)
{
    uint64_t until_ns = now_ns() + us * 1000;
    do {
        struct pollfd ready = {.fd = client, .events = POLLIN};
        uint64_t at_ns = now_ns();
        uint64_t left_ns = until_ns > at_ns ? until_ns - at_ns : 0;
        struct timespec t = {(time_t)(left_ns / 1000000000ULL), (long)(left_ns % 1000000000ULL)};
        _Alignas(8) char packet[4096];
        if (ppoll(&ready, 1, &t, NULL) <= 0)
            continue;
        ssize_t n = recv(client, packet, sizeof packet, 0);
        gone = gone || n <= 0;
        if (n >= (ssize_t)sizeof(struct tessera_message))
            hear((const void *)packet);
    } while (!gone && now_ns() < until_ns);
}

static uint64_t word(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}

static void order(unsigned device, unsigned state)
{
    struct tessera_device *d = &segment->devices[device];
    __atomic_store_n(&d->turn, ((d->turn >> 8) + 1) << 8 | state, __ATOMIC_SEQ_CST);
    ring(device);
}

static void set_target(unsigned device, uint64_t bytes)
{
    __atomic_store_n(&segment->residency[device].resident_target, bytes, __ATOMIC_SEQ_CST);
    ring(device);
}

static int acknowledged(unsigned device, unsigned state)
{
    uint64_t ack = word(&segment->devices[device].ack);
    return ack >> 8 == segment->devices[device].turn >> 8 && (ack & 0xff) == state;
}

/* Waits for one of the two; reports what holds it up. */
static void await(unsigned device, int closed, uint64_t at_most)
{
    uint64_t stuck_ns = now_ns() + STUCK_NS;
    const struct tessera_residency *r = &segment->residency[device];
    while (!gone && !(closed < 0 ? word(&r->resident_bytes) <= at_most
                                 : acknowledged(device, closed ? TESSERA_ACK_CLOSED : TESSERA_ACK_OPEN))) {
        attend(200);
        if (now_ns() < stuck_ns)
            continue;
        printf("stuck: %s, resident %llu of %llu, needed %llu, state %llu\n",
               closed < 0 ? "moving out"
               : closed   ? "closing"
                          : "opening",
               (unsigned long long)r->resident_bytes, (unsigned long long)r->resident_target,
               (unsigned long long)r->needed_bytes, (unsigned long long)r->state);
        exit(3);
    }
}

static void round_of(unsigned device)
{
    struct tessera_residency *r = &segment->residency[device];
    uint64_t total = segment->devices[device].total_bytes;
    order(device, TESSERA_TURN_CLOSED);
    await(device, 1, 0);
    uint64_t target = random() % 2 ? 0 : word(&r->needed_bytes) * (uint64_t)(random() % 100) / 100;
    set_target(device, target);
    await(device, -1, target);
    if (random() % 2) { /* ahead of its turn */
        set_target(device, total);
        attend((uint64_t)random() % 1000);
    }
    set_target(device, total);
    order(device, TESSERA_TURN_GRANTED);
    await(device, 0, 0);
    attend((uint64_t)random() % open_us);
}

static void serve(void)
{
    char hello[4096];
    unsigned long rounds = 0;
    uint64_t out = 0, in = 0, failures = 0;
    gone = 0;
    if (recv(client, hello, sizeof hello, 0) != sizeof(struct tessera_hello))
        return;
    welcome();
    while (!gone) {
        int any = 0;
        for (unsigned i = 0; i < TESSERA_MAX_DEVICES && !gone; i++)
            if (segment->devices[i].registered) {
                round_of(i);
                any = 1;
            }
        rounds += any;
        if (!any)
            attend(1000);
    }
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++) {
        out += segment->residency[i].moved_out_bytes;
        in += segment->residency[i].moved_in_bytes;
        failures += segment->residency[i].move_failures;
    }
    printf("moved %lu %llu %llu %llu\n", rounds, (unsigned long long)out, (unsigned long long)in,
           (unsigned long long)failures);
    fflush(stdout);
    munmap(segment, TESSERA_SEGMENT_BYTES);
}

static void read_arguments(int argc, char **argv)
{
    struct {
        const char *key;
        unsigned long long *value;
    } const keys[] = {{"open_us", &open_us}, {"seed", &seed}, {"pinned", &pinned}, {"pageable", &pageable}};
    for (int i = 2; i < argc; i++) {
        char *equal = strchr(argv[i], '=');
        size_t k = 0;
        CHECK(equal);
        while (k < sizeof keys / sizeof keys[0] &&
               (strncmp(keys[k].key, argv[i], (size_t)(equal - argv[i])) != 0 || keys[k].key[equal - argv[i]]))
            k++;
        CHECK(k < sizeof keys / sizeof keys[0]);
        *keys[k].value = strtoull(equal + 1, NULL, 10);
    }
    srandom((unsigned)seed);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    read_arguments(argc, argv);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/manager.sock", argv[1]);
    OKAY(bind(listener, (struct sockaddr *)&address, sizeof address));
    OKAY(listen(listener, 16));
    say("listening");
    for (;;) {
        client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        CHECK(client >= 0);
        serve();
        close(client);
    }
}
