#include "direct/turns/turns.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/manager_client.h"
#include "driver/clock.h"
#include "direct/turns/devices.h"
#include "direct/turns/turns_thread.h"
#include "direct/turns/gate.h"
#include "direct/turns/membarrier.h"
#include "direct/turns/residency.h"
#include "session/manager.h"
#include "session/segment.h"
#include "session/settings.h"

/* Bounds a waiter's sleep: after a lost wake-up it continues after this time. */
#define WAIT_SLICE_NS 100000000

static struct turn {
    pthread_mutex_t lock;
    uint64_t word;       /* the order that was applied last */
    bool ordered;        /* an order of the present manager has been applied */
    bool answered;       /* no work was submitted since the last answered CLOSED order, or at all */
    bool early;          /* the turn was given back early */
    bool opening;        /* the gate is to open once all memory is resident */
    bool paused;         /* turns_pause() keeps the gate closed, whatever the order */
    bool reopen;         /* while paused: whether the gate would be open by the order */
    uint64_t prefetched; /* the order for whose turn managed memory was fetched */
    uint64_t opening_ns; /* since when `opening` is set */
    uint64_t since_ns;
    uint64_t wait_from_ns;
    uint32_t gate_bell; /* futex: counts openings */
} turns[TESSERA_MAX_DEVICES];

static bool connected;

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static struct tessera_device *block(unsigned device)
{
    return &tessera_segment->devices[device];
}

void turns_prepare(void)
{
    for (int i = 0; i < TESSERA_MAX_DEVICES; i++)
        pthread_mutex_init(&turns[i].lock, NULL);
    membarrier_register();
}

static void answer(unsigned device, uint64_t word, unsigned state)
{
    __atomic_store_n(&block(device)->ack, (word & ~0xffULL) | state, __ATOMIC_RELEASE);
}

/* With the device's lock. */
static void open_gate(unsigned device)
{
    struct turn *turn = &turns[device];
    struct tessera_device *b = block(device);
    if (turn->paused) {
        turn->reopen = true;
        return;
    }
    uint64_t value = connected && b->pace_ns ? GATE_PACED : GATE_OPEN;
    __atomic_store_n(&b->gate, value, __ATOMIC_RELEASE);
    turn->answered = false;
    if (__atomic_exchange_n(&b->want_since_ns, 0, __ATOMIC_ACQ_REL) && turn->wait_from_ns)
        b->wait_ns += monotonic_ns() - turn->wait_from_ns;
    turn->wait_from_ns = 0;
    __atomic_fetch_add(&turn->gate_bell, 1, __ATOMIC_RELEASE);
    futex(&turn->gate_bell, FUTEX_WAKE, INT32_MAX, NULL);
}

static void close_gate(unsigned device)
{
    turns[device].reopen = false;
    __atomic_store_n(&block(device)->gate, GATE_CLOSED, __ATOMIC_SEQ_CST);
}

static bool prefetch_wanted(unsigned device)
{
    return (settings()->managed || settings()->automatic) && block(device)->managed_bytes != 0;
}

/* With the device's lock: a granted turn begins, and its managed memory has not been fetched. */
static bool prefetch_due(unsigned device)
{
    const struct turn *turn = &turns[device];
    return connected && turn->ordered && (turn->word & 0xff) == TESSERA_TURN_GRANTED &&
           turn->prefetched != turn->word && prefetch_wanted(device);
}

/* Opens the gate, at once or, under plans swap and managed, as soon as all memory is resident. True: at once. */
static bool open_when_resident(unsigned device)
{
    struct turn *turn = &turns[device];
    bool resident = !prefetch_due(device) && residency_open(device);
    if (!resident && !turn->opening)
        turn->opening_ns = monotonic_ns();
    turn->opening = !resident;
    if (resident)
        open_gate(device);
    return resident;
}

/* The turn that `word` granted is over. */
static void account_turn(unsigned device, uint64_t word, uint64_t now_ns)
{
    if ((word & 0xff) == TESSERA_TURN_GRANTED)
        block(device)->held_ns += now_ns - turns[device].since_ns;
}

