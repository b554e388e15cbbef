#include "moves.h"

#include <stddef.h>
#include <string.h>

#include "attendant.h"
#include "backing.h"
#include "chunks.h"
#include "clock.h"
#include "mover.h"
#include "pools.h"
#include "report.h"
#include "residency.h"
#include "segment.h"
#include "spare.h"

#define RETRY_NS 100000000ULL   /* after a copy or a mapping that failed */
#define POLL_NS 20000000ULL     /* while something waits for memory that others give up */
#define SOON_NS 500000ULL
#define BELL_BYTES (64u << 20)  /* the manager hears of freed memory this often, or */
#define BELL_NS 2000000ULL      /* this often, so that the next client's copies run beside these */
#define FLYING_BYTES (256u << 20) /* 5 ms of the bus: it never waits, and the first memory is free soon */
#define SILENCE_NS 10000000000ULL

static struct moves {
    uint64_t freed, rung_ns;  /* since the last bell */
    uint64_t progress_ns;     /* when something last came in, or the wait began; 0: nothing is waited for */
    bool said, failure_said;
    const char *failure;      /* to be said once, without the lock */
    CUresult failure_code;
    unsigned under_way;
    uint64_t leaving;         /* bytes of copies out that are under way */
    uint64_t flying;          /* of copies either way */
} all[TESSERA_MAX_DEVICES];

static void ring(unsigned device, struct moves *m, uint64_t now_ns)
{
    m->freed = 0;
    m->rung_ns = now_ns;
    attendant_ring_manager(device);
}

/* With the lock. */
static void set_state(unsigned device, unsigned state)
{
    if (residency_of(device)->state == state)
        return;
    residency_of(device)->state = state;
    residency_publish(device);
}

static void failed(unsigned device, struct moves *m, CUresult result, const char *what)
{
    RESIDENCY_COUNT(device, move_failures, 1);
    report_error(result, "%s", what);
    m->failure = what;
    m->failure_code = result;
}

/* Standard error may be a pipe that nobody reads: without the lock. */
static void say_failure(struct moves *m)
{
    if (m->failure && !m->failure_said) {
        m->failure_said = true;
        report_line("%s (CUDA error %d): tried again, nothing is lost", m->failure, m->failure_code);
    }
}

/* With the lock: how much more than allowed is held, copies under way taken off. */
static uint64_t excess(unsigned device, const struct moves *m)
{
    uint64_t held = residency_of(device)->resident - m->leaving, target = residency_target(device);
    return held > target ? held - target : 0;
}

/* Contents that the device itself may not read where they are mapped cannot be copied. */
static bool can_leave(const struct chunk *chunk, uint64_t now_ns)
{
    return chunk->state == CHUNK_RESIDENT && chunk->live && !chunk->fixed && !chunk->stuck &&
           chunk->retry_ns <= now_ns && (chunk_address(chunk) || !chunk_contents(chunk));
}

/* With the lock: the next chunk to leave, now BUSY; NULL: enough leave, or none can. */
static struct chunk *pick_leaving(unsigned device, const struct moves *m)
{
    if (!residency_of(device)->closed || excess(device, m) == 0)
        return NULL;
    uint64_t now_ns = monotonic_ns();
    struct chunk *chunk = chunk_search(device, SEARCH_OUT, can_leave, now_ns);
    if (chunk) {
        chunk_change_begin(chunk);
        chunk->state = CHUNK_BUSY;
        chunk_change_end(chunk);
    }
    return chunk;
}

/* With the lock: a move is over, and the chunk in `state`; with the lock's counts. */
static void settle(struct chunk *chunk, unsigned state)
{
    chunk_change_begin(chunk);
    chunk->state = (uint8_t)state;
    chunk_change_end(chunk);
    residency_publish(chunk->device);
}

/* With the lock: gives the backing up, and what it counts for. */
static void drop_backing(struct chunk *chunk)
{
    chunk_change_begin(chunk);
    backing_give(chunk->device, chunk->backing);
    chunk->backing = NULL;
    chunk_change_end(chunk);
}

/* With the lock, which is released meanwhile: contents are safe, or lost, or never were; the memory goes. */
static void release(unsigned device, struct moves *m, struct chunk *chunk)
{
    residency_unlock();
    CUresult result = chunk_empty(chunk);
    residency_lock();
    if (result != CUDA_SUCCESS) {
        failed(device, m, result, "physical memory could not be taken away");
        chunk->retry_ns = monotonic_ns() + RETRY_NS;
        drop_backing(chunk);
        settle(chunk, CHUNK_RESIDENT);
        return;
    }
    residency_lower(device, chunk->bytes);
    if (chunk->backing)
        RESIDENCY_COUNT(device, moved_out_bytes, chunk->bytes);
    else
        RESIDENCY_COUNT(device, dropped_bytes, chunk->bytes);
    settle(chunk, CHUNK_ABSENT);
    m->freed += chunk->bytes;
}

