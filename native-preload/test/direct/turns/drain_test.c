/* How a turn ends, is sampled and prepared, whatever the driver answers meanwhile. */
#include "direct/turns/rounds.h"

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

/* Another order comes while the contexts are synchronised. */
static void order_in_a_drain(void)
{
    start(TESSERA_TURN_CLOSED);
    at_synchronisation = order_free;
    CHECK(drain_step(0) == 0 && answers(word, TESSERA_ACK_OPEN) && block()->gate == GATE_OPEN);
}

/* Whichever call fails, and however: the turn ends, the calling thread's contexts are unchanged, and the failure is counted. */
static void failing_drains(void)
{
    const CUresult failures[] = {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_DEINITIALIZED};
    for (size_t f = 0; f < sizeof failures / sizeof *failures; f++)
        for (unsigned call = 1; call <= 3; call++) { /* push, synchronise, pop */
            start(TESSERA_TURN_CLOSED);
            driver.fail_at = call;
            driver.failure = failures[f];
            memset(tessera_segment->errors, 0, sizeof tessera_segment->errors);
            CHECK(drain_step(0) == 0 && answers(word, TESSERA_ACK_CLOSED) && settled == 1);
            CHECK(driver.calls >= call && (synchronised == 1) == (call > 1));
            bool counted = tessera_segment->errors[0].ready;
            CHECK(counted == (failures[f] != CUDA_ERROR_DEINITIALIZED && call < 3)); /* nothing depends on a pop */
        }
}

static uint64_t samples, busy_samples;

/* Whether there is one more sample, with this result. */
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
        driver.calls = 0;
        driver.fail_at = call;
        driver.failure = CUDA_ERROR_ILLEGAL_ADDRESS;
        drain_step(0);
        CHECK(sampled(false));
    }
    driver.fail_at = queried = 0;
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
    prepare(argc, argv);
    without_manager();
    begin();
    drains();
    submission_inside();
    open_capture();
    order_in_a_drain();
    failing_drains();
    sampling();
    fetches();
    return 0;
}
