#include "direct/swap/swap_pipeline.h"

#include <stddef.h>
#include <string.h>

#include "direct/chunks/backing.h"
#include "direct/swap/candidates.h"
#include "direct/chunks/chunks.h"
#include "driver/clock.h"
#include "direct/chunks/move_trace.h"
#include "direct/swap/chunk_copier.h"
#include "direct/swap/mapping_threads.h"
#include "session/manager.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "direct/chunks/shortage.h"

#define RETRY_NS 100000000ULL     /* after a copy or a mapping that failed */
#define BELL_BYTES (64u << 20)    /* the manager is told of freed memory after so many bytes, or */
#define BELL_NS 2000000ULL        /* after this time, so that the next client's copies overlap with these */
#define FLYING_BYTES (256u << 20) /* copies under way, 5 ms of bus time: the bus never idles, and memory is free soon */
#define AHEAD_BYTES (256u << 20)  /* memory mapped, or being mapped, whose copy in has not begun */
#define PLACES (3 * COPIER_DEPTH) /* COPIER_DEPTH small chunks each before, in and after their copies */
#define LOOK_NS 50000ULL          /* between polls of copies: a small part of a copy's time (64 MiB: 1.2 ms) */
#define WAIT_NS 10000000ULL       /* wait for page changes; their end wakes the thread */
#define LINGER_NS 2000000ULL      /* wait for memory that other clients release: one period of their bells */

enum stage { PLACE_FREE, PLACE_FILLING, PLACE_FILLED, PLACE_COPYING, PLACE_EMPTYING };

struct place {
    struct page_change change; /* has the chunk */
    enum stage stage;
};

/* For each device. Used by its turns thread alone, except `leaving`, which other threads read with the lock. */
static struct pipeline {
    struct place places[PLACES];
    unsigned used, copying;
    uint64_t ahead;          /* bytes of places FILLING or FILLED */
    uint64_t flying;         /* bytes of copies, either way */
    uint64_t leaving;        /* bytes leaving the device, from the copy to the end of the page change */
    uint64_t freed, rung_ns; /* since the last bell */
    uint64_t came_in_ns;
    bool waiting; /* no chunk can move now; written to the trace once */
    bool stopped; /* a move failed; the next round moves the rest */
    bool failure_said;
    const char *failure; /* to be reported once, without the lock */
    CUresult failure_code;
} transits[TESSERA_MAX_DEVICES];

static void ring(unsigned device, struct pipeline *t, uint64_t now_ns)
{
    t->freed = 0;
    t->rung_ns = now_ns;
    move_trace(device, "bell", NULL, 0);
    manager_ring(device);
}

void pipeline_freed(unsigned device, uint64_t bytes, bool now)
{
    struct pipeline *t = &transits[device];
    t->freed += bytes;
    if (now && t->freed)
        ring(device, t, monotonic_ns());
}

uint64_t pipeline_came_in_ns(unsigned device)
{
    return transits[device].came_in_ns;
}

void pipeline_state(unsigned device, unsigned state)
{
    if (residency_of(device)->state == state)
        return;
    residency_of(device)->state = state;
    residency_publish(device);
}

static void failed(unsigned device, struct pipeline *t, CUresult result, const char *what)
{
    if (result == CUDA_ERROR_DEINITIALIZED)
        return;
    RESIDENCY_COUNT(device, move_failures, 1);
    report_failure(result, "%s", what);
    t->failure = what;
    t->failure_code = result;
}

void pipeline_say_failure(unsigned device)
{
    struct pipeline *t = &transits[device];
    if (t->failure && !t->failure_said) {
        t->failure_said = true;
        report_line("%s (CUDA error %d): tried again, nothing is lost", t->failure, t->failure_code);
    }
}

uint64_t pipeline_excess(unsigned device)
{
    uint64_t held = residency_of(device)->resident - transits[device].leaving, target = residency_target(device);
    return held > target ? held - target : 0;
}

