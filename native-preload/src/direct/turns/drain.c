#include "direct/turns/drain.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "direct/turns/turns_thread.h"
#include "direct/turns/capture.h"
#include "driver/clock.h"
#include "direct/turns/devices.h"
#include "direct/turns/membarrier.h"
#include "direct/turns/device_pause.h"
#include "session/manager.h"
#include "session/threads.h"
#include "direct/turns/turns.h"

#define SAMPLE_NS 2000000ULL /* 500 samples a second measure a share to within 5 % in one second */
#define LONG_WAIT_NS 1000000000ULL
#define SHORT_IDLE_NS 20000000ULL /* for a longer idle_release_ns, the device is checked every LOOK_NS */
#define LOOK_NS 5000000ULL
#define INSIDE_POLL_US 20 /* most submissions return within microseconds; a blocking copy may take long */
#define CAPTURE_POLL_US 200
#define STUCK_US 100 /* a launch returns within some microseconds */

static struct drainer {
    uint64_t word;             /* the turn to which all but `sampled_ns` belongs */
    uint64_t seen_submissions; /* number of submissions at quiet_since_ns */
    uint64_t quiet_since_ns;
    uint64_t looked_ns; /* time of the last check whether work runs */
    uint64_t idle_ns;   /* sum of the turn's pauses */
    uint64_t sampled_ns;
    bool settled; /* the contexts were synchronised after the last submission */
} drainers[TESSERA_MAX_DEVICES];
static const struct turn_memory *memory;

static bool still(unsigned device, uint64_t word)
{
    struct turn_view view = turns_view(device);
    return view.connected && view.word == word;
}

/* Gate closed: waits until no submission is inside the driver. False: the order changed. */
static bool wait_outside(unsigned device, uint64_t word)
{
    membarrier_all();
    while (threads_inside(device)) {
        if (!still(device, word))
            return false;
        usleep(INSIDE_POLL_US);
    }
    return true;
}

/* No turn ends inside a capture: reopens the gate until no capture is open. False: the order changed. */
static bool wait_captured(unsigned device, uint64_t word)
{
    while (capture_open(device)) {
        if (!turns_set_gate(device, word, true))
            return false;
        while (capture_open(device)) {
            if (!still(device, word))
                return false;
            usleep(CAPTURE_POLL_US);
        }
        if (!turns_set_gate(device, word, false) || !wait_outside(device, word))
            return false;
    }
    return true;
}

/* Gate closed, no submission inside the driver: waits until the contexts are idle. */
static void settle(unsigned device)
{
    uint64_t moment = memory->moment();
    devices_synchronise(device);
    memory->settled(device, moment);
}

static void drain(unsigned device, struct turn_view view)
{
    if (!wait_outside(device, view.word) || !wait_captured(device, view.word))
        return;
    settle(device);
    turns_drained(device, view.word, monotonic_ns() - view.since_ns);
}

/* Whether work runs on the device. True also while captures prevent the query. */
static bool runs(unsigned device)
{
    if (!capture_shield())
        return true;
    bool busy = devices_busy(device);
    capture_unshield();
    return busy;
}

/*
 * Whether the turn has been idle for long enough. If giving it back moves little memory, one pause of idle_ns is enough. Otherwise
 * idle_ns is about the cost of a move, and the pauses of the turn are added up. The turn is given back when their sum reaches
 * idle_ns: then pauses and moves together cost at most twice the optimum (ski rental).
 */
static bool idle_enough(unsigned device, uint64_t now_ns, uint64_t idle_ns)
{
    struct drainer *d = &drainers[device];
    if (idle_ns <= SHORT_IDLE_NS)
        return now_ns - d->quiet_since_ns >= idle_ns;
    if (!runs(device))
        d->idle_ns += now_ns - d->looked_ns;
    return d->idle_ns >= idle_ns;
}

/*
 * Gives a granted turn back when it was idle for long enough, by idle_release_ns. First the contexts are synchronised with the
 * gate open, which delays no submission. If no submission follows for the same time again (if the time is long: until the next
 * check), the gate is closed and the contexts are synchronised once more.
 */
