/*
 * The rounds of a device's turns thread, one by one: how a turn ends, is given back, is sampled and prepared, whatever the driver
 * answers meanwhile. The test is the manager, the clock, and what happens while the thread sleeps.
 */
#include "direct/turns/drain.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "direct/turns/capture.h"
#include "direct/turns/devices.h"
#include "direct/turns/orders.h"
#include "direct/turns/turns_thread.h"
#include "fake_driver.h"

#define IDLE_NS (10 * MS)  /* short: one pause decides */
#define LONG_NS (100 * MS) /* long: the pauses of a turn are added up */
#define LOOK_NS (5 * MS)   /* between looks then */
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

/* What happens meanwhile happens in the n-th sleep. */
int usleep(useconds_t us)
{
    now_ns += us * 1000ULL;
    CHECK(++sleeps < 1000);
    if (at_sleep && sleeps == wanted_sleeps)
        at_sleep();
    return 0;
}

static CUresult synchronise(void)
{
    synchronised++;
    if (at_synchronisation)
        at_synchronisation();
    FAKE_CALL;
    return fake_leave(CUDA_SUCCESS);
}

static CUresult query(CUstream stream)
{
    CHECK(stream == (CUstream)TESSERA_STREAM_LEGACY);
    queried++;
    FAKE_CALL;
    return fake_leave(query_result);
}

/* Before the contexts are waited for. */
static uint64_t memory_moment(void)
{
    CHECK(block()->gate == GATE_CLOSED && !threads_inside(0) && !capture_open(0));
    return 1000 + synchronised;
}

static void memory_settled(unsigned device, uint64_t moment)
{
    CHECK(device == 0 && moment < 1000 + fake.calls && moment + 1 >= 1000 + synchronised);
    settled++;
}

static uint64_t memory_move(unsigned device, bool opening)
{
    CHECK(device == 0 && opening == turns_view(0).opening);
    moved++;
    return move_ns;
}

static void memory_fetch(unsigned device, uint64_t for_word, bool (*still)(unsigned device, uint64_t word))
{
    CHECK(device == 0 && for_word == word && still(0, word) && !still(0, word - 0x100) && block()->gate == GATE_CLOSED);
    fetched++;
}

static void memory_poll(unsigned device)
{
    CHECK(device == 0);
    polled++;
}

static const struct turn_memory memory = {
    .moment = memory_moment, .settled = memory_settled, .move = memory_move, .fetch = memory_fetch, .poll = memory_poll};

static void leave(void)
{
    gate_leave(pass, CUDA_SUCCESS);
}

static void order_free(void)
{
    word = order(TESSERA_TURN_FREE);
}

static void submit(void)
{
    gate_leave(gate_enter(TESSERA_KIND_LAUNCH, STREAM), CUDA_SUCCESS);
}

static void capture_begins(void)
{
    capture_hold();
    capture_begun(STREAM, 0);
    capture_unshield();
}

static void capture_ends(void)
{
    capture_hold();
    capture_ended(STREAM);
    capture_unshield();
}

/* Of an open gate, which a capture's owner needs to end it. */
static void capture_ends_and_runs(void)
{
    CHECK(block()->gate == GATE_OPEN);
    submit();
    capture_ends();
}

/* A closed gate whose order is to be drained, after a turn in which the gate was open. */
static void start(unsigned state)
{
    order_free();
    CHECK(block()->gate == GATE_OPEN);
    word = order(state);
    sleeps = synchronised = queried = settled = moved = polled = fetched = 0;
    at_sleep = at_synchronisation = NULL;
    wanted_sleeps = 3;
    fake.calls = fake.fail_at = 0;
    messages(TESSERA_MSG_DOORBELL);
}

static void without_manager(void)
{
    move_ns = 5;
    CHECK(drain_step(0) == 5 && moved == 1 && polled == 0 && synchronised == 0);
    move_ns = UINT64_MAX;
    CHECK(drain_step(0) == 1000 * MS && moved == 2);
}

static void drains(void)
{
    start(TESSERA_TURN_CLOSED);
    CHECK(drain_step(0) == 0 && answers(word, TESSERA_ACK_CLOSED) && settled == 1 && synchronised == 1 && sleeps == 0);
    CHECK(messages(TESSERA_MSG_DOORBELL) == 1 && moved == 0);
    CHECK(drain_step(0) == 1000 * MS && settled == 1 && moved == 1 && polled == 1);
}