static struct place *free_place(struct pipeline *t)
{
    struct place *place = t->places;
    while (place->stage != PLACE_FREE)
        place++;
    return place;
}

static void leave_place(struct pipeline *t, struct place *place)
{
    place->stage = PLACE_FREE;
    t->used--;
}

/* With the lock, which is released meanwhile: begins the page change. */
static void change_pages(struct place *place, bool fill)
{
    place->stage = fill ? PLACE_FILLING : PLACE_EMPTYING;
    place->change.fill = fill;
    residency_unlock();
    mapping_begin(&place->change);
    residency_lock();
}

/* With the lock: ends the chunk's move in `state`, and publishes the sums. */
static void settle(struct chunk *chunk, unsigned state)
{
    chunk_change_begin(chunk);
    chunk->state = (uint8_t)state;
    chunk_change_end(chunk);
    residency_publish(chunk->device);
}

/* With the lock: frees the chunk's backing and updates the sums. */
static void drop_backing(struct chunk *chunk)
{
    chunk_change_begin(chunk);
    backing_give(chunk->device, chunk->backing);
    chunk->backing = NULL;
    chunk_change_end(chunk);
}

/* With the lock: the chunk could not leave and stays resident. */
static void not_out(struct pipeline *t, struct chunk *chunk, CUresult result, const char *what)
{
    failed(chunk->device, t, result, what);
    t->stopped = true;
    chunk->retry_ns = monotonic_ns() + RETRY_NS;
    drop_backing(chunk);
    settle(chunk, CHUNK_RESIDENT);
}

/* With the lock: the page change of a leaving chunk has ended; its memory is released, unless the driver refused. */
static void emptied(struct pipeline *t, struct place *place)
{
    struct chunk *chunk = place->change.chunk;
    unsigned device = chunk->device;
    t->leaving -= chunk->bytes;
    leave_place(t, place);
    if (place->change.result != CUDA_SUCCESS) {
        not_out(t, chunk, place->change.result, "physical memory could not be taken away");
        return;
    }
    residency_lower(device, chunk->bytes);
    RESIDENCY_COUNT(device, settled_chunks, 1);
    if (chunk->backing)
        RESIDENCY_COUNT(device, moved_out_bytes, chunk->bytes);
    else
        RESIDENCY_COUNT(device, dropped_bytes, chunk->bytes);
    settle(chunk, CHUNK_ABSENT);
    t->freed += chunk->bytes;
}

/* With the lock, which is released meanwhile: begins the copy of a chunk that has a place. */
static CUresult begin_copy(struct pipeline *t, struct place *place, bool out)
{
    struct chunk *chunk = place->change.chunk;
    move_trace(chunk->device, out ? "copy-out" : "copy-in", chunk, chunk->bytes);
    residency_unlock();
    CUresult result = copier_begin(chunk->device, chunk, out);
    residency_lock();
    if (result != CUDA_SUCCESS)
        return result;
    place->stage = PLACE_COPYING;
    t->copying++;
    t->flying += chunk->bytes;
    return result;
}

/* With the lock, which is released meanwhile: begins to move the place's chunk out. False: it stays resident. */
static bool begin_out(struct pipeline *t, struct place *place)
{
    struct chunk *chunk = place->change.chunk;
    unsigned device = chunk->device;
    t->leaving += chunk->bytes;
    if (!chunk_contents(chunk) || copier_lost(device)) {
        change_pages(place, false);
        return true;
    }
    struct backing_piece *pieces = backing_take(device, chunk->bytes);
    CUresult result = CUDA_SUCCESS;
    if (pieces) {
        chunk_change_begin(chunk);
        chunk->backing = pieces;
        chunk_change_end(chunk);
        result = begin_copy(t, place, true);
        if (result == CUDA_SUCCESS)
            return true;
    }
    t->leaving -= chunk->bytes;
    leave_place(t, place);
    if (pieces)
        not_out(t, chunk, result, "memory could not be copied to the host: it stays on the device");
    else /* no backing now: the next round tries again, when some may be pinned or released by others */
        settle(chunk, CHUNK_RESIDENT);
    t->stopped = true;
    return false;
}

