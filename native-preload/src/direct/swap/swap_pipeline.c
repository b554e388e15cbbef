#include "direct/swap/swap_pipeline.h"

#include <stddef.h>
#include <string.h>

#include "direct/swap/candidates.h"
#include "direct/swap/chunk_coming.h"
#include "direct/swap/chunk_leaving.h"
#include "direct/chunks/chunks.h"
#include "driver/clock.h"
#include "direct/chunks/move_trace.h"
#include "direct/swap/chunk_copier.h"
#include "direct/content/content_look.h"
#include "session/manager.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/segment.h"

#define BELL_BYTES (64u << 20) /* a doorbell tells the manager of freed memory: after this many bytes, or */
#define BELL_NS 2000000ULL     /* after this time, so that the next client's copies overlap with these */
#define AHEAD_BYTES                                                                                                    \
    (256u << 20) /* memory mapped, or being mapped, whose copy in has not begun; more if that is less than */
#define AHEAD_CHUNKS 4
#define FEEDING_CHUNKS 2     /* of these, whose contents are to be copied next; the others need no copy */
#define POLL_NS 50000ULL     /* between polls of copies and looks: a small part of a copy's time (64 MiB: 1.2 ms) */
#define WAIT_NS 10000000ULL  /* wait for page changes; their end wakes the thread */
#define LINGER_NS 2000000ULL /* wait for memory that other clients release: one period of their bells */

/* Used by the turns thread of each device alone, except `leaving`. */
static struct moving all[TESSERA_MAX_DEVICES];

static void ring(unsigned device, struct moving *t, uint64_t now_ns)
{
    t->freed = 0;
    t->rung_ns = now_ns;
    move_trace(device, "bell", NULL, 0);
    manager_ring(device);
}

void pipeline_freed(unsigned device, uint64_t bytes, bool now)
{
    struct moving *t = &all[device];
    t->freed += bytes;
    if (now && t->freed)
        ring(device, t, monotonic_ns());
}

uint64_t pipeline_came_in_ns(unsigned device)
{
    return all[device].came_in_ns;
}

void pipeline_state(unsigned device, unsigned state)
{
    if (residency_of(device)->state == state)
        return;
    residency_of(device)->state = state;
    residency_publish(device);
}

void pipeline_say_failure(unsigned device)
{
    struct moving *t = &all[device];
    if (t->failure && !t->failure_said) {
        t->failure_said = true;
        report_line("%s (CUDA error %d): tried again, nothing is lost", t->failure, t->failure_code);
    }
}

uint64_t pipeline_excess(unsigned device)
{
    uint64_t held = residency_of(device)->resident - all[device].leaving, target = residency_target(device);
    return held > target ? held - target : 0;
}

/* With the lock, which is released meanwhile: handles page changes that have ended. True: there were any. */
static bool advance(struct moving *t)
{
    bool any = false;
    for (struct place *place = t->places; place < t->places + MOVING_PLACES; place++) {
        bool changes = place->stage == PLACE_FILLING || place->stage == PLACE_EMPTYING;
        if (changes && !mapping_ended(&place->change))
            continue;
        any |= changes;
        if (place->stage == PLACE_EMPTYING) {
            leaving_emptied(t, place);
        } else if (place->stage == PLACE_FILLING && place->change.result != CUDA_SUCCESS) {
            coming_begun(t, place);
            coming_failed(t, place, place->change.result);
        } else if (place->stage == PLACE_FILLING) {
            place->stage = PLACE_FILLED;
        }
        if (place->stage == PLACE_FILLED)
            any |= coming_copy(t, place);
        else if (place->stage == PLACE_LOOKED)
            any |= leaving_copy(t, place);
    }
    return any;
}