static void submission_inside(void)
{
    start(TESSERA_TURN_FREE);
    pass = gate_enter(TESSERA_KIND_LAUNCH, STREAM);
    word = order(TESSERA_TURN_CLOSED);
    at_sleep = leave;
    drain_step(0);
    CHECK(sleeps == 3 && settled == 1 && answers(word, TESSERA_ACK_CLOSED) && block()->drain_last_ns == 60000);

    start(TESSERA_TURN_FREE);
    pass = gate_enter(TESSERA_KIND_LAUNCH, STREAM);
    word = order(TESSERA_TURN_CLOSED);
    at_sleep = order_free; /* before it has left */
    CHECK(drain_step(0) == 0 && settled == 0 && synchronised == 0 && answers(word, TESSERA_ACK_OPEN));
    leave();
}

/* The gate opens for the capture's end, and closes again. */
static void open_capture(void)
{
    start(TESSERA_TURN_FREE);
    capture_begins();
    word = order(TESSERA_TURN_CLOSED);
    at_sleep = capture_ends_and_runs;
    drain_step(0);
    CHECK(sleeps == 3 && settled == 1 && synchronised == 1 && answers(word, TESSERA_ACK_CLOSED) &&
          block()->gate == GATE_CLOSED);

    start(TESSERA_TURN_FREE);
    capture_begins();
    word = order(TESSERA_TURN_CLOSED);
    at_sleep = order_free;
    drain_step(0);
    CHECK(settled == 0 && synchronised == 0 && block()->gate == GATE_OPEN && answers(word, TESSERA_ACK_OPEN));
    capture_ends();
}

/* Another order, while the contexts are waited for. */
static void order_in_a_drain(void)
{
    start(TESSERA_TURN_CLOSED);
    at_synchronisation = order_free;
    CHECK(drain_step(0) == 0 && answers(word, TESSERA_ACK_OPEN) && block()->gate == GATE_OPEN);
}

/* Whatever call fails, and how: the turn ends, the calling thread has no context more or less, and the failure is counted. */
static void failing_drains(void)
{
    const CUresult failures[] = {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_DEINITIALIZED};
    for (size_t f = 0; f < sizeof failures / sizeof *failures; f++)
        for (unsigned call = 1; call <= 3; call++) { /* push, synchronise, pop */
            start(TESSERA_TURN_CLOSED);
            fake.fail_at = call;
            fake.failure = failures[f];
            memset(tessera_segment->errors, 0, sizeof tessera_segment->errors);
            CHECK(drain_step(0) == 0 && answers(word, TESSERA_ACK_CLOSED) && settled == 1);
            CHECK(fake.calls >= call && (synchronised == 1) == (call > 1));
            bool counted = tessera_segment->errors[0].ready;
            CHECK(counted == (failures[f] != CUDA_ERROR_DEINITIALIZED && call < 3)); /* nothing depends on a pop */
            fake.faulted = false;
        }
}

/* Rounds until the device was quiet for the time, twice: the first synchronises with the gate open, the second gives back. */
static void given_back(void)
{
    start(TESSERA_TURN_GRANTED);
    CHECK(drain_step(0) == IDLE_NS / 2 && synchronised == 0);
    now_ns += IDLE_NS - 1;
    drain_step(0);
    CHECK(synchronised == 0);
    now_ns += 1;
    drain_step(0);
    CHECK(synchronised == 1 && settled == 0 && block()->gate == GATE_OPEN && answers(word, TESSERA_ACK_OPEN));
    now_ns += IDLE_NS - 1;
    drain_step(0);
    CHECK(synchronised == 1);
    now_ns += 1;
    drain_step(0);
    CHECK(synchronised == 2 && settled == 1 && block()->gate == GATE_CLOSED && answers(word, TESSERA_ACK_RELEASED));
    CHECK(messages(TESSERA_MSG_DOORBELL) == 1);
    now_ns += 10 * IDLE_NS;
    drain_step(0);
    CHECK(synchronised == 2 && settled == 1);
}

/* Pauses of a turn that are looked at so often, the device being idle or not. True: the turn is still there. */
static bool pauses(unsigned looks, CUresult said)
{
    query_result = said;
    for (unsigned i = 0; i < looks; i++) {
        now_ns += LOOK_NS;
        drain_step(0);
    }
    query_result = CUDA_SUCCESS;
    return answers(word, TESSERA_ACK_OPEN);
}

