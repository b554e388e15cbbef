#include "session/manager_client.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver/clock.h"
#include "session/connection.h"
#include "session/manager.h"
#include "session/own_thread.h"
#include "session/quota.h"
#include "session/report.h"
#include "session/segment.h"
#include "session/settings.h"
#include "session/wait_ready.h"
#include "tessera_relay.h"

#define TICK_MS 250 /* heartbeat four times a second: the manager expects one a second */
#define HELD_RETRY_MS 100
#define RETRY_MS 500 /* all clients are back within a second of a new manager's start */
#define REFUSED_RETRY_MS 5000
#define LEAVE_NS                                                                                                       \
    200000000ULL /* a thread inside the driver for longer will hardly leave during the copy, which takes microseconds */
#define FREEZE_NS 2000000000ULL /* longer than any submission except a blocking copy of many gigabytes */

static const char GONE[] = "the manager is gone";

static char no_manager[256]; /* why the last registration by manager_client_start() failed; guarded by start_lock */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static bool started, warned;
static uint64_t listening_ns; /* the manager's silence counts from here on */
static uint64_t ticked_ns;
static uint64_t held_until_ns; /* the manager was killed, and gates keep their state until then; 0: otherwise */
static const struct manager_handlers *handlers; /* set before the thread starts */

static bool freeze(uint64_t timeout_ns)
{
    return !handlers->freeze || handlers->freeze(timeout_ns);
}

static void thaw(bool connected)
{
    if (handlers->thaw)
        handlers->thaw(connected);
}

static void look(void)
{
    if (handlers->look)
        handlers->look();
}

void manager_client_announce(unsigned device)
{
    const struct tessera_device *slot = &tessera_segment->devices[device];
    struct tessera_device_message message = {.total_bytes = slot->total_bytes, .ordinal = slot->ordinal};
    memcpy(message.uuid, slot->uuid, sizeof message.uuid);
    memcpy(message.name, slot->name, sizeof message.name);
    quota_await_lease(device);
    int result = manager_send(&message.head, TESSERA_MSG_DEVICE, sizeof message, device);
    if (result == -EAGAIN)
        report_error(-result, "the manager's socket was full when device %u was announced", device);
}

static void apply_orders(void)
{
    look();
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++)
        if (handlers->order && handlers->open && handlers->open(i))
            handlers->order(i);
}

/*
 * After the manager was killed, gates keep their state for a while: the client that has the turn keeps it, and the others
 * wait for the next manager. The last orders of the killed manager are still applied. False: gates do not stay, because
 * the manager has ended in order, or because this is space sharing, where no thread waits at a gate.
 */
static bool hold_gates(void)
{
    if (settings()->space || __atomic_load_n(&tessera_segment->manager_heartbeat_ns, __ATOMIC_ACQUIRE) == 0)
        return false; /* a manager that ends in order sets its heartbeat to 0 */
    manager_set_socket(-1);
    held_until_ns = monotonic_ns() + settings()->manager_timeout_ns;
    if (handlers->lost)
        handlers->lost();
    quota_disconnected();
    apply_orders();
    return true;
}

static void lose_manager(const char *why)
{
    manager_set_socket(-1);
    held_until_ns = 0;
    /* A count that a thread makes during the copy is lost. So this first gives threads time to leave the driver. */
    freeze(LEAVE_NS);
    segment_detach();
    if (handlers->lost)
        handlers->lost();
    look();
    quota_disconnected();
    thaw(false);
    segment_count(TESSERA_COUNTER_UNGATED, 1);
    report_error(0, "%s", why);
    report_line(settings()->space ? "%s: this program continues in its executor"
                                  : "%s: running without turns until it is back",
                why);
}

/*
 * How long to wait for a manager's answer. While gates keep their state, this is the time left of that state, so that a
 * manager that does not answer delays a client no longer than a manager that was killed.
 */
static uint64_t patience_ns(void)
{
    if (!held_until_ns)
        return settings()->manager_timeout_ns;
    uint64_t now_ns = monotonic_ns();
    return now_ns < held_until_ns ? held_until_ns - now_ns : 0;
}