/* With the lock, which is released meanwhile: the chunk could not come in and stays absent. */
static void not_in(struct pipeline *t, struct place *place, CUresult result)
{
    struct chunk *chunk = place->change.chunk;
    unsigned device = chunk->device;
    leave_place(t, place);
    t->stopped = true;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        RESIDENCY_COUNT(device, move_failures, 1); /* other clients are about to release memory */
    else
        failed(device, t, result, "memory could not be brought back to the device");
    if (chunk->handle) {
        residency_unlock();
        CUresult left = chunk_empty(chunk);
        residency_lock();
        /* The contents are still in the backing; the memory on the device is not used. */
        report_failure(left, "a chunk without contents stays on the device");
    }
    if (!chunk->handle)
        residency_lower(device, chunk->bytes);
    shortage_tell(device);
    chunk->retry_ns = monotonic_ns() + (result == CUDA_ERROR_OUT_OF_MEMORY ? RETRY_NS / 20 : RETRY_NS);
    settle(chunk, CHUNK_ABSENT);
}

/* With the lock: the chunk is resident. */
static void came_in(struct pipeline *t, struct place *place)
{
    struct chunk *chunk = place->change.chunk;
    leave_place(t, place);
    if (chunk->backing) {
        RESIDENCY_COUNT(chunk->device, moved_in_bytes, chunk->bytes);
        drop_backing(chunk);
        chunk->empty_since = UINT64_MAX;
    } else {
        chunk_set_empty(chunk);
    }
    settle(chunk, CHUNK_RESIDENT);
    RESIDENCY_COUNT(chunk->device, settled_chunks, 1);
    t->came_in_ns = monotonic_ns();
}

/*
 * With the lock, which is released meanwhile: begins the copy in of a FILLED place. False: too many copies are under
 * way.
 */
static bool copy_in(struct pipeline *t, struct place *place)
{
    struct chunk *chunk = place->change.chunk;
    bool copies = chunk->backing && !copier_lost(chunk->device);
    if (copies && (t->copying == COPIER_DEPTH || t->flying >= FLYING_BYTES))
        return false;
    CUresult result = copies ? begin_copy(t, place, false) : CUDA_SUCCESS;
    t->ahead -= chunk->bytes;
    if (result != CUDA_SUCCESS)
        not_in(t, place, result);
    else if (!copies)
        came_in(t, place);
    return true;
}

/* With the lock, which is released meanwhile: handles page changes that have ended. True: there were any. */
static bool advance(struct pipeline *t)
{
    bool any = false;
    for (struct place *place = t->places; place < t->places + PLACES; place++) {
        bool changes = place->stage == PLACE_FILLING || place->stage == PLACE_EMPTYING;
        if (changes && !mapping_ended(&place->change))
            continue;
        any |= changes;
        if (place->stage == PLACE_EMPTYING) {
            emptied(t, place);
        } else if (place->stage == PLACE_FILLING && place->change.result != CUDA_SUCCESS) {
            t->ahead -= place->change.chunk->bytes;
            not_in(t, place, place->change.result);
        } else if (place->stage == PLACE_FILLING) {
            place->stage = PLACE_FILLED;
        }
        if (place->stage == PLACE_FILLED)
            any |= copy_in(t, place);
    }
    return any;
}

