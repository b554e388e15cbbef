/*
 * A pause of the device. A thread asks for it, and rounds, which the test runs itself, bring it about: what it waits for,
 * when threads may give up, and what the program finds afterwards.
 */
#include "direct/turns/device_pause.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "direct/turns/capture.h"
#include "direct/turns/devices.h"
#include "direct/turns/gate.h"
#include "direct/turns/turns.h"
#include "scripted_driver.h"
#include "session/segment.h"

#define STREAM 0x100u

/* Until when a thread waits for a pause: time_is_up decides, not how fast the machine is. */
enum { AT_ONCE = 0, SOON = 1, FAR = 2 };

static unsigned sleeps, synchronised;
static void (*at_sleep)(void), (*at_synchronisation)(void);
static struct gate_pass pass;
static uint64_t gate_in_sleep;
static bool time_is_up;

struct request {
    pthread_t thread;
    uint64_t until_ns;
    bool over, paused;
};
static struct request asked;

static uint64_t gate(void)
{
    return __atomic_load_n(&tessera_segment->devices[0].gate, __ATOMIC_ACQUIRE);
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 100000}, NULL);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until)
{
    struct timespec slice;
    CHECK(until->tv_sec == 0);
    if (until->tv_nsec == AT_ONCE || (until->tv_nsec == SOON && __atomic_load_n(&time_is_up, __ATOMIC_ACQUIRE)))
        return ETIMEDOUT;
    clock_gettime(CLOCK_MONOTONIC, &slice);
    slice.tv_nsec += 1000000;
    slice.tv_sec += slice.tv_nsec / 1000000000;
    slice.tv_nsec %= 1000000000;
    pthread_cond_clockwait(condition, lock, CLOCK_MONOTONIC, &slice);
    return 0;
}

int usleep(useconds_t us)
{
    (void)us;
    sleeps++;
    gate_in_sleep = gate();
    if (at_sleep)
        at_sleep();
    nap();
    return 0;
}

static CUresult synchronise(void)
{
    synchronised++;
    CHECK(gate() == GATE_CLOSED);
    if (at_synchronisation)
        at_synchronisation();
    return INJECTED(cuCtxSynchronize)();
}

static bool open_now(void)
{
    return gate() == GATE_OPEN;
}

static bool is_over(struct request *request)
{
    return __atomic_load_n(&request->over, __ATOMIC_ACQUIRE);
}

static void *begin(void *of)
{
    struct request *request = of;
    request->paused = device_pause_begin(0, request->until_ns);
    __atomic_store_n(&request->over, true, __ATOMIC_RELEASE);
    return NULL;
}

static void ask(struct request *request, uint64_t until_ns)
{
    *request = (struct request){.until_ns = until_ns};
    CHECK(pthread_create(&request->thread, NULL, begin, request) == 0);
}

/* Runs rounds until the thread has its answer. Whether the device is paused. */
static bool answered(struct request *request)
{
    while (!is_over(request)) {
        device_pause_step(0);
        nap();
    }
    CHECK(pthread_join(request->thread, NULL) == 0);
    return request->paused;
}

static void start(void)
{
    CHECK(open_now());
    sleeps = synchronised = 0;
    at_sleep = at_synchronisation = NULL;
    __atomic_store_n(&time_is_up, false, __ATOMIC_RELEASE);
    driver.calls = driver.fail_at = 0;
}

/* A pause succeeds now, and work goes on after it. */
static void works(void)
{
    start();
    ask(&asked, FAR);
    CHECK(answered(&asked) && !open_now() && synchronised == 1);
    device_pause_step(0);
    CHECK(!open_now() && synchronised == 1);
    device_pause_end(0);
    CHECK(open_now());
    device_pause_step(0);
    CHECK(open_now() && synchronised == 1);
}

/* The turns thread looks too late, and finds that nobody waits any more. */
static void no_round(void)
{
    start();
    CHECK(!device_pause_begin(0, AT_ONCE) && open_now());
    time_is_up = true;
    CHECK(!device_pause_begin(0, SOON) && open_now()); /* it has not looked yet */
    device_pause_step(0);
    CHECK(open_now() && synchronised == 0);
    works();
}

