/* The limit on the client's side: without a manager the program's own, with one a lease. The test plays the manager, at a socket. */
#include "session/quota.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "driver/clock.h"
#include "session/connection.h"
#include "session/manager.h"
#include "session/segment.h"
#include "session/settings.h"

#define LIMIT 1000u
#define TIMEOUT_MS 300

static int managers_end;

static const struct tessera_device *block(unsigned device)
{
    return &tessera_segment->devices[device];
}

/* The next message that the client has sent. */
static struct tessera_quota sent(void)
{
    _Alignas(8) char buffer[4096];
    int descriptor = -1;
    int size = connection_receive_with(managers_end, buffer, &descriptor, 10000);
    CHECK(size == (int)sizeof(struct tessera_quota) && connection_valid(buffer, size));
    return *(struct tessera_quota *)buffer;
}

static void check_nothing_sent(void)
{
    char byte;
    CHECK(recv(managers_end, &byte, 1, MSG_DONTWAIT) < 0);
}

static void connect_manager(void)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    managers_end = ends[1];
    manager_set_socket(ends[0]);
}

static void own_limit(void)
{
    CHECK(quota_limit(0) == LIMIT && quota_take(0, 600) && quota_take(0, 400) && block(0)->used_bytes == LIMIT);
    CHECK(block(0)->granted_bytes == LIMIT);
    uint64_t refusals = tessera_segment->counters[TESSERA_COUNTER_LIMIT_REFUSALS];
    CHECK(!quota_take(0, 1) && !quota_take(0, UINT64_MAX));
    CHECK(block(0)->used_bytes == LIMIT && tessera_segment->counters[TESSERA_COUNTER_LIMIT_REFUSALS] == refusals + 2);
    CHECK(quota_take(1, LIMIT)); /* each device has its own */
    quota_give(1, LIMIT);
    quota_settled(0);
    quota_give(0, 400);
    CHECK(quota_used(0) == 600 && block(0)->peak_bytes == LIMIT && quota_take(0, 400));
    quota_give(0, 5000); /* never below 0 */
    CHECK(quota_used(0) == 0);
}

static void counts(void)
{
    quota_managed(0, 70);
    quota_managed(0, -30);
    CHECK(block(0)->managed_bytes == 40 && quota_used(0) == 0);
    quota_graph_memory(0, LIMIT + 500); /* the driver has it already */
    CHECK(quota_used(0) == LIMIT + 500 && !quota_take(0, 1));
    quota_graph_memory(0, 100);
    CHECK(quota_used(0) == 100 && quota_take(0, LIMIT - 100));
    quota_give(0, LIMIT - 100);
    quota_graph_memory(0, 0);
    CHECK(quota_used(0) == 0);
}

static void *take(void *bytes)
{
    return quota_take(0, *(uint64_t *)bytes) ? bytes : NULL;
}

static bool result_of(pthread_t thread)
{
    void *taken;
    CHECK(pthread_join(thread, &taken) == 0);
    return taken != NULL;
}

static void lease(void)
{
    pthread_t thread;
    uint64_t first = 100, more = 2000, much = 9000;
    connect_manager();
    quota_await_lease(0);
    CHECK(pthread_create(&thread, NULL, take, &first) == 0); /* waits for the lease, and does not ask */
    usleep(20000);
    CHECK(block(0)->used_bytes == 0);
    check_nothing_sent();
    quota_answer(0, 500);
    CHECK(result_of(thread) && block(0)->used_bytes == 100 && block(0)->granted_bytes == 500);
    check_nothing_sent();

    CHECK(pthread_create(&thread, NULL, take, &more) == 0); /* asks for what is missing; the own limit does not count */
    struct tessera_quota ask = sent();
    CHECK(ask.head.type == TESSERA_MSG_QUOTA_ASK && ask.head.device == 0 && ask.bytes == 1600);
    quota_answer(0, 2100);
    CHECK(result_of(thread) && block(0)->used_bytes == 2100 && block(0)->granted_bytes == 2100);

    CHECK(pthread_create(&thread, NULL, take, &much) == 0); /* asks once; the answer is final */
    CHECK(sent().bytes == 9000);
    quota_answer(0, 2100);
    CHECK(!result_of(thread) && block(0)->used_bytes == 2100);
    check_nothing_sent();
}

static void trimmed(void)
{
    quota_give(0, 1500);
    check_nothing_sent(); /* what is free stays leased until it is asked for */
    quota_trim(0);
    struct tessera_quota back = sent();
    CHECK(back.head.type == TESSERA_MSG_QUOTA_RETURN && back.bytes == 600 && block(0)->granted_bytes == 600);
}

/* Registered again with memory in use: the lease has to cover it. */
static void registered_again(void)
{
    quota_await_lease(0);
    quota_answer(0, 200);
    struct tessera_quota ask = sent();
    CHECK(ask.head.type == TESSERA_MSG_QUOTA_ASK && ask.bytes == 400);
    quota_answer(0, 600);
    check_nothing_sent();
}

/* If the manager goes away while a client waits, the program's own limit holds. */
static void manager_lost(void)
{
    pthread_t thread;
    uint64_t fits = LIMIT - 600;
    quota_answer(0, 700);
    CHECK(pthread_create(&thread, NULL, take, &fits) == 0);
    CHECK(sent().bytes == 300);
    quota_disconnected();
    CHECK(result_of(thread) && block(0)->used_bytes == LIMIT && block(0)->granted_bytes == LIMIT);
    CHECK(!quota_take(0, 1));
    check_nothing_sent();
    quota_give(0, LIMIT);
}

/* If the manager never answers, the client waits TIMEOUT_MS, as for a sign of life; then the program's own limit holds. */
static void no_lease(void)
{
    uint64_t begin_ns = monotonic_ns();
    quota_await_lease(2);
    CHECK(quota_take(2, LIMIT) && !quota_take(2, 1));
    CHECK(monotonic_ns() - begin_ns >= TIMEOUT_MS * 1000000ULL);
    check_nothing_sent();
}

static void forked(void)
{
    quota_await_lease(0);
    quota_forked();
    CHECK(quota_take(0, LIMIT) && !quota_take(0, 1));
    quota_give(0, LIMIT);
}

/* The settings are read before main(). */
static void ensure_settings(char **arguments)
{
    if (settings()->limit_bytes == LIMIT)
        return;
    setenv("TESSERA_MEMORY", "1000", 1);
    setenv("TESSERA_MANAGER_TIMEOUT_MS", "300", 1);
    execv("/proc/self/exe", arguments);
    CHECK(!"executed again");
}

int main(int count, char **arguments)
{
    (void)count;
    ensure_settings(arguments);
    alarm(HANGS_S);
    CHECK(segment_open());
    own_limit();
    counts();
    lease();
    trimmed();
    registered_again();
    manager_lost();
    no_lease();
    forked();
    return 0;
}