/* Where giving a turn back moves memory: each pause is shorter than a move, but together they are not. */
static void given_back_for_its_pauses(void)
{
    block()->idle_release_ns = LONG_NS;
    start(TESSERA_TURN_GRANTED);
    CHECK(drain_step(0) == LOOK_NS);
    for (unsigned i = 0; i < 3; i++) {
        submit();
        CHECK(pauses(1, CUDA_SUCCESS));                      /* the work is seen */
        CHECK(pauses(30, CUDA_ERROR_NOT_READY));             /* and goes on: no pause */
        CHECK(pauses(6, CUDA_SUCCESS) && synchronised == 0); /* 30 ms of pause */
    }
    submit();
    CHECK(pauses(1, CUDA_SUCCESS) && pauses(1, CUDA_SUCCESS) && synchronised == 0);
    CHECK(pauses(1, CUDA_SUCCESS) && synchronised == 1); /* 100 ms together */
    submit();
    CHECK(pauses(1, CUDA_SUCCESS) && pauses(1, CUDA_SUCCESS) && synchronised == 2);
    CHECK(!pauses(1, CUDA_SUCCESS) && answers(word, TESSERA_ACK_RELEASED) && block()->gate == GATE_CLOSED);
    block()->idle_release_ns = IDLE_NS;
}

/* Rounds far apart, until a turn that is given back would have been. */
static void quiet_rounds(void)
{
    for (unsigned i = 0; i < 3; i++) {
        drain_step(0);
        now_ns += IDLE_NS;
    }
}

static void kept(void)
{
    start(TESSERA_TURN_GRANTED);
    block()->flags = 0; /* nobody waits */
    quiet_rounds();
    CHECK(synchronised == 0 && answers(word, TESSERA_ACK_OPEN));
    block()->flags = TESSERA_DEVICE_CONTENDED;
    for (unsigned i = 0; i < 10; i++) { /* work comes between all rounds */
        submit();
        drain_step(0);
        now_ns += IDLE_NS;
    }
    CHECK(synchronised == 0);
    pass = gate_enter(TESSERA_KIND_LAUNCH, STREAM);
    quiet_rounds();
    leave();
    thread_slot->syncing = 1;
    quiet_rounds();
    thread_slot->syncing = 0;
    capture_begins();
    quiet_rounds();
    capture_ends();
    CHECK(synchronised == 0 && answers(word, TESSERA_ACK_OPEN));
    at_synchronisation = submit; /* in the wait for the contexts, with the gate open */
    drain_step(0);
    at_synchronisation = NULL;
    now_ns += IDLE_NS;
    drain_step(0);
    CHECK(synchronised == 1 && settled == 0 && answers(word, TESSERA_ACK_OPEN) && block()->gate == GATE_OPEN);
}

/* A capture that begins while the contexts are synchronised waits: synchronising would destroy it. */
static void *begin_capture(void *began)
{
    capture_begins();
    __atomic_store_n((bool *)began, true, __ATOMIC_RELEASE);
    return NULL;
}

static pthread_t capturing;
static bool began;

static void begin_beside(void)
{
    at_synchronisation = NULL;
    CHECK(pthread_create(&capturing, NULL, begin_capture, &began) == 0);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    CHECK(!__atomic_load_n(&began, __ATOMIC_ACQUIRE));
}

static void capture_beside(void)
{
    start(TESSERA_TURN_GRANTED);
    at_synchronisation = begin_beside;
    drain_step(0);
    now_ns += IDLE_NS;
    drain_step(0);
    CHECK(pthread_join(capturing, NULL) == 0 && began && synchronised == 1);
    now_ns += IDLE_NS;
    drain_step(0);
    CHECK(synchronised == 1 && settled == 0 && answers(word, TESSERA_ACK_OPEN));
    capture_ends();
}

/* An order while the last synchronisation runs: what was to be given back is answered as ordered. */
static void order_while_given_back(void)
{
    start(TESSERA_TURN_GRANTED);
    drain_step(0);
    now_ns += IDLE_NS;
    drain_step(0);
    now_ns += IDLE_NS;
    at_synchronisation = order_free;
    drain_step(0);
    CHECK(answers(word, TESSERA_ACK_OPEN) && block()->gate == GATE_OPEN);
}

