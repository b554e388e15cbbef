#include "direct/turns/pace.h"

#include <pthread.h>
#include <string.h>

#include "direct/turns/capture.h"
#include "driver/clock.h"
#include "session/segment.h"
#include "tessera_entries.h"
#include "session/threads.h"

#define LANES 32 /* per device; streams with the same hash share a lane */
#define WINDOW_MIN 1u
#define WINDOW_MAX 256u /* bounds the backlog when kernels become longer; a marker for 256 launches costs nothing */
#define WINDOW_START 16u
#define WAITED_NS 20000u /* after a shorter wait the marker was complete already: the device is not the bottleneck */
#define DEVICE_SHIFT 56  /* above all user-space addresses of x86-64, also with 57-bit paging */

struct lane {
    pthread_mutex_t lock;
    CUevent markers[2];
    int recorded[2];
    unsigned next;
    unsigned count;  /* submissions since the last marker */
    unsigned window; /* submissions per marker */
    uint64_t marked_ns;
    uint64_t completed_ns; /* when the last awaited marker was complete; 0: unknown */
    uint64_t turn; /* the markers' turn; markers of an earlier turn were completed by its drain and show no speed */
};

static struct lane lanes[TESSERA_MAX_DEVICES][LANES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void)
{
    for (int d = 0; d < TESSERA_MAX_DEVICES; d++)
        for (int i = 0; i < LANES; i++) {
            memset(&lanes[d][i], 0, sizeof lanes[d][i]);
            pthread_mutex_init(&lanes[d][i].lock, NULL);
            lanes[d][i].window = WINDOW_START;
        }
}

uintptr_t pace_ticket(unsigned device, uintptr_t stream)
{
    return stream | (uintptr_t)(device + 1) << DEVICE_SHIFT;
}

/* Stream handles are pointers: they differ in bits above the allocator's alignment. */
static struct lane *lane_of(unsigned device, uintptr_t stream)
{
    return &lanes[device][(stream >> 4 ^ stream >> 10 ^ stream) % LANES];
}

static void forget_markers(struct lane *lane)
{
    memset(lane->markers, 0, sizeof lane->markers);
    memset(lane->recorded, 0, sizeof lane->recorded);
    lane->completed_ns = 0;
}

/* Records the next marker. On failure (stream of another context, or the context has ended) resets the lane. */
static int record(struct lane *lane, uintptr_t stream)
{
    CUevent *marker = &lane->markers[lane->next];
    if (!*marker && REAL(cuEventCreate)(marker, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
        *marker = NULL;
        return 0;
    }
    if (REAL(cuEventRecord)(*marker, (CUstream)stream) != CUDA_SUCCESS) {
        forget_markers(lane);
        return 0;
    }
    lane->recorded[lane->next] = 1;
    lane->next ^= 1;
    return 1;
}

/* Computes the new window from the time that the device needed for the last one. */
static void adapt(struct lane *lane, uint64_t waited_ns, uint64_t done_ns, uint64_t bound_ns)
{
    unsigned window = lane->window;
    if (waited_ns < WAITED_NS) {
        lane->completed_ns = 0; /* the device was idle, so its speed is unknown */
        window *= 2;
    } else if (lane->completed_ns) {
        uint64_t interval_ns = done_ns - lane->completed_ns;
        uint64_t wanted = (uint64_t)window * (bound_ns / 2) / (interval_ns ? interval_ns : 1);
        window = wanted > window * 2 ? window * 2 : wanted < window / 2 ? window / 2 : (unsigned)wanted;
        lane->completed_ns = done_ns;
    } else {
        lane->completed_ns = done_ns;
    }
    lane->window = window < WINDOW_MIN ? WINDOW_MIN : window > WINDOW_MAX ? WINDOW_MAX : window;
}

static void mark(struct lane *lane, unsigned device, uintptr_t stream, uint64_t now_ns, uint64_t bound_ns)
{
    uint64_t turn = __atomic_load_n(&tessera_segment->devices[device].turns, __ATOMIC_RELAXED);
    if (turn != lane->turn) {
        memset(lane->recorded, 0, sizeof lane->recorded);
        lane->completed_ns = 0;
        lane->turn = turn;
    }
    lane->count = 0;
    lane->marked_ns = now_ns;
    if (!record(lane, stream) || !lane->recorded[lane->next])
        return;
    /* lane->next is the older marker now. The thread is marked as synchronising, so that it does not count as idle. */
    struct tessera_thread *slot = thread_slot;
    if (slot)
        __atomic_store_n(&slot->syncing, 1, __ATOMIC_RELAXED);
    CUresult result = REAL(cuEventSynchronize)(lane->markers[lane->next]);
    if (slot)
        __atomic_store_n(&slot->syncing, 0, __ATOMIC_RELAXED);
    if (result != CUDA_SUCCESS) {
        forget_markers(lane);
        return;
    }
    uint64_t done_ns = monotonic_ns();
    uint64_t waited_ns = done_ns - now_ns;
    if (waited_ns >= WAITED_NS) {
        segment_count(TESSERA_COUNTER_PACE_WAITS, 1);
        segment_count(TESSERA_COUNTER_PACE_WAIT_NS, waited_ns);
    }
    adapt(lane, waited_ns, done_ns, bound_ns);
}

void pace_submission(uintptr_t ticket)
{
    unsigned device = (unsigned)(ticket >> DEVICE_SHIFT) - 1;
    uintptr_t stream = ticket & (((uintptr_t)1 << DEVICE_SHIFT) - 1);
    uint64_t bound_ns = __atomic_load_n(&tessera_segment->devices[device].pace_ns, __ATOMIC_RELAXED);
    pthread_once(&once, prepare);
    struct lane *lane = lane_of(device, stream);
    if (bound_ns == 0 || pthread_mutex_trylock(&lane->lock) != 0)
        return; /* another thread paces this lane */
    uint64_t now_ns = monotonic_ns();
    if (now_ns - lane->marked_ns > 2 * bound_ns)
        lane->completed_ns = 0; /* the thread has waited for a turn since, so the interval would be that wait */
    lane->count++;
    int due = lane->count >= lane->window || now_ns - lane->marked_ns >= bound_ns / 4;
    if (due && capture_shield()) { /* in a capture the marker would become part of the graph */
        mark(lane, device, stream, now_ns, bound_ns);
        capture_unshield();
    }
    pthread_mutex_unlock(&lane->lock);
}

void pace_forget(unsigned device)
{
    pthread_once(&once, prepare);
    for (int i = 0; i < LANES; i++) {
        pthread_mutex_lock(&lanes[device][i].lock);
        forget_markers(&lanes[device][i]);
        pthread_mutex_unlock(&lanes[device][i].lock);
    }
}

void pace_forked(void)
{
    pthread_once(&once, prepare);
    prepare();
}
