/* Markers of paced submissions: when one is recorded and waited for, how the window follows the device, and what a failure leaves. */
#include "direct/turns/pace.h"

#include <time.h>
#include <unistd.h>

#include "check.h"
#include "direct/turns/capture.h"
#include "session/segment.h"
#include "session/threads.h"
#include "tessera_entries.h"

#define FIRST_WINDOW 16u
#define LARGEST_WINDOW 256u
#define STREAM 0x100u
#define SECOND 1000000000ULL

static unsigned created, recorded, waited; /* calls of the driver */
static CUresult create_result, record_result, wait_result;
static long wait_ns; /* how long the device needs */
static bool was_marked;
static CUstream recorded_in;

static CUresult create(CUevent *event, unsigned flags)
{
    CHECK(flags == CU_EVENT_DISABLE_TIMING);
    *event = (CUevent)(uintptr_t)(0x1000 + ++created);
    return create_result;
}

static CUresult record(CUevent event, CUstream stream)
{
    CHECK(event);
    recorded++;
    recorded_in = stream;
    return record_result;
}

static CUresult wait_for(CUevent event)
{
    CHECK(event);
    waited++;
    was_marked = thread_slot->syncing == 1;
    struct timespec pause = {0, wait_ns};
    nanosleep(&pause, NULL);
    return wait_result;
}

static struct tessera_device *block(void)
{
    return &tessera_segment->devices[0];
}

static void submit(unsigned count, uintptr_t stream)
{
    for (unsigned i = 0; i < count; i++)
        pace_submission(pace_ticket(0, stream));
}

/* Submissions until the next marker. */
static unsigned window(void)
{
    unsigned before = recorded, count = 0;
    while (recorded == before && count <= LARGEST_WINDOW) {
        submit(1, STREAM);
        count++;
    }
    return count;
}

static void start(void)
{
    pace_forked();
    created = recorded = waited = 0;
    create_result = record_result = wait_result = CUDA_SUCCESS;
    wait_ns = 0;
    block()->pace_ns = 100 * SECOND; /* so long that only the window decides, on a busy machine too */
}

static void unpaced(void)
{
    start();
    block()->pace_ns = 0;
    submit(1000, STREAM);
    CHECK(created == 0 && recorded == 0);
}

/* The first submission of a lane gets a marker, since none came before. Later, the marker before the last one is waited for. */
static void markers(void)
{
    start();
    CHECK(window() == 1 && created == 1 && waited == 0 && recorded_in == (CUstream)STREAM);
    CHECK(window() == FIRST_WINDOW && created == 2 && waited == 1 && was_marked && thread_slot->syncing == 0);
    window();
    CHECK(created == 2 && recorded == 3 && waited == 2); /* the two events are used in turn */
    submit(1, STREAM + 0x10);                            /* another lane has markers of its own */
    CHECK(created == 3 && recorded == 4 && waited == 2 && recorded_in == (CUstream)(STREAM + 0x10));
}

/* Two windows should take as long as the bound: a device that is much faster gets windows twice as long, up to the largest. */
static void grows(void)
{
    start();
    wait_ns = 100000;
    uint64_t waits = tessera_segment->counters[TESSERA_COUNTER_PACE_WAITS];
    CHECK(window() == 1 && window() == FIRST_WINDOW && window() == FIRST_WINDOW); /* the first wait gives no interval */
    for (unsigned wanted = 2 * FIRST_WINDOW; wanted <= LARGEST_WINDOW; wanted *= 2)
        CHECK(window() == wanted);
    CHECK(window() == LARGEST_WINDOW);
    CHECK(tessera_segment->counters[TESSERA_COUNTER_PACE_WAITS] - waits == waited &&
          tessera_segment->counters[TESSERA_COUNTER_PACE_WAIT_NS] >= waited * 100000ULL);
}

/* A window that takes 60 ms, of a bound of 100 ms: two of them are too long. */
static void shrinks(void)
{
    start();
    wait_ns = 60000000;
    block()->pace_ns = SECOND / 10;
    CHECK(window() == 1 && window() <= FIRST_WINDOW);
    submit(6, STREAM);
    CHECK(recorded == 8); /* each of them more than a quarter of the bound after the one before */
    block()->pace_ns = 100 * SECOND;
    CHECK(window() < FIRST_WINDOW);
}

/* A new turn begins with an idle device, so earlier markers are not waited for. */
static void new_turn(void)
{
    start();
    window();
    window();
    CHECK(waited == 1);
    block()->turns++;
    window();
    CHECK(recorded == 3 && waited == 1 && created == 2);
    window();
    CHECK(recorded == 4 && waited == 2 && created == 2);
}

static void failures(void)
{
    start();
    create_result = CUDA_ERROR_OUT_OF_MEMORY;
    submit(FIRST_WINDOW + 1, STREAM);
    CHECK(created == 2 && recorded == 0); /* tried again with the next window */
    create_result = CUDA_SUCCESS;
    CHECK(window() == FIRST_WINDOW && created == 3 && waited == 0);
    record_result = CUDA_ERROR_INVALID_HANDLE; /* a stream of another context */
    window();
    CHECK(created == 4 && recorded == 2 && waited == 0);
    record_result = CUDA_SUCCESS;
    window();
    CHECK(created == 5 && waited == 0); /* both markers are forgotten */
    wait_result = CUDA_ERROR_INVALID_VALUE;
    window();
    CHECK(created == 6 && waited == 1);
    wait_result = CUDA_SUCCESS;
    window();
    CHECK(created == 7 && waited == 1);
}

static void context_ends(void)
{
    start();
    window();
    window();
    pace_forget(1);
    window();
    CHECK(created == 2 && waited == 2);
    pace_forget(0);
    window();
    CHECK(created == 3 && waited == 2);
}

/* A marker in a capture would become part of the graph. */
static void captures(void)
{
    start();
    capture_hold();
    capture_begun(STREAM, 0);
    capture_unshield();
    submit(1000, STREAM);
    CHECK(created == 0 && recorded == 0);
    capture_hold();
    capture_ended(STREAM);
    capture_unshield();
    submit(1, STREAM);
    CHECK(recorded == 1);
}

int main(void)
{
    alarm(HANGS_S);
    CHECK(segment_open() && thread_slot_take() == thread_slot);
    tessera_real[ENTRY_cuEventCreate] = (void *)create;
    tessera_real[ENTRY_cuEventRecord] = (void *)record;
    tessera_real[ENTRY_cuEventSynchronize] = (void *)wait_for;
    unpaced();
    markers();
    grows();
    shrinks();
    new_turn();
    failures();
    context_ends();
    captures();
    return 0;
}
