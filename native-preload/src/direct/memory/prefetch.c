#include "direct/memory/prefetch.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "direct/memory/allocations.h"
#include "driver/clock.h"
#include "direct/turns/devices.h"
#include "session/report.h"
#include "session/segment.h"
#include "session/settings.h"
#include "tessera_entries.h"

#define PIECE_BYTES (512ULL << 20) /* some 10 ms of bus time, which bounds how late an order is seen */
#define MAX_ALLOCATIONS 65536u     /* the rest is left to page faults; a program with more has small allocations */

struct candidates {
    struct allocation *items; /* mapped memory */
    size_t count;
    unsigned device;
};

static void note(const struct allocation *allocation, void *state)
{
    struct candidates *c = state;
    if (allocation->space == ALLOCATION_POINTER && allocation->managed && allocation->device == c->device &&
        c->count < MAX_ALLOCATIONS)
        c->items[c->count++] = *allocation;
}

static int newest_first(const void *a, const void *b)
{
    uint64_t x = ((const struct allocation *)a)->link, y = ((const struct allocation *)b)->link;
    return x < y ? 1 : x > y ? -1 : 0;
}

static uint64_t room_on(unsigned device)
{
    const struct tessera_residency *r = &segment_get()->residency[device];
    uint64_t total = tessera_segment->devices[device].total_bytes;
    uint64_t own = r->resident_bytes; /* under plan auto: memory of plan swap, which is resident already */
    uint64_t most = r->active && r->resident_target < total ? r->resident_target : total;
    return most > own ? most - own : 0;
}

/* Fetches in pieces and waits for each, so that an order to end the turn is obeyed soon. False: the order changed. */
static bool fetch(const struct allocation *allocation, uint64_t bytes, CUstream stream, uint64_t word,
                  bool (*still)(unsigned device, uint64_t word))
{
    unsigned device = allocation->device;
    for (uint64_t done = 0; done < bytes; done += PIECE_BYTES) {
        uint64_t piece = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
        if (!still(device, word))
            return false;
        CUresult result = REAL(cuMemPrefetchAsync)(allocation->key + done, piece, (CUdevice)device, stream);
        if (result == CUDA_SUCCESS)
            result = REAL(cuStreamSynchronize)(stream);
        if (result != CUDA_SUCCESS) {
            /* Most likely the allocation was freed meanwhile. */
            __atomic_fetch_add(&tessera_segment->residency[device].move_failures, 1, __ATOMIC_RELAXED);
            return true;
        }
        __atomic_fetch_add(&tessera_segment->residency[device].moved_in_bytes, piece, __ATOMIC_RELAXED);
    }
    return true;
}

static void fetch_all(struct candidates *c, CUstream stream, uint64_t word,
                      bool (*still)(unsigned device, uint64_t word))
{
    uint64_t room = room_on(c->device);
    bool holds = true;
    for (size_t i = 0; i < c->count && room && holds; i++) {
        uint64_t bytes = c->items[i].bytes < room ? c->items[i].bytes : room;
        room -= bytes;
        holds = fetch(&c->items[i], bytes, stream, word, still);
    }
}

void prefetch_turn(unsigned device, uint64_t word, bool (*still)(unsigned device, uint64_t word))
{
    struct candidates c = {.device = device};
    size_t bytes = MAX_ALLOCATIONS * sizeof *c.items;
    void *context = devices_enter(device);
    if (!context)
        return;
    uint64_t from_ns = monotonic_ns();
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CUstream stream = NULL;
    if (memory != MAP_FAILED && REAL(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS) {
        c.items = memory;
        allocations_each(note, &c);
        qsort(c.items, c.count, sizeof *c.items, newest_first);
        fetch_all(&c, stream, word, still);
        REAL(cuStreamDestroy_v2)(stream);
        struct tessera_residency *r = &tessera_segment->residency[device];
        __atomic_fetch_add(&r->moves_in, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&r->move_in_ns, monotonic_ns() - from_ns, __ATOMIC_RELAXED);
    } else {
        report_error(0, "nothing could be prefetched: no memory or no stream for it");
    }
    if (memory != MAP_FAILED)
        munmap(memory, bytes);
    devices_leave(context);
}