enum registration { REGISTERED, ABSENT, REFUSED };

/* Registers; on failure writes the reason. The gates are closed while the segment changes. */
static enum registration try_register(char *reason, size_t size)
{
    struct connection c = connection_open(wait_ready_ms(patience_ns()));
    if (c.socket < 0) {
        memcpy(reason, c.reason, size < sizeof c.reason ? size : sizeof c.reason);
        return c.reached ? REFUSED : ABSENT;
    }
    int status = freeze(FREEZE_NS) ? segment_adopt(c.segment, c.bytes) : -EBUSY;
    close(c.segment);
    if (status != 0) {
        close(c.socket);
        if (held_until_ns) /* freeze() has closed the gates, so their state cannot be kept any longer */
            lose_manager(GONE);
        else
            thaw(false);
        const char *text = status == -EBUSY ? "a submission did not return in time" : strerror(-status);
        memcpy(reason, text, strlen(text) + 1);
        report_error(status, "the manager's segment could not be taken: %s", text);
        return REFUSED;
    }
    held_until_ns = 0;
    listening_ns = ticked_ns = monotonic_ns();
    tessera_segment->client_heartbeat_ns = listening_ns;
    manager_set_socket(c.socket);
    thaw(true);
    return REGISTERED;
}

/* `descriptor` came with the message; -1: none. It is closed unless a handler takes it. */
static void on_message(const void *buffer, int descriptor)
{
    const struct tessera_message *head = buffer;
    const struct tessera_quota *quota = buffer;
    const struct tessera_exchange *exchange = buffer;
    const struct tessera_shortage *shortage = buffer;
    if (head->type == TESSERA_MSG_EXCHANGE && head->bytes == sizeof *exchange &&
        exchange->end < TESSERA_EXCHANGE_ENDS && descriptor >= 0 && handlers->exchange) {
        handlers->exchange(head->device, exchange->end, descriptor);
        return;
    }
    if (descriptor >= 0)
        close(descriptor);
    if (head->type == TESSERA_MSG_DOORBELL) {
        look();
        if (handlers->order)
            handlers->order(head->device);
    } else if (head->type == TESSERA_MSG_QUOTA_ANSWER && head->bytes == sizeof *quota)
        quota_answer(head->device, quota->bytes);
    else if (head->type == TESSERA_MSG_QUOTA_TRIM && head->bytes == sizeof *quota)
        quota_trim(head->device);
    else if (head->type == TESSERA_MSG_SHORTAGE && head->bytes == sizeof *shortage)
        report_line("out of memory on GPU %u: %.*s", head->device, (int)sizeof shortage->reason, shortage->reason);
    else if (head->type == TESSERA_MSG_RELAY_ANSWER && head->bytes == sizeof(struct tessera_relay_answer) &&
             handlers->relay_answer)
        handlers->relay_answer(buffer);
    else
        report_error(0, "the manager sent a message of type %u and %u bytes: ignored", head->type, head->bytes);
}

/* Handles all messages that have arrived. Returns NULL, or why the manager is lost. */
static const char *receive_all(void)
{
    _Alignas(8) char buffer[4096];
    for (;;) {
        int descriptor = -1;
        int size = connection_receive_with(manager_socket(), buffer, &descriptor, 0);
        if (size == -ETIMEDOUT || size == -EAGAIN || size == -EINTR)
            return NULL;
        if (size <= 0)
            return GONE;
        if (!connection_valid(buffer, size)) {
            if (descriptor >= 0)
                close(descriptor);
            return "the manager sent a malformed message";
        }
        on_message(buffer, descriptor);
    }
}

/*
 * The periodic work: heartbeats, and orders. Orders are words in the segment; a doorbell only makes the client read them
 * earlier. Returns NULL, or why the manager is lost.
 */
