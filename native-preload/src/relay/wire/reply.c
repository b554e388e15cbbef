/* Reply slots (RELAY.md, section 3): 64 calls of one client and device may wait at the same time. */
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "relay/wire/backoff.h"
#include "driver/clock.h"
#include "relay/wire/executor_notice.h"
#include "relay/wire/relay.h"
#include "driver/trace.h"

#define SPIN_NS 20000u
/*
 * After the spin the thread yields for this long, then sleeps. A futex costs some 20 us on both sides, as much as an
 * allocation by the driver, which is what programs wait for most.
 */
#define YIELD_NS 200000u
#define SPINS_BETWEEN_CLOCKS 16u
#define SLEEP_NS 100000000L         /* the link is checked at this interval */
#define UNANSWERED_NS 1000000000ULL /* how long a call of a lost context is still waited for */

_Static_assert(TESSERA_RELAY_SLOTS == 64, "one word of bits a link");

/* Bit i: slot i is taken. */
static uint64_t taken[TESSERA_MAX_DEVICES];
/* The slot that the thread had last: its lines are in this core's cache. */
static __thread uint8_t last_slot __attribute__((tls_model("initial-exec")));
/* The reply of a call that was given up: no out-data. */
static struct tessera_reply no_answer;

bool relay_slot_take(struct relay_link *link, struct relay_slot *slot)
{
    uint64_t *slots = &taken[link->device];
    struct relay_backoff backoff = {0};
    unsigned index = last_slot;
    while (__atomic_fetch_or(slots, 1ULL << index, __ATOMIC_ACQUIRE) & 1ULL << index) {
        uint64_t others = ~__atomic_load_n(slots, __ATOMIC_RELAXED);
        while (others == 0) {
            if (!relay_backoff_step(&backoff, link))
                return false;
            others = ~__atomic_load_n(slots, __ATOMIC_RELAXED);
        }
        index = (unsigned)__builtin_ctzll(others);
    }
    last_slot = (uint8_t)index;
    slot->index = index;
    slot->reply = (struct tessera_reply *)link->segment->reply[index];
    __atomic_store_n(&slot->reply->expected, slot->reply->expected + 1, __ATOMIC_RELEASE);
    return true;
}

void relay_slot_give(struct relay_link *link, struct relay_slot *slot)
{
    if (slot->index < TESSERA_RELAY_SLOTS)
        __atomic_fetch_and(&taken[link->device], ~(1ULL << slot->index), __ATOMIC_RELEASE);
}

static bool answered(const struct tessera_reply *reply)
{
    return __atomic_load_n(&reply->sequence, __ATOMIC_ACQUIRE) == reply->expected;
}

static bool spin(const struct tessera_reply *reply)
{
    uint64_t begin_ns = 0;
    for (unsigned i = 1;; i++) {
        if (answered(reply))
            return true;
        __builtin_ia32_pause();
        if (i % SPINS_BETWEEN_CLOCKS != 0)
            continue;
        uint64_t now_ns = monotonic_ns();
        if (begin_ns == 0)
            begin_ns = now_ns;
        else if (now_ns - begin_ns >= SPIN_NS + YIELD_NS)
            return false;
        else if (now_ns - begin_ns >= SPIN_NS)
            sched_yield();
    }
}

/* False: the executor is gone, or does not answer for a context that is lost. */
static bool sleep_until_answered(struct relay_link *link, struct tessera_reply *reply)
{
    struct timespec timeout = {0, SLEEP_NS};
    uint64_t lost_since_ns = 0;
    bool alive = true;
    __atomic_store_n(&reply->waiting, 1, __ATOMIC_SEQ_CST);
    while (!answered(reply) && alive) {
        uint32_t seen = __atomic_load_n(&reply->sequence, __ATOMIC_ACQUIRE);
        if (seen == reply->expected)
            break;
        syscall(SYS_futex, &reply->sequence, FUTEX_WAIT, seen, &timeout, NULL, 0);
        if (answered(reply))
            break;
        alive = relay_link_alive(link);
        if (alive && __atomic_load_n(&link->segment->context_error, __ATOMIC_RELAXED) != 0) {
            uint64_t now_ns = monotonic_ns();
            lost_since_ns = lost_since_ns ? lost_since_ns : now_ns;
            alive = now_ns - lost_since_ns < UNANSWERED_NS;
        }
    }
    __atomic_store_n(&reply->waiting, 0, __ATOMIC_RELAXED);
    return answered(reply);
}

CUresult relay_slot_wait(struct relay_link *link, struct relay_slot *slot)
{
    struct tessera_reply *reply = slot->reply;
    trace_waits.answers++;
    if (spin(reply) || sleep_until_answered(link, reply)) {
        CUresult result = reply->result;
        if (result != CUDA_SUCCESS)
            relay_notice(link); /* the executor writes there why it refuses a call */
        return result;
    }
    /* The answer may still come, so the slot is never given to another call. */
    slot->reply = &no_answer;
    slot->index = TESSERA_RELAY_SLOTS;
    CUresult state = relay_link_state(link);
    return state != CUDA_SUCCESS ? state : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult relay_query(struct relay_link *link, unsigned query, uint64_t value, void *out, size_t bytes)
{
    struct relay_slot slot;
    if (!relay_slot_take(link, &slot))
        return relay_link_state(link);
    struct relay_claimed claimed = relay_claim(link, TESSERA_RELAY_QUERY, sizeof value, RELAY_NO_END);
    if (!claimed.record) {
        relay_slot_give(link, &slot);
        return relay_link_state(link);
    }
    claimed.record->entry = (uint16_t)query;
    claimed.record->slot = slot.index + 1;
    claimed.record->context = relay_current && relay_current->link == link ? relay_current->number : 0;
    memcpy(claimed.body, &value, sizeof value);
    relay_commit(link, claimed);
    CUresult result = relay_slot_wait(link, &slot);
    size_t got = slot.reply->bytes < bytes ? slot.reply->bytes : bytes;
    if (out) {
        memcpy(out, slot.reply + 1, got);
        memset((char *)out + got, 0, bytes - got);
    }
    relay_slot_give(link, &slot);
    return result;
}