static void failing_release(void)
{
    for (unsigned call = 1; call <= 6; call++) {
        start(TESSERA_TURN_GRANTED);
        fake.fail_at = call;
        fake.failure = CUDA_ERROR_ILLEGAL_ADDRESS;
        quiet_rounds();
        CHECK(settled == 1 && answers(word, TESSERA_ACK_RELEASED) && fake.calls >= 4);
        fake.faulted = false;
    }
}

static uint64_t samples, busy_samples;

/* One sample more, that says busy or not. */
static bool sampled(bool busy)
{
    bool right = block()->samples == samples + 1 && block()->busy_samples == busy_samples + busy;
    samples = block()->samples;
    busy_samples = block()->busy_samples;
    now_ns += 2 * MS;
    return right;
}

static void sampling(void)
{
    start(TESSERA_TURN_FREE);
    block()->flags = TESSERA_DEVICE_SAMPLE;
    CHECK(drain_step(0) == 2 * MS && sampled(false) && queried == 1);
    now_ns -= 1;
    drain_step(0);
    CHECK(block()->samples == samples); /* too soon */
    now_ns += 1;
    query_result = CUDA_ERROR_NOT_READY;
    drain_step(0);
    CHECK(sampled(true));
    query_result = CUDA_SUCCESS;
    for (unsigned call = 1; call <= 3; call++) {
        fake.calls = 0;
        fake.fail_at = call;
        fake.failure = CUDA_ERROR_ILLEGAL_ADDRESS;
        drain_step(0);
        CHECK(sampled(false));
        fake.faulted = false;
    }
    fake.fail_at = queried = 0;
    thread_slot->syncing = 1;
    drain_step(0);
    thread_slot->syncing = 0;
    CHECK(sampled(true) && queried == 0);
    pass = gate_enter(TESSERA_KIND_LAUNCH, STREAM); /* it stays inside */
    drain_step(0);
    CHECK(sampled(true) && sleeps == 1 && queried == 0);
    at_sleep = leave;
    wanted_sleeps = 2;
    drain_step(0);
    CHECK(sampled(false) && sleeps == 2 && queried == 1);
    capture_begins();
    drain_step(0);
    CHECK(block()->samples == samples && queried == 1);
    capture_ends();
    word = order(TESSERA_TURN_CLOSED);
    drain_step(0);
    drain_step(0);
    CHECK(block()->samples == samples && queried == 1);
    block()->flags = TESSERA_DEVICE_CONTENDED;
}

/* Plan managed: a granted turn begins when its memory was fetched, once. */
static void fetches(void)
{
    start(TESSERA_TURN_CLOSED);
    drain_step(0);
    block()->managed_bytes = 4096;
    word = order(TESSERA_TURN_GRANTED);
    CHECK(block()->gate == GATE_CLOSED && turns_view(0).opening);
    drain_step(0);
    CHECK(fetched == 1 && block()->gate == GATE_OPEN && answers(word, TESSERA_ACK_OPEN));
    drain_step(0);
    turns_apply(0);
    CHECK(fetched == 1 && block()->gate == GATE_OPEN);
    block()->managed_bytes = 0;
}

int main(int argc, char **argv)
{
    alarm(SANITIZED ? 600 : 60);
    if (argc == 1) { /* settings are read before main */
        CHECK(setenv("TESSERA_PLAN", "managed", 1) == 0 && unsetenv("TESSERA_SHARE") == 0 &&
              unsetenv("TESSERA_DISABLE") == 0);
        execv("/proc/self/exe", (char *[]){argv[0], "managed", NULL});
        CHECK(false);
    }
    fake_driver();
    FAKE(cuCtxSynchronize, synchronise);
    FAKE(cuStreamQuery, query);
    CHECK(segment_open());
    turns_prepare();
    drain_serves(&memory);
    turns_thread_serves(NULL); /* no thread: the test does the rounds */
    devices_first(turns_device_opened);
    devices_context_opened(FAKE_CONTEXT, 0);
    thread_slot_take();
    without_manager();
    manager_comes();
    block()->idle_release_ns = IDLE_NS;
    block()->flags = TESSERA_DEVICE_CONTENDED;
    drains();
    submission_inside();
    open_capture();
    order_in_a_drain();
    failing_drains();
    given_back();
    given_back_for_its_pauses();
    kept();
    capture_beside();
    order_while_given_back();
    failing_release();
    sampling();
    fetches();
    return 0;
}