/* With the lock, which is released meanwhile. False: nothing came of it. */
static bool begin_out(unsigned device, struct moves *m, struct chunk *chunk)
{
    if (!chunk_contents(chunk) || mover_lost(device)) {
        release(device, m, chunk);
        return true;
    }
    struct backing_piece *pieces = backing_take(device, chunk->bytes);
    if (!pieces) { /* soon some may be pinned, or given up by others: the next round asks again */
        settle(chunk, CHUNK_RESIDENT);
        return false;
    }
    chunk_change_begin(chunk);
    chunk->backing = pieces;
    chunk_change_end(chunk);
    residency_unlock();
    CUresult result = mover_begin(device, chunk, true);
    residency_lock();
    if (result == CUDA_SUCCESS) {
        m->under_way++;
        m->leaving += chunk->bytes;
        m->flying += chunk->bytes;
        return true;
    }
    failed(device, m, result, "memory could not be copied to the host: it stays on the device");
    chunk->retry_ns = monotonic_ns() + RETRY_NS;
    drop_backing(chunk);
    settle(chunk, CHUNK_RESIDENT);
    return false;
}

static bool can_come(const struct chunk *chunk, uint64_t now_ns)
{
    return chunk->state == CHUNK_ABSENT && chunk->live && chunk->retry_ns <= now_ns;
}

/* With the lock: the next chunk to come in, BUSY and paid for; NULL: none, or there is no room. */
static struct chunk *pick_coming(unsigned device)
{
    uint64_t now_ns = monotonic_ns();
    struct chunk *chunk = chunk_search(device, SEARCH_IN, can_come, now_ns);
    bool paid = chunk && (chunk->handle || residency_raise(device, chunk->bytes));
    if (!paid)
        return NULL;
    chunk_change_begin(chunk);
    chunk->state = CHUNK_BUSY;
    chunk_change_end(chunk);
    return chunk;
}

/* With the lock, which is released meanwhile: it did not come in, and is as before. */
static void not_in(struct moves *m, struct chunk *chunk, CUresult result)
{
    unsigned device = chunk->device;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        RESIDENCY_COUNT(device, move_failures, 1); /* others are about to give theirs back */
    else
        failed(device, m, result, "memory could not be brought back to the device");
    if (chunk->handle) {
        residency_unlock();
        CUresult emptied = chunk_empty(chunk);
        residency_lock();
        if (emptied != CUDA_SUCCESS) /* its contents are in the backing still: what is on the device is not used */
            report_error(emptied, "a chunk without contents stays on the device");
    }
    if (!chunk->handle)
        residency_lower(device, chunk->bytes);
    chunk->retry_ns = monotonic_ns() + (result == CUDA_ERROR_OUT_OF_MEMORY ? RETRY_NS / 20 : RETRY_NS);
    settle(chunk, CHUNK_ABSENT);
}

/* With the lock: it is in. */
static void came_in(struct moves *m, struct chunk *chunk)
{
    if (chunk->backing) {
        RESIDENCY_COUNT(chunk->device, moved_in_bytes, chunk->bytes);
        drop_backing(chunk);
        chunk->empty_since = UINT64_MAX;
    } else {
        chunk_set_empty(chunk);
    }
    settle(chunk, CHUNK_RESIDENT);
    m->progress_ns = monotonic_ns();
}

/* With the lock, which is released meanwhile. False: nothing came of it. */
static bool begin_in(unsigned device, struct moves *m, struct chunk *chunk)
{
    residency_unlock();
    CUresult result = chunk->handle ? CUDA_SUCCESS : chunk_fill(chunk);
    bool copies = result == CUDA_SUCCESS && chunk->backing && !mover_lost(device);
    if (copies)
        result = mover_begin(device, chunk, false);
    residency_lock();
    if (result != CUDA_SUCCESS) {
        not_in(m, chunk, result);
        return false;
    }
    if (copies) {
        m->under_way++;
        m->flying += chunk->bytes;
    } else {
        came_in(m, chunk);
    }
    return true;
}

/* Without the lock: the oldest copy under way is over. False: none was. */
static bool end_one(unsigned device, struct moves *m)
{
    bool out = false;
    CUresult result = CUDA_SUCCESS;
    struct chunk *chunk = mover_end(device, &out, &result);
    if (!chunk)
        return false;
    residency_lock();
    m->under_way--;
    m->flying -= chunk->bytes;
    if (out)
        m->leaving -= chunk->bytes;
    if (result != CUDA_SUCCESS && out) {
        failed(device, m, result, "memory could not be copied to the host: it stays on the device");
        chunk->retry_ns = monotonic_ns() + RETRY_NS;
        drop_backing(chunk);
        settle(chunk, CHUNK_RESIDENT);
    } else if (result != CUDA_SUCCESS) {
        not_in(m, chunk, result);
    } else if (out) {
        release(device, m, chunk);
    } else {
        came_in(m, chunk);
    }
    residency_unlock();
    uint64_t now_ns = monotonic_ns();
    if (m->freed >= BELL_BYTES || (m->freed && now_ns - m->rung_ns >= BELL_NS))
        ring(device, m, now_ns);
    return true;
}