static void apply_word(unsigned device, uint64_t word)
{
    struct turn *turn = &turns[device];
    uint64_t now_ns = monotonic_ns();
    bool was_open = turn->reopen || block(device)->gate != GATE_CLOSED;
    if (!turn->early)
        account_turn(device, turn->word, now_ns);
    turn->word = word;
    turn->ordered = true;
    turn->early = false;
    turn->since_ns = now_ns;
    if ((word & 0xff) == TESSERA_TURN_CLOSED) {
        turn->opening = false;
        close_gate(device);
        if (!was_open && turn->answered) {
            answer(device, word, TESSERA_ACK_CLOSED);
            manager_ring(device);
        } else {
            turn->answered = false;
            answer(device, word, TESSERA_ACK_DRAINING);
        }
    } else {
        if ((word & 0xff) == TESSERA_TURN_GRANTED)
            block(device)->turns++;
        if (!open_when_resident(device))
            return;
        answer(device, word, TESSERA_ACK_OPEN);
        manager_ring(device);
    }
}

void turns_resident(unsigned device)
{
    struct turn *turn = &turns[device];
    pthread_mutex_lock(&turn->lock);
    bool opened = turn->opening && open_when_resident(device);
    bool ordered = opened && connected && turn->ordered;
    if (ordered)
        answer(device, turn->word, TESSERA_ACK_OPEN);
    pthread_mutex_unlock(&turn->lock);
    if (ordered)
        manager_ring(device);
}

bool turns_prefetch_due(unsigned device)
{
    pthread_mutex_lock(&turns[device].lock);
    bool due = turns[device].opening && prefetch_due(device);
    pthread_mutex_unlock(&turns[device].lock);
    return due;
}

void turns_prefetched(unsigned device, uint64_t word)
{
    pthread_mutex_lock(&turns[device].lock);
    turns[device].prefetched = word;
    pthread_mutex_unlock(&turns[device].lock);
}

bool turns_refuse(unsigned device)
{
    struct turn *turn = &turns[device];
    pthread_mutex_lock(&turn->lock);
    bool refuse = connected ? residency_short(device) && block(device)->gate == GATE_CLOSED && !turn->reopen
                            : turn->opening && monotonic_ns() - turn->opening_ns > settings()->memory_wait_ns;
    if (refuse) /* the waiting submissions fail, so none waits any more */
        __atomic_store_n(&block(device)->want_since_ns, 0, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&turn->lock);
    return refuse;
}

