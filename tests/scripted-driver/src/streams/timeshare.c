/*
 * The GPU's time. By default work of several processes overlaps: each takes its own time. With `slices` the processes
 * take turns of a slice through a word of the witness, and a change of process costs the switching time, as hardware
 * time-slicing does. Streams of one process share its slice.
 *
 * The word is end of the slice << 8 | witness slot of its owner, so owner and end change together.
 */
#include "script/clock.h"
#include "script/script.h"
#include "streams/stream.h"
#include "script/witness.h"

static const uint64_t poll_ns = 100000;

/* Takes or keeps the slice; answers its end, which is in the future. */
static uint64_t take_slice(struct witness_device *d)
{
    uint64_t self = witness_slot();
    bool yielded = false;
    for (;;) {
        uint64_t word = __atomic_load_n(&d->slice, __ATOMIC_ACQUIRE);
        uint64_t owner = word & 255, until = word >> 8, now = monotonic_ns();
        bool mine = word != 0 && owner == self;
        if (mine && now < until)
            return until;
        if (word != 0 && !mine && now < until && witness_slot_busy((unsigned)owner, (int)(d - witness->device))) {
            __atomic_store_n(&d->slice_wanted_ns, now, __ATOMIC_RELAXED);
            sleep_until_ns(until < now + poll_ns ? until : now + poll_ns);
            continue;
        }
        if (mine && !yielded && now - __atomic_load_n(&d->slice_wanted_ns, __ATOMIC_RELAXED) < 10 * poll_ns) {
            yielded = true; /* another process waits: let it take the slice */
            sleep_until_ns(now + 2 * poll_ns);
            continue;
        }
        uint64_t last = __atomic_load_n(&d->slice_last, __ATOMIC_RELAXED);
        uint64_t cost = last != 0 && last != self + 1 ? script.switch_ns : 0;
        until = now + cost + script.slice_ns;
        if (!__atomic_compare_exchange_n(&d->slice, &word, until << 8 | self, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(&d->slice_last, self + 1, __ATOMIC_RELAXED);
        if (cost)
            __atomic_fetch_add(&d->slice_switches, 1, __ATOMIC_RELAXED);
        return until;
    }
}

uint64_t timeshare_run(int device, uint64_t begin_ns, uint64_t duration_ns)
{
    if (!script.slices) {
        sleep_until_ns(begin_ns + duration_ns);
        return begin_ns + duration_ns;
    }
    uint64_t at = begin_ns, left = duration_ns;
    while (left > 0) {
        uint64_t until = take_slice(&witness->device[script.gpu[device]]);
        if (at < until - script.slice_ns) /* the slice begins only now, after the switch */
            at = until - script.slice_ns;
        uint64_t part = until > at ? until - at : 0;
        if (part > left)
            part = left;
        at += part;
        left -= part;
        sleep_until_ns(part ? at : until);
    }
    return at;
}
