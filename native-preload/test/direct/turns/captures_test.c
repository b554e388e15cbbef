/*
 * Captures: which ones are open, on which device and by which thread; and that none begins while captures are shielded.
 */
#include "direct/turns/capture.h"

#include <pthread.h>
#include <unistd.h>

#include "check.h"
#include "session/segment.h"

#define FIRST 0x1000u
#define SECOND 0x2000u

static void begin(uintptr_t stream, int device)
{
    capture_hold();
    capture_begun(stream, device);
    capture_unshield();
}

static void end(uintptr_t stream)
{
    capture_hold();
    capture_ended(stream);
    capture_unshield();
}

static uint64_t capturing(unsigned device)
{
    return tessera_segment->devices[device].capturing;
}

static void *begin_elsewhere(void *unused)
{
    begin(SECOND, 1);
    return unused;
}

static void in_thread(void *(*run)(void *))
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void open_ones(void)
{
    CHECK(!capture_open_any() && !capture_open(0) && !capture_of_caller());
    in_thread(begin_elsewhere);
    CHECK(capture_open_any() && capture_open(1) && !capture_open(0) && !capture_of_caller());
    begin(FIRST, 0);
    CHECK(capture_open(0) && capture_of_caller() && capturing(0) == 1 && capturing(1) == 1);
    end(FIRST + 16); /* none of ours */
    CHECK(capture_open(0) && capturing(0) == 1);
    end(FIRST);
    CHECK(!capture_open(0) && !capture_of_caller() && capture_open(1) && capturing(0) == 0);
    capture_stream_destroyed(FIRST);
    CHECK(capture_open(1));
    capture_stream_destroyed(SECOND);
    CHECK(!capture_open_any() && capturing(1) == 0);
    begin(FIRST, -1); /* device not known: any */
    CHECK(capture_open(0) && capture_open(1) && capturing(0) == 0);
    end(FIRST);
    CHECK(tessera_segment->counters[TESSERA_COUNTER_CAPTURES] == 3);
}

static int begun;

static void *begin_first(void *unused)
{
    begin(FIRST, 0);
    __atomic_store_n(&begun, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static void shielded(void)
{
    pthread_t thread;
    CHECK(capture_shield());
    CHECK(pthread_create(&thread, NULL, begin_first, NULL) == 0);
    usleep(50000);
    CHECK(!__atomic_load_n(&begun, __ATOMIC_SEQ_CST) && !capture_open_any());
    capture_unshield();
    CHECK(pthread_join(thread, NULL) == 0 && capture_open(0));
    CHECK(!capture_shield() && !capture_shield_wait()); /* and nothing is held: */
    end(FIRST);
    CHECK(capture_shield_wait());
    CHECK(!capture_shield()); /* does not wait for another shield, or a begin that is under way */
    capture_unshield();
}

/* A stream that does not exist, which a wrong call of the program may name. */
static void no_stream(void)
{
    begin(FIRST, 0);
    capture_stream_destroyed(0);
    CHECK(capture_open(0) && capturing(0) == 1);
    end(FIRST);
    CHECK(!capture_open_any() && capturing(0) == 0);
}

static void forked(void)
{
    begin(FIRST, 0);
    capture_forked();
    CHECK(!capture_open_any() && !capture_open(0) && capture_shield());
    capture_unshield();
}

int main(void)
{
    alarm(HANGS_S);
    CHECK(segment_open());
    open_ones();
    shielded();
    no_stream();
    forked();
    return 0;
}
