/* How a turn without work is given back, and when it is kept. */
#include "direct/turns/rounds.h"

#include <pthread.h>

#define LONG_NS (100 * MS) /* long: the pauses of a turn are added up */
#define LOOK_NS (5 * MS)   /* between looks then */

/* The device is quiet for the time, twice: the first time it is synchronised with the gate open, the second time the turn goes back. */
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

/* Looks so often at a device that answers `said` (idle or not). True: the turn is still held. */
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

/* Rounds far apart, as many as it takes to give a turn back. */
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

/* An order comes during the last synchronisation: the order is obeyed, and the turn is not given back. */
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
        driver.fail_at = call;
        driver.failure = CUDA_ERROR_ILLEGAL_ADDRESS;
        quiet_rounds();
        CHECK(settled == 1 && answers(word, TESSERA_ACK_RELEASED) && driver.calls >= 4);
    }
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    begin();
    move_ns = UINT64_MAX; /* nothing moves */
    given_back();
    given_back_for_its_pauses();
    kept();
    capture_beside();
    order_while_given_back();
    failing_release();
    return 0;
}