static void leave_at_third(void)
{
    if (sleeps == 3)
        gate_leave(pass, CUDA_SUCCESS);
}

/* The thread that gave up finds the gate open, although this one still waits. */
static void wait_for_the_end(void)
{
    __atomic_store_n(&time_is_up, true, __ATOMIC_RELEASE);
    while (!is_over(&asked))
        nap();
    CHECK(open_now());
}

static void submission_inside(void)
{
    start();
    pass = gate_enter(TESSERA_KIND_LAUNCH, STREAM);
    at_sleep = leave_at_third;
    ask(&asked, FAR);
    CHECK(answered(&asked) && sleeps == 3 && gate_in_sleep == GATE_CLOSED && synchronised == 1);
    device_pause_end(0);

    start();
    pass = gate_enter(TESSERA_KIND_LAUNCH, STREAM); /* until nobody waits any more */
    at_sleep = wait_for_the_end;
    ask(&asked, SOON);
    CHECK(!answered(&asked) && open_now() && sleeps == 1 && synchronised == 0);
    gate_leave(pass, CUDA_SUCCESS);
    works();
}

static void capture(bool begins)
{
    capture_hold();
    if (begins)
        capture_begun(STREAM, 0);
    else
        capture_ended(STREAM);
    capture_unshield();
}

static void end_at_third(void)
{
    if (sleeps == 3)
        capture(false);
}

/* The gate is open for the capture's end. */
static void open_capture(void)
{
    start();
    capture(true);
    at_sleep = end_at_third;
    ask(&asked, FAR);
    CHECK(answered(&asked) && sleeps == 3 && gate_in_sleep == GATE_OPEN && !open_now() && synchronised == 1);
    device_pause_end(0);

    start();
    capture(true);
    at_sleep = wait_for_the_end;
    ask(&asked, SOON);
    CHECK(!answered(&asked) && open_now() && synchronised == 0);
    capture(false);
    works();
}

/* The thread gives up while the contexts are synchronised: the program goes on at once, and no pause follows. */
static void long_work(void)
{
    start();
    at_synchronisation = wait_for_the_end;
    ask(&asked, SOON);
    CHECK(!answered(&asked) && open_now() && synchronised == 1);
    works();
}

/* Whichever call fails, there is a pause: a context that answers with an error counts as idle, and the failure is counted. */
static void failures(void)
{
    for (unsigned call = 1; call <= 3; call++) { /* push, synchronise, pop */
        start();
        memset(tessera_segment->errors, 0, sizeof tessera_segment->errors);
        driver.fail_at = call;
        driver.failure = CUDA_ERROR_ILLEGAL_ADDRESS;
        ask(&asked, FAR);
        CHECK(answered(&asked) && driver.calls >= call && (synchronised == 1) == (call > 1) && !open_now());
        CHECK(tessera_segment->errors[0].ready == (call < 3));
        device_pause_end(0);
    }
    works();
}

/* One at a time: the second waits for the end of the first, or gives up without a trace. */
static void two(void)
{
    struct request second;
    start();
    ask(&asked, FAR);
    CHECK(answered(&asked));
    __atomic_store_n(&time_is_up, true, __ATOMIC_RELEASE);
    ask(&second, SOON);
    CHECK(!answered(&second) && !open_now() && synchronised == 1);
    ask(&second, FAR);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    device_pause_step(0);
    CHECK(!is_over(&second) && !open_now());
    device_pause_end(0);
    CHECK(answered(&second) && !open_now() && synchronised == 2);
    device_pause_end(0);
    CHECK(open_now());
}

/* Orders during a pause are obeyed after it (turns_test.c); a child has no pause, whatever its parent had. */
static void forked(void)
{
    start();
    ask(&asked, FAR);
    CHECK(answered(&asked));
    device_pause_forked();
    turns_resume(0);
    works();
}

int main(void)
{
    alarm(HANGS_S);
    driver_load();
    HOOK(cuCtxSynchronize, synchronise);
    CHECK(segment_open());
    turns_prepare();
    devices_first(turns_device_opened);
    devices_context_opened(driver.context, 0);
    thread_slot_take();
    works();
    no_round();
    submission_inside();
    open_capture();
    long_work();
    failures();
    two();
    forked();
    return 0;
}
