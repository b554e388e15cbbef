/*
 * Rounds of a device's turns thread, one by one. The test plays the manager and the clock, and acts while the thread sleeps.
 */
#ifndef TESSERA_ROUNDS_H
#define TESSERA_ROUNDS_H

#include "direct/turns/drain.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "direct/turns/capture.h"
#include "direct/turns/devices.h"
#include "direct/turns/orders.h"
#include "direct/turns/turns_thread.h"
#include "scripted_driver.h"

#define IDLE_NS (10 * MS) /* short: one pause decides */
#define STREAM 0x100u

static uint64_t now_ns = 1000000 * MS;
static unsigned sleeps, synchronised, queried, settled, moved, polled, fetched, wanted_sleeps;
static void (*at_sleep)(void), (*at_synchronisation)(void);
static uint64_t move_ns, word;
static CUresult query_result;
static struct gate_pass pass;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){(time_t)(now_ns / 1000000000), (long)(now_ns % 1000000000)};
    return 0;
}

/* The wanted_sleeps-th sleep calls at_sleep. */
int usleep(useconds_t us)
{
    now_ns += us * 1000ULL;
    CHECK(++sleeps < 1000);
    if (at_sleep && sleeps == wanted_sleeps)
        at_sleep();
    return 0;
}

static inline CUresult synchronise(void)
{
    synchronised++;
    if (at_synchronisation)
        at_synchronisation();
    return INJECTED(cuCtxSynchronize)();
}

static inline CUresult query(CUstream stream)
{
    CHECK(stream == (CUstream)TESSERA_STREAM_LEGACY);
    queried++;
    CUresult result = INJECTED(cuStreamQuery)(stream);
    return result == CUDA_SUCCESS ? query_result : result;
}

/* Before the contexts are waited for. */
static inline uint64_t memory_moment(void)
{
    CHECK(block()->gate == GATE_CLOSED && !threads_inside(0) && !capture_open(0));
    return 1000 + synchronised;
}

static inline void memory_settled(unsigned device, uint64_t moment)
{
    CHECK(device == 0 && moment < 1000 + driver.calls && moment + 1 >= 1000 + synchronised);
    settled++;
}

static inline uint64_t memory_move(unsigned device, bool opening)
{
    CHECK(device == 0 && opening == turns_view(0).opening);
    moved++;
    return move_ns;
}

static inline void memory_fetch(unsigned device, uint64_t for_word, bool (*still)(unsigned device, uint64_t word))
{
    CHECK(device == 0 && for_word == word && still(0, word) && !still(0, word - 0x100) && block()->gate == GATE_CLOSED);
    fetched++;
}

static inline void memory_poll(unsigned device)
{
    CHECK(device == 0);
    polled++;
}

static const struct turn_memory memory = {
    .moment = memory_moment, .settled = memory_settled, .move = memory_move, .fetch = memory_fetch, .poll = memory_poll};

static inline void leave(void)
{
    gate_leave(pass, CUDA_SUCCESS);
}

static inline void order_free(void)
{
    word = order(TESSERA_TURN_FREE);
}

static inline void submit(void)
{
    gate_leave(gate_enter(TESSERA_KIND_LAUNCH, STREAM), CUDA_SUCCESS);
}

static inline void capture_begins(void)
{
    capture_hold();
    capture_begun(STREAM, 0);
    capture_unshield();
}

static inline void capture_ends(void)
{
    capture_hold();
    capture_ended(STREAM);
    capture_unshield();
}

/* With an open gate, which a capture's owner needs to end it. */
static inline void capture_ends_and_runs(void)
{
    CHECK(block()->gate == GATE_OPEN);
    submit();
    capture_ends();
}

/* Orders `state` after a turn in which the gate was open, and resets the counts. */
static inline void start(unsigned state)
{
    order_free();
    CHECK(block()->gate == GATE_OPEN);
    word = order(state);
    sleeps = synchronised = queried = settled = moved = polled = fetched = 0;
    at_sleep = at_synchronisation = NULL;
    wanted_sleeps = 3;
    driver.calls = driver.fail_at = 0;
    messages(TESSERA_MSG_DOORBELL);
}

/* Once, first thing in main(). */
static inline void prepare(int argc, char **argv)
{
    alarm(HANGS_S);
    if (argc == 1) { /* settings are read before main */
        CHECK(setenv("TESSERA_PLAN", "managed", 1) == 0 && unsetenv("TESSERA_SHARE") == 0 &&
              unsetenv("TESSERA_DISABLE") == 0);
        execv("/proc/self/exe", (char *[]){argv[0], "managed", NULL});
        CHECK(false);
    }
    driver_load();
    HOOK(cuCtxSynchronize, synchronise);
    HOOK(cuStreamQuery, query);
    CHECK(segment_open());
    turns_prepare();
    drain_serves(&memory);
    turns_thread_serves(NULL); /* no thread: the test does the rounds */
    devices_first(turns_device_opened);
    devices_context_opened(driver.context, 0);
    thread_slot_take();
}

/* From here on there is a manager, and somebody waits for the device. */
static inline void begin(void)
{
    manager_comes();
    block()->idle_release_ns = IDLE_NS;
    block()->flags = TESSERA_DEVICE_CONTENDED;
}

#endif