/* With the lock, which is released meanwhile: handles copies that have ended. True: there were any. */
static bool end_copies(unsigned device, struct moving *t)
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
        t->flying -= place->copied;
        if (result != CUDA_SUCCESS && out) {
            t->leaving -= chunk->bytes;
            move_leave_place(t, place);
            leaving_failed(t, chunk, result, "memory could not be copied to the host: it stays on the device");
        } else if (result != CUDA_SUCCESS) {
            coming_failed(t, place, result);
        } else if (out) {
            leaving_copied(place);
            move_change_pages(place, false);
        } else {
            coming_ended(t, place);
        }
        residency_unlock();
        chunk = copier_ended(device, &out, &result);
        residency_lock();
    }
    return any;
}

/* With the lock: whether one more chunk may come in. */
static bool may_come(unsigned device, const struct moving *t)
{
    return t->ahead < AHEAD_BYTES || t->ahead < AHEAD_CHUNKS * residency_chunk_size(device);
}

/* With the lock, which is released meanwhile: begins to move one more chunk. */
static bool begin(unsigned device, struct moving *t, bool out)
{
    bool room = t->used < MOVING_PLACES && (out ? t->looking < LOOKS : may_come(device, t));
    if (t->stopped || !room)
        return false;
    struct chunk *chunk = NULL;
    if (!out) /* pages of memory that is only cleared change while the bus is busy with the rest */
        chunk = candidate_in(device, t->feeding < FEEDING_CHUNKS * residency_chunk_size(device));
    else if (residency_of(device)->closed && pipeline_excess(device) != 0)
        chunk = candidate_out(device);
    if (!chunk && !t->waiting)
        move_trace(device, out ? "enough" : "short", NULL, residency_target(device));
    t->waiting = !chunk;
    if (!chunk)
        return false;
    pipeline_state(device, out ? TESSERA_RESIDENCY_MOVING_OUT : TESSERA_RESIDENCY_MOVING_IN);
    struct place *place = move_free_place(t);
    place->change.chunk = chunk;
    t->used++;
    if (out) {
        leaving_begin(t, place);
        return true;
    }
    if (chunk->away && copier_lost(device))
        chunk_forget_content(chunk); /* so the driver makes its memory: handed memory has another client's contents */
    place->feeds = candidate_copied(chunk);
    t->ahead += chunk->bytes;
    t->feeding += place->feeds ? chunk->bytes : 0;
    if (chunk->handle)
        place->stage = PLACE_FILLED;
    else
        move_change_pages(place, true);
    return true;
}

/* With the lock, which is released meanwhile: rings the bell if it is due, else waits for the next event. */
static void await(unsigned device, struct moving *t)
{
    uint64_t now_ns = monotonic_ns();
    if (t->freed >= BELL_BYTES || (t->freed && now_ns - t->rung_ns >= BELL_NS)) {
        residency_unlock();
        ring(device, t, now_ns);
        residency_lock();
        return; /* no wait: a change may have been signalled while the lock was released */
    }
    residency_wait(now_ns + (t->copying || t->looking ? POLL_NS : t->used ? WAIT_NS : LINGER_NS));
}

/* With the lock: whether to wait for more room, because other clients seem to release memory right now. */
static bool lingers(unsigned device, const struct moving *t, bool out)
{
    const struct residency *r = residency_of(device);
    return !out && !t->stopped && t->came_in_ns && r->present < r->needed && monotonic_ns() - t->came_in_ns < LINGER_NS;
}

bool pipeline_move(unsigned device, bool out)
{
    struct moving *t = &all[device];
    uint64_t from_ns = monotonic_ns();
    bool any = false;
    if (!copier_open(device))
        return false;
    t->stopped = false;
    move_trace(device, out ? "move-out" : "move-in", NULL, 0);
    residency_lock();
    for (;;) {
        bool got_on = leaving_end_looks(device, t);
        got_on |= end_copies(device, t);
        got_on |= advance(t);
        bool begun = begin(device, t, out);
        any |= begun;
        if (got_on || begun)
            continue;
        residency_unlock();
        look_flush(looker_of_moves(device));
        residency_lock();
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
    memset(all, 0, sizeof all);
}