static const char *tick(void)
{
    uint64_t now_ns = monotonic_ns();
    __atomic_store_n(&tessera_segment->client_heartbeat_ns, now_ns, __ATOMIC_RELAXED);
    uint64_t beat_ns = __atomic_load_n(&tessera_segment->manager_heartbeat_ns, __ATOMIC_RELAXED);
    /* If the machine was suspended or is overloaded, neither side could run. So the silence counts from here on. */
    bool slept = now_ns - ticked_ns > 4 * TICK_MS * 1000000ULL;
    ticked_ns = now_ns;
    if (slept)
        listening_ns = now_ns;
    if (beat_ns < listening_ns)
        beat_ns = listening_ns;
    if (beat_ns < now_ns && now_ns - beat_ns > settings()->manager_timeout_ns)
        return "the manager is silent";
    look();
    uint32_t bells = manager_unrung();
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++) {
        if (!handlers->open || !handlers->open(i))
            continue;
        if (handlers->order)
            handlers->order(i);
        if (bells & 1u << i)
            manager_ring(i);
    }
    return NULL;
}

static void attend(void)
{
    struct pollfd ready = {.fd = manager_socket(), .events = POLLIN};
    uint64_t next_tick_ns = 0;
    for (;;) {
        uint64_t now_ns = monotonic_ns();
        const char *lost = NULL;
        if (now_ns >= next_tick_ns) {
            lost = tick();
            next_tick_ns = now_ns + TICK_MS * 1000000ULL;
        }
        if (!lost && wait_ready(&ready, 1, (int)((next_tick_ns - now_ns) / 1000000ULL) + 1) > 0)
            lost = receive_all();
        if (lost) {
            if (lost != GONE || !hold_gates())
                lose_manager(lost);
            return;
        }
    }
}

static void *run(void *unused)
{
    (void)unused;
    enum registration last = ABSENT;
    for (;;) {
        if (manager_connected())
            attend();
        usleep((held_until_ns ? HELD_RETRY_MS : last == REFUSED ? REFUSED_RETRY_MS : RETRY_MS) * 1000);
        char reason[256];
        last = try_register(reason, sizeof reason);
        if (last == REGISTERED)
            segment_count(TESSERA_COUNTER_RECONNECTS, 1);
        else if (held_until_ns && monotonic_ns() >= held_until_ns)
            lose_manager(GONE);
    }
    return NULL;
}

bool manager_client_start(const struct manager_handlers *of)
{
    pthread_mutex_lock(&start_lock);
    if (settings()->wrong[0]) {
        if (!warned)
            report_line("%s; CUDA is refused", settings()->wrong);
        warned = true;
        pthread_mutex_unlock(&start_lock);
        return false;
    }
    char reason[256] = "";
    bool registered = manager_connected();
    if (!started) {
        handlers = of;
        if (handlers->prepare)
            handlers->prepare();
        registered = try_register(reason, sizeof reason) == REGISTERED;
        if (!registered)
            thaw(false);
        if (registered || !settings()->required)
            started = own_thread_start("tessera", run, NULL);
    }
    if (reason[0])
        memcpy(no_manager, reason, sizeof no_manager);
    /* In space sharing cuInit reports why it fails. */
    bool tells = (reason[0] && !settings()->space) || settings()->required;
    if (!registered && !warned && tells) {
        warned = true;
        report_line(settings()->required ? "%s, and TESSERA_REQUIRE is set: CUDA is refused"
                                         : "%s: running without turns",
                    reason[0] ? reason : GONE); /* registered earlier, and lost since */
    }
    pthread_mutex_unlock(&start_lock);
    return registered || !settings()->required;
}

void manager_client_absence_reason(char *to, size_t size)
{
    pthread_mutex_lock(&start_lock);
    snprintf(to, size, "%s", no_manager[0] ? no_manager : "no manager answers");
    pthread_mutex_unlock(&start_lock);
}

void manager_client_forked(void)
{
    manager_forked();
    held_until_ns = 0;
    pthread_mutex_init(&start_lock, NULL);
    started = false;
    warned = false;
}