void turns_apply(unsigned device)
{
    struct turn *turn = &turns[device];
    pthread_mutex_lock(&turn->lock);
    if (connected && devices_opened(device)) {
        struct tessera_device *b = block(device);
        uint64_t word = __atomic_load_n(&b->turn, __ATOMIC_ACQUIRE);
        if (word != turn->word || !turn->ordered)
            apply_word(device, word);
        else if (b->gate != GATE_CLOSED) /* the same order: the pace may have changed */
            __atomic_store_n(&b->gate, b->pace_ns ? GATE_PACED : GATE_OPEN, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&turn->lock);
    residency_orders(device);
    turns_thread_wake(device);
}

void turns_device_opened(unsigned device)
{
    struct turn *turn = &turns[device];
    pthread_mutex_lock(&turn->lock);
    turn->answered = true;
    residency_begin(device, connected);
    if (connected)
        close_gate(device);
    else
        open_gate(device);
    pthread_mutex_unlock(&turn->lock);
}

void turns_wait(unsigned device)
{
    struct turn *turn = &turns[device];
    struct tessera_device *b = block(device);
    uint32_t bell = __atomic_load_n(&turn->gate_bell, __ATOMIC_ACQUIRE);
    uint64_t from_ns = monotonic_ns();
    pthread_mutex_lock(&turn->lock);
    bool closed = b->gate == GATE_CLOSED;
    bool ask = closed && !turn->reopen && b->want_since_ns == 0; /* a pause is not reported to the manager */
    if (ask) {
        turn->wait_from_ns = from_ns;
        __atomic_store_n(&b->want_since_ns, from_ns, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&turn->lock);
    if (ask)
        manager_ring(device);
    if (closed) {
        struct timespec slice = {0, WAIT_SLICE_NS};
        futex(&turn->gate_bell, FUTEX_WAIT, bell, &slice);
        segment_count(TESSERA_COUNTER_GATE_WAITS, ask ? 1 : 0);
        segment_count(TESSERA_COUNTER_GATE_WAIT_NS, monotonic_ns() - from_ns);
    }
}

bool turns_freeze(uint64_t timeout_ns)
{
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++) {
        pthread_mutex_lock(&turns[i].lock);
        close_gate(i);
        pthread_mutex_unlock(&turns[i].lock);
    }
    uint64_t until_ns = monotonic_ns() + timeout_ns;
    membarrier_all();
    while (threads_inside_any()) {
        if (monotonic_ns() > until_ns)
            return false;
        usleep(50);
    }
    return true;
}

void turns_thaw(bool has_manager)
{
    __atomic_store_n(&connected, has_manager, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++) {
        pthread_mutex_lock(&turns[i].lock);
        if (turns[i].ordered && !turns[i].early)
            account_turn(i, turns[i].word, monotonic_ns());
        turns[i].ordered = false;
        turns[i].early = false;
        turns[i].word = 0;
        turns[i].answered = false; /* earlier work may still run, so the first CLOSED order is drained */
        turns[i].opening = false;
        if (!has_manager && devices_opened(i))
            open_when_resident(i);
        block(i)->want_since_ns = 0;
        pthread_mutex_unlock(&turns[i].lock);
        residency_orders(i);
        if (has_manager && devices_opened(i)) {
            answer(i, 0, TESSERA_ACK_DRAINING); /* the manager reads it before it lets another client in */
            manager_client_announce(i);
        } else if (turns[i].opening)
            turns_thread_wake(i);
    }
}

struct turn_view turns_view(unsigned device)
{
    struct turn *turn = &turns[device];
    pthread_mutex_lock(&turn->lock);
    unsigned state = turn->word & 0xff;
    struct turn_view view = {
        .word = turn->word,
        .connected = connected && turn->ordered,
        .drain_due = connected && turn->ordered && state == TESSERA_TURN_CLOSED && !turn->answered,
        .granted = connected && turn->ordered && state == TESSERA_TURN_GRANTED && !turn->early && !turn->opening,
        .opening = turn->opening,
        .since_ns = turn->since_ns,
    };
    pthread_mutex_unlock(&turn->lock);
    return view;
}

static bool current(const struct turn *turn, uint64_t word)
{
    return connected && turn->ordered && turn->word == word;
}

bool turns_set_gate(unsigned device, uint64_t word, bool open)
{
    struct turn *turn = &turns[device];
    pthread_mutex_lock(&turn->lock);
    bool same = current(turn, word);
    if (same && open)
        open_gate(device);
    else if (same)
        close_gate(device);
    pthread_mutex_unlock(&turn->lock);
    return same;
}

bool turns_drained(unsigned device, uint64_t word, uint64_t drain_ns)
{
    struct turn *turn = &turns[device];
    struct tessera_device *b = block(device);
    pthread_mutex_lock(&turn->lock);
    bool same = current(turn, word);
    if (same) {
        turn->answered = true;
        b->drains++;
        b->drain_ns += drain_ns;
        b->drain_last_ns = drain_ns;
        if (drain_ns > b->drain_max_ns)
            b->drain_max_ns = drain_ns;
        residency_drained(device);
        answer(device, word, TESSERA_ACK_CLOSED);
    }
    pthread_mutex_unlock(&turn->lock);
    if (same)
        manager_ring(device);
    return same;
}

void turns_pause(unsigned device)
{
    struct turn *turn = &turns[device];
    pthread_mutex_lock(&turn->lock);
    bool open = block(device)->gate != GATE_CLOSED;
    close_gate(device);
    turn->reopen |= open;
    turn->paused = true;
    pthread_mutex_unlock(&turn->lock);
}

void turns_resume(unsigned device)
{
    struct turn *turn = &turns[device];
    pthread_mutex_lock(&turn->lock);
    bool open = turn->paused && turn->reopen;
    turn->paused = turn->reopen = false;
    if (open)
        open_gate(device);
    pthread_mutex_unlock(&turn->lock);
}

bool turns_close_early(unsigned device, uint64_t word)
{
    struct turn *turn = &turns[device];
    pthread_mutex_lock(&turn->lock);
    bool same = current(turn, word);
    if (same)
        close_gate(device);
    pthread_mutex_unlock(&turn->lock);
    return same;
}

void turns_finish_early(unsigned device, uint64_t word, bool release)
{
    struct turn *turn = &turns[device];
    pthread_mutex_lock(&turn->lock);
    bool same = current(turn, word);
    if (same && release) {
        account_turn(device, word, monotonic_ns());
        turn->early = true;
        turn->answered = true;
        residency_drained(device);
        answer(device, word, TESSERA_ACK_RELEASED);
        segment_count(TESSERA_COUNTER_EARLY_RELEASES, 1);
    } else if (same) {
        open_gate(device);
    }
    pthread_mutex_unlock(&turn->lock);
    if (same && release)
        manager_ring(device);
}

void turns_forked(void)
{
    memset(turns, 0, sizeof turns);
    connected = false;
    turns_prepare();
}
