/* How a thread waits for the executor: it spins, then yields, then sleeps. Between the steps it checks that the executor still lives. */
#ifndef TESSERA_RELAY_BACKOFF_H
#define TESSERA_RELAY_BACKOFF_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "driver/clock.h"
#include "relay/wire/relay.h"

#define RELAY_SPINS 400u           /* pauses of 10 to 50 ns: some 10 us, more than most answers take */
#define RELAY_YIELD_NS 20000000ULL /* covers most waits of a training step; other threads may use the core */
/* Then it sleeps. Sleeps grow with the wait, so that hundreds of waiting programs do not keep the machine busy. */
#define RELAY_SLEEP_NS 50000u
#define RELAY_LONGEST_SLEEP_NS 5000000u
#define RELAY_WAITED_FOR_SLEEP 64u /* a sleep is the wait so far divided by this */

struct relay_backoff {
    uint32_t round;
    uint64_t yielding_since_ns;
};

/* Whether the executor still lives, by its heartbeat; marks the link lost if not. Reads the clock. */
bool relay_link_alive(struct relay_link *link);

/* One step of waiting. False: the executor has ended, so there is nothing to wait for. */
static inline bool relay_backoff_step(struct relay_backoff *backoff, struct relay_link *link)
{
    if (__builtin_expect(backoff->round < RELAY_SPINS, 1)) {
        backoff->round++;
        __builtin_ia32_pause();
        return __atomic_load_n(&link->lost, __ATOMIC_RELAXED) == 0;
    }
    uint64_t now_ns = monotonic_ns();
    if (backoff->yielding_since_ns == 0)
        backoff->yielding_since_ns = now_ns;
    uint64_t waited_ns = now_ns - backoff->yielding_since_ns;
    if (waited_ns < RELAY_YIELD_NS) {
        sched_yield();
    } else {
        uint64_t sleep_ns = waited_ns / RELAY_WAITED_FOR_SLEEP;
        sleep_ns = sleep_ns < RELAY_SLEEP_NS ? RELAY_SLEEP_NS : sleep_ns;
        struct timespec pause = {0, (long)(sleep_ns < RELAY_LONGEST_SLEEP_NS ? sleep_ns : RELAY_LONGEST_SLEEP_NS)};
        nanosleep(&pause, NULL);
    }
    return relay_link_alive(link);
}

#endif