/* With the lock, which is released meanwhile: handles copies that have ended. True: there were any. */
static bool end_copies(unsigned device, struct pipeline *t)
{
    bool any = false, out = false;
    CUresult result = CUDA_SUCCESS;
    residency_unlock();
    struct chunk *chunk = copier_ended(device, &out, &result);
    residency_lock();
    while (chunk) {
        struct place *place = t->places;
        while (place->stage != PLACE_COPYING || place->change.chunk != chunk)
            place++;
        move_trace(device, "copied", chunk, chunk->bytes);
        any = true;
        t->copying--;
        t->flying -= chunk->bytes;
        if (result != CUDA_SUCCESS && out) {
            t->leaving -= chunk->bytes;
            leave_place(t, place);
            not_out(t, chunk, result, "memory could not be copied to the host: it stays on the device");
        } else if (result != CUDA_SUCCESS) {
            not_in(t, place, result);
        } else if (out) {
            change_pages(place, false);
        } else {
            came_in(t, place);
        }
        residency_unlock();
        chunk = copier_ended(device, &out, &result);
        residency_lock();
    }
    return any;
}

/* With the lock, which is released meanwhile: begins to move one more chunk. */
static bool begin(unsigned device, struct pipeline *t, bool out)
{
    uint64_t under_way = out ? t->flying : t->ahead, most = out ? FLYING_BYTES : AHEAD_BYTES;
    bool room = t->used < PLACES && under_way < most && (!out || t->copying < COPIER_DEPTH);
    if (t->stopped || !room)
        return false;
    struct chunk *chunk = NULL;
    if (!out)
        chunk = candidate_in(device);
    else if (residency_of(device)->closed && pipeline_excess(device) != 0)
        chunk = candidate_out(device);
    if (!chunk && !t->waiting)
        move_trace(device, out ? "enough" : "short", NULL, residency_target(device));
    t->waiting = !chunk;
    if (!chunk)
        return false;
    pipeline_state(device, out ? TESSERA_RESIDENCY_MOVING_OUT : TESSERA_RESIDENCY_MOVING_IN);
    struct place *place = free_place(t);
    place->change.chunk = chunk;
    t->used++;
    if (out)
        return begin_out(t, place);
    t->ahead += chunk->bytes;
    if (chunk->handle)
        place->stage = PLACE_FILLED;
    else
        change_pages(place, true);
    return true;
}

/* With the lock, which is released meanwhile: rings the bell if it is due, else waits for the next event. */
static void await(unsigned device, struct pipeline *t)
{
    uint64_t now_ns = monotonic_ns();
    if (t->freed >= BELL_BYTES || (t->freed && now_ns - t->rung_ns >= BELL_NS)) {
        residency_unlock();
        ring(device, t, now_ns);
        residency_lock();
        return; /* no wait: a change may have been signalled while the lock was released */
    }
    residency_wait(now_ns + (t->copying ? LOOK_NS : t->used ? WAIT_NS : LINGER_NS));
}

/* With the lock: whether to wait for more room, because other clients seem to release memory right now. */
static bool lingers(unsigned device, const struct pipeline *t, bool out)
{
    const struct residency *r = residency_of(device);
    return !out && !t->stopped && t->came_in_ns && r->present < r->needed && monotonic_ns() - t->came_in_ns < LINGER_NS;
}

bool pipeline_move(unsigned device, bool out)
{
    struct pipeline *t = &transits[device];
    uint64_t from_ns = monotonic_ns();
    bool any = false;
    if (!copier_open(device))
        return false;
    t->stopped = false;
    move_trace(device, out ? "move-out" : "move-in", NULL, 0);
    residency_lock();
    for (;;) {
        bool got_on = end_copies(device, t);
        got_on |= advance(t);
        bool begun = begin(device, t, out);
        any |= begun;
        if (got_on || begun)
            continue;
        if (t->used == 0 && !lingers(device, t, out))
            break;
        await(device, t);
    }
    residency_unlock();
    copier_close(device);
    uint64_t spent_ns = monotonic_ns() - from_ns;
    move_trace(device, "moved", NULL, 0);
    move_trace_write();
    if (any && out)
        RESIDENCY_COUNT(device, move_out_ns, spent_ns);
    else if (any)
        RESIDENCY_COUNT(device, move_in_ns, spent_ns);
    return any;
}

void pipeline_forked(void)
{
    memset(transits, 0, sizeof transits);
}