static void release_when_idle(unsigned device, struct turn_view view, uint64_t idle_ns)
{
    struct drainer *d = &drainers[device];
    uint64_t now_ns = monotonic_ns();
    uint64_t submissions = threads_submissions(device);
    /* A turn that has just begun is not idle: the thread that waited for it may still be waking up. */
    bool begun = view.word != d->word;
    bool active = threads_syncing(device) || threads_inside(device) || capture_open(device);
    if (begun)
        d->idle_ns = 0;
    if (begun || active || submissions != d->seen_submissions) {
        d->word = view.word;
        d->seen_submissions = submissions;
        d->quiet_since_ns = d->looked_ns = now_ns;
        d->settled = false;
        return;
    }
    bool enough = idle_enough(device, now_ns, idle_ns);
    d->looked_ns = now_ns;
    if (!enough)
        return;
    if (!d->settled) {
        if (!capture_shield_wait())
            return;
        devices_synchronise(device);
        capture_unshield();
        d->settled = true;
        d->quiet_since_ns = monotonic_ns();
        return;
    }
    if (!turns_close_early(device, view.word))
        return;
    membarrier_all();
    bool idle = !threads_inside(device) && threads_submissions(device) == submissions && !capture_open(device);
    if (idle)
        settle(device);
    turns_finish_early(device, view.word, idle);
}

/* Whether a submission stays inside the driver, which then waits for the device: a blocking copy, or a full queue. */
static bool stuck_inside(unsigned device)
{
    uint64_t before = threads_submissions(device);
    if (!threads_inside(device))
        return false;
    usleep(STUCK_US);
    return threads_inside(device) && threads_submissions(device) == before;
}

static void sample(unsigned device, uint64_t now_ns)
{
    struct tessera_device *b = &tessera_segment->devices[device];
    drainers[device].sampled_ns = now_ns;
    bool busy = threads_syncing(device) || stuck_inside(device);
    if (!busy) {
        if (!capture_shield())
            return;
        busy = devices_busy(device);
        capture_unshield();
    }
    b->samples++;
    b->busy_samples += busy;
}

static void prefetch(unsigned device, uint64_t word)
{
    if (turns_prefetch_due(device)) {
        memory->fetch(device, word, still);
        turns_prefetched(device, word);
    }
}

uint64_t drain_step(unsigned device)
{
    struct drainer *d = &drainers[device];
    device_pause_step(device);
    struct turn_view view = turns_view(device);
    if (view.connected && view.drain_due) {
        drain(device, view);
        return 0;
    }
    uint64_t move_ns = memory->move(device, view.opening);
    if (view.opening) {
        prefetch(device, view.word);
        turns_resident(device);
    }
    if (move_ns > LONG_WAIT_NS)
        move_ns = LONG_WAIT_NS;
    if (!view.connected)
        return move_ns;
    memory->poll(device);
    struct tessera_device *b = &tessera_segment->devices[device];
    uint64_t flags = __atomic_load_n(&b->flags, __ATOMIC_ACQUIRE);
    uint64_t idle_ns = b->idle_release_ns;
    uint64_t sleep_ns = move_ns;
    /* Without a manager, no other client could get the turn. */
    if (view.granted && manager_connected() && (flags & TESSERA_DEVICE_CONTENDED) && idle_ns) {
        release_when_idle(device, view, idle_ns);
        uint64_t look_ns = idle_ns <= SHORT_IDLE_NS ? idle_ns / 2 : LOOK_NS;
        sleep_ns = look_ns < move_ns ? look_ns : move_ns;
    }
    uint64_t now_ns = monotonic_ns();
    bool open = (view.word & 0xff) != TESSERA_TURN_CLOSED;
    if (open && (flags & TESSERA_DEVICE_SAMPLE)) {
        if (now_ns - d->sampled_ns >= SAMPLE_NS)
            sample(device, now_ns);
        if (sleep_ns > SAMPLE_NS)
            sleep_ns = SAMPLE_NS;
    }
    return sleep_ns;
}

void drain_serves(const struct turn_memory *served)
{
    memory = served;
    turns_thread_serves(drain_step);
}

void drain_forked(void)
{
    turns_thread_forked();
    memset(drainers, 0, sizeof drainers);
    device_pause_forked();
}
