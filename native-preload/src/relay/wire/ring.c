/* The command ring (RELAY.md, section 2), from the producer's side. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver/clock.h"
#include "relay/wire/backoff.h"
#include "relay/wire/relay.h"

#define ALIGNMENT 16u

/* Fills the end of the ring, where the next record does not fit. */
static void pad(struct tessera_record *filler, uint64_t bytes)
{
    __atomic_store_n(&filler->length, -(int32_t)bytes, __ATOMIC_RELEASE);
    filler->kind = TESSERA_RELAY_PADDING;
    __atomic_store_n(&filler->length, (int32_t)bytes, __ATOMIC_RELEASE);
}

struct relay_claimed relay_claim(struct relay_link *link, unsigned kind, size_t bytes, uint64_t until_ns)
{
    struct tessera_relay_segment *segment = link->segment;
    int32_t length = (int32_t)(sizeof(struct tessera_record) + bytes);
    uint64_t room = ((uint64_t)length + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    struct relay_backoff backoff = {0};
    struct relay_claimed claimed = {0};
    uint64_t at = __atomic_load_n(&segment->claimed, __ATOMIC_RELAXED);
    bool alive = __atomic_load_n(&link->lost, __ATOMIC_RELAXED) == 0;
    while (alive && !claimed.record) {
        uint64_t place = at & (TESSERA_RELAY_RING_BYTES - 1);
        uint64_t padding = place + room > TESSERA_RELAY_RING_BYTES ? TESSERA_RELAY_RING_BYTES - place : 0;
        uint64_t end = at + padding + room;
        /* Acquire: the room was zeroed before `consumed` went past it. */
        if (end - __atomic_load_n(&segment->consumed, __ATOMIC_ACQUIRE) > TESSERA_RELAY_RING_BYTES) {
            alive = relay_backoff_step(&backoff, link) && (until_ns == RELAY_NO_END || monotonic_ns() < until_ns);
            at = __atomic_load_n(&segment->claimed, __ATOMIC_RELAXED);
        } else if (__atomic_compare_exchange_n(&segment->claimed, &at, end, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            if (padding)
                pad((struct tessera_record *)(segment->ring + place), padding);
            struct tessera_record *record = (struct tessera_record *)(segment->ring + (padding ? 0 : place));
            __atomic_store_n(&record->length, -length, __ATOMIC_RELEASE);
            record->kind = (uint16_t)kind;
            claimed = (struct relay_claimed){record, record + 1, length, {end - room, end}};
        }
    }
    return claimed;
}

void relay_commit(struct relay_link *link, struct relay_claimed claimed)
{
    struct tessera_relay_segment *segment = link->segment;
    /* An exchange is the release store and the full fence in one: `parked` is read after the length can be seen. */
    __atomic_exchange_n(&claimed.record->length, claimed.length, __ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(&segment->parked, __ATOMIC_RELAXED) != 0, 0) &&
        __atomic_exchange_n(&segment->parked, 0, __ATOMIC_SEQ_CST) != 0)
        syscall(SYS_futex, &segment->parked, FUTEX_WAKE, 1, NULL, NULL, 0);
}