/* Moves in one direction until nothing more is to be done, or can be. True: something was done. */
static bool move(unsigned device, struct moves *m, bool out)
{
    uint64_t from_ns = monotonic_ns();
    bool any = false, going = true;
    if (!mover_open(device))
        return false;
    while (going || m->under_way) {
        struct chunk *chunk = NULL;
        residency_lock();
        if (going && m->under_way < MOVER_DEPTH && m->flying < FLYING_BYTES)
            chunk = out ? pick_leaving(device, m) : pick_coming(device);
        if (chunk) {
            set_state(device, out ? TESSERA_RESIDENCY_MOVING_OUT : TESSERA_RESIDENCY_MOVING_IN);
            bool begun = out ? begin_out(device, m, chunk) : begin_in(device, m, chunk);
            any |= begun;
            going = begun;
        }
        residency_unlock();
        if (!chunk && !end_one(device, m))
            going = false;
    }
    mover_close(device);
    uint64_t spent_ns = monotonic_ns() - from_ns;
    if (any && out)
        RESIDENCY_COUNT(device, move_out_ns, spent_ns);
    else if (any)
        RESIDENCY_COUNT(device, move_in_ns, spent_ns);
    return any;
}

static bool any_waits(unsigned device, bool (*waits)(const struct chunk *))
{
    const struct chunk *chunk = chunk_first(device);
    while (chunk && !waits(chunk))
        chunk = chunk->next;
    return chunk != NULL;
}

static bool is_absent(const struct chunk *chunk)
{
    return chunk->live && chunk->state == CHUNK_ABSENT;
}

/* What is more than allowed goes: first what has no contents, then, if the gate is closed, what has. */
static void leave(unsigned device, struct moves *m)
{
    residency_lock();
    uint64_t over = excess(device, m);
    uint64_t dropped = over ? spare_drop(device, over) : 0;
    m->freed += dropped;
    bool pools_help = excess(device, m) != 0;
    residency_unlock();
    pools_help = pools_help && pools_release(device) != 0;
    residency_lock();
    if (pools_help)
        m->freed += spare_drop(device, excess(device, m));
    bool more = residency_of(device)->closed && excess(device, m) != 0;
    residency_unlock();
    if (more && move(device, m, true)) {
        residency_lock();
        bool reached = excess(device, m) == 0;
        set_state(device, TESSERA_RESIDENCY_STEADY);
        backing_trim(device);
        residency_unlock();
        if (reached)
            RESIDENCY_COUNT(device, moves_out, 1);
    }
    if (m->freed)
        ring(device, m, monotonic_ns());
}

/* What is live and away comes, as far as there is room. True: all is in. */
static bool come(unsigned device, struct moves *m)
{
    residency_lock();
    bool missing = any_waits(device, is_absent);
    residency_unlock();
    if (!missing)
        return true;
    bool any = move(device, m, false);
    residency_lock();
    bool all_in = residency_of(device)->present == residency_of(device)->needed;
    set_state(device, TESSERA_RESIDENCY_STEADY);
    if (any)
        backing_trim(device);
    residency_unlock();
    if (any && all_in)
        RESIDENCY_COUNT(device, moves_in, 1);
    if (any)
        attendant_ring_manager(device);
    return all_in;
}

/* The gate waits for memory: says so, once, when nothing has come for long. */
static void notice_silence(struct moves *m, bool waiting)
{
    uint64_t now_ns = monotonic_ns();
    if (!waiting) {
        m->progress_ns = 0;
        m->said = false;
        return;
    }
    if (!m->progress_ns)
        m->progress_ns = now_ns;
    if (!m->said && now_ns - m->progress_ns > SILENCE_NS) {
        m->said = true;
        report_line("GPU memory that was moved to the host has not come back for 10 s: others hold the device's memory");
    }
}

uint64_t moves_step(unsigned device, bool opening)
{
    struct moves *m = &all[device];
    residency_lock();
    bool used = residency_of(device)->used;
    residency_unlock();
    if (!used)
        return UINT64_MAX;
    leave(device, m);
    bool all_in = come(device, m);
    notice_silence(m, opening && !all_in);
    say_failure(m);
    residency_lock();
    const struct residency *r = residency_of(device);
    bool waits = !all_in || (r->closed && excess(device, m) != 0);
    bool held_up = opening && r->present != r->needed; /* by threads that change mappings now */
    residency_unlock();
    return held_up && !waits ? SOON_NS : waits ? POLL_NS : UINT64_MAX;
}

void moves_forked(void)
{
    memset(all, 0, sizeof all);
}
