/* How a device's gate follows the manager's orders, and what the client answers. The test plays the manager, by socket and segment. */
#include "direct/turns/turns.h"

#include <pthread.h>
#include <unistd.h>

#include "direct/turns/devices.h"
#include "driver/clock.h"
#include "scripted_driver.h"
#include "direct/turns/orders.h"

static void without_manager(void)
{
    CHECK(block()->gate == GATE_OPEN && block()->ack == 0);
    order(TESSERA_TURN_CLOSED);
    CHECK(block()->gate == GATE_OPEN && block()->ack == 0 && !turns_view(0).connected);
    turns_wait(0); /* returns at once */
    CHECK(block()->want_since_ns == 0);
}

/* Earlier work may still run, so the first CLOSED is drained. The next one, with no work in between, is answered at once. */
static void closed(void)
{
    uint64_t word = order(TESSERA_TURN_CLOSED);
    struct turn_view view = turns_view(0);
    CHECK(block()->gate == GATE_CLOSED && answers(word, TESSERA_ACK_DRAINING) && view.drain_due && view.word == word);
    CHECK(messages(TESSERA_MSG_DOORBELL) == 0);
    CHECK(!turns_drained(0, word - 0x100, 5) && answers(word, TESSERA_ACK_DRAINING)); /* for an order that is over */
    CHECK(turns_drained(0, word, 5) && answers(word, TESSERA_ACK_CLOSED) && !turns_view(0).drain_due);
    CHECK(messages(TESSERA_MSG_DOORBELL) == 1 && block()->drains == 1 && block()->drain_max_ns == 5);
    word = order(TESSERA_TURN_CLOSED);
    CHECK(answers(word, TESSERA_ACK_CLOSED) && messages(TESSERA_MSG_DOORBELL) == 1 && block()->drains == 1);
}

static void granted(void)
{
    uint64_t word = order(TESSERA_TURN_GRANTED), turns = block()->turns, held_ns = block()->held_ns;
    CHECK(block()->gate == GATE_OPEN && answers(word, TESSERA_ACK_OPEN) && turns_view(0).granted);
    CHECK(messages(TESSERA_MSG_DOORBELL) == 1);
    turns_apply(0); /* the same order: nothing happens */
    CHECK(messages(TESSERA_MSG_DOORBELL) == 0 && block()->turns == turns);
    block()->pace_ns = MS; /* amended terms */
    turns_apply(0);
    CHECK(block()->gate == GATE_PACED);
    block()->pace_ns = 0;
    turns_apply(0);
    CHECK(block()->gate == GATE_OPEN);
    usleep(2000);
    word = order(TESSERA_TURN_CLOSED);
    CHECK(block()->held_ns - held_ns >= 2 * MS && turns_view(0).drain_due);
    CHECK(turns_drained(0, word, 3) && block()->drain_last_ns == 3 && block()->drain_max_ns == 5);
    messages(TESSERA_MSG_DOORBELL);
    word = order(TESSERA_TURN_FREE);
    CHECK(block()->gate == GATE_OPEN && answers(word, TESSERA_ACK_OPEN) && !turns_view(0).granted);
    CHECK(messages(TESSERA_MSG_DOORBELL) == 1 && block()->turns == turns);
}

/* A granted turn is given back, or kept because work came. */
static void given_back(void)
{
    uint64_t word = order(TESSERA_TURN_GRANTED);
    CHECK(!turns_close_early(0, word - 0x100) && block()->gate == GATE_OPEN);
    CHECK(turns_close_early(0, word) && block()->gate == GATE_CLOSED);
    turns_finish_early(0, word, false);
    CHECK(block()->gate == GATE_OPEN && answers(word, TESSERA_ACK_OPEN));
    messages(TESSERA_MSG_DOORBELL);
    CHECK(turns_close_early(0, word));
    turns_finish_early(0, word, true);
    CHECK(block()->gate == GATE_CLOSED && answers(word, TESSERA_ACK_RELEASED) && !turns_view(0).granted);
    CHECK(messages(TESSERA_MSG_DOORBELL) == 1);
    uint64_t drains = block()->drains;
    word = order(TESSERA_TURN_CLOSED); /* idle already */
    CHECK(answers(word, TESSERA_ACK_CLOSED) && block()->drains == drains);
    messages(TESSERA_MSG_DOORBELL);
}

static void *wait_for_gate(void *waited)
{
    while (__atomic_load_n(&block()->gate, __ATOMIC_ACQUIRE) == GATE_CLOSED)
        turns_wait(0);
    return waited;
}

/* A thread at the closed gate asks the manager once, and passes when the gate opens. */
static void waiting(void)
{
    pthread_t thread;
    CHECK(block()->want_since_ns == 0 && pthread_create(&thread, NULL, wait_for_gate, NULL) == 0);
    uint64_t until_ns = monotonic_ns() + 10000 * MS;
    while (__atomic_load_n(&block()->want_since_ns, __ATOMIC_ACQUIRE) == 0)
        CHECK(monotonic_ns() < until_ns);
    usleep(250000); /* it looks for itself meanwhile */
    uint64_t wait_ns = block()->wait_ns;
    CHECK(messages(TESSERA_MSG_DOORBELL) == 1);
    order(TESSERA_TURN_FREE);
    CHECK(pthread_join(thread, NULL) == 0 && block()->want_since_ns == 0 && block()->wait_ns - wait_ns >= 250 * MS);
    CHECK(messages(TESSERA_MSG_DOORBELL) == 1);
}

/* A pause keeps the gate closed whatever is ordered. */
static void paused(void)
{
    turns_pause(0);
    CHECK(block()->gate == GATE_CLOSED);
    turns_resume(0);
    CHECK(block()->gate == GATE_OPEN);
    turns_pause(0);
    uint64_t word = order(TESSERA_TURN_CLOSED);
    CHECK(turns_drained(0, word, 1));
    turns_resume(0);
    CHECK(block()->gate == GATE_CLOSED);
    turns_pause(0);
    order(TESSERA_TURN_GRANTED);
    CHECK(block()->gate == GATE_CLOSED);
    turns_resume(0);
    CHECK(block()->gate == GATE_OPEN);
    messages(TESSERA_MSG_DOORBELL);
    turns_resume(0);
    CHECK(block()->gate == GATE_OPEN);
}

/* The segment must not change while a submission is inside. */
static void frozen(void)
{
    struct tessera_thread *slot = thread_slot_take();
    struct gate_pass pass = gate_enter(TESSERA_KIND_LAUNCH, 0);
    CHECK(pass.slot == slot && slot->inside == 1 && *thread_inside(slot) == 1);
    CHECK(!turns_freeze(5 * MS) && block()->gate == GATE_CLOSED);
    gate_leave(pass, CUDA_SUCCESS);
    CHECK(slot->inside == 0 && *thread_inside(slot) == 0 && turns_freeze(5 * MS));
    manager_set_socket(-1);
    turns_thaw(false); /* nobody gives orders any more */
    CHECK(block()->gate == GATE_OPEN && !turns_view(0).connected);
}

int main(void)
{
    alarm(HANGS_S);
    driver_load();
    CHECK(segment_open());
    turns_prepare();
    devices_first(turns_device_opened);
    devices_context_opened(driver.context, 0);
    without_manager();
    manager_comes();
    closed();
    granted();
    given_back();
    waiting();
    paused();
    frozen();
    return 0;
}
