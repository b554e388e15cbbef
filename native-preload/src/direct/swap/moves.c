#include "direct/swap/moves.h"

#include <stddef.h>
#include <string.h>

#include "direct/chunks/backing.h"
#include "direct/chunks/chunks.h"
#include "driver/clock.h"
#include "direct/chunks/exchange.h"
#include "direct/chunks/move_trace.h"
#include "direct/content/content_sample.h"
#include "direct/swap/mapping_threads.h"
#include "session/manager.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "direct/chunks/shortage.h"
#include "direct/chunks/block_cache.h"
#include "direct/swap/swap_pipeline.h"

#define POLL_NS 20000000ULL /* while memory waits for other clients to release theirs */
#define SOON_NS 500000ULL
#define SILENCE_NS 10000000000ULL

static struct moves {
    uint64_t waits_from_ns; /* when the gate began to wait for memory; 0: it does not wait */
    bool said;
} all[TESSERA_MAX_DEVICES];
static uint64_t (*release_free)(unsigned device);

void moves_release_first(uint64_t (*release)(unsigned device))
{
    release_free = release;
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

/* Evicts memory beyond the target: memory without contents first, then, if the gate is closed, memory with contents. */
static void leave(unsigned device)
{
    residency_lock();
    uint64_t over = pipeline_excess(device);
    uint64_t dropped = over ? block_cache_drop(device, over) : 0;
    bool pools_help = pipeline_excess(device) != 0;
    residency_unlock();
    pools_help = pools_help && release_free && release_free(device) != 0;
    residency_lock();
    if (pools_help)
        dropped += block_cache_drop(device, pipeline_excess(device));
    bool more = residency_of(device)->closed && pipeline_excess(device) != 0;
    residency_unlock();
    pipeline_freed(device, dropped, false);
    if (more && pipeline_move(device, true)) {
        residency_lock();
        bool reached = pipeline_excess(device) == 0;
        pipeline_state(device, TESSERA_RESIDENCY_STEADY);
        backing_trim(device);
        residency_unlock();
        if (reached)
            RESIDENCY_COUNT(device, moves_out, 1);
    }
    pipeline_freed(device, 0, true);
}

/* With the lock, which is released meanwhile: releases cached memory to make room for live chunks that are absent. */
static void make_room(unsigned device)
{
    const struct residency *r = residency_of(device);
    uint64_t lacks = r->needed - r->present, target = residency_target(device);
    uint64_t room = target > r->resident ? target - r->resident : 0;
    if (r->cached && lacks > room)
        block_cache_drop(device, lacks - room);
}

/* Brings live chunks that are absent in, as far as there is room. True: all are resident. */
static bool come(unsigned device)
{
    residency_lock();
    bool missing = any_waits(device, is_absent);
    if (missing)
        make_room(device);
    residency_unlock();
    if (!missing)
        return true;
    bool any = pipeline_move(device, false);
    residency_lock();
    bool all_in = residency_of(device)->present == residency_of(device)->needed;
    pipeline_state(device, TESSERA_RESIDENCY_STEADY);
    if (any)
        backing_trim(device);
    residency_unlock();
    if (any && all_in)
        RESIDENCY_COUNT(device, moves_in, 1);
    if (any)
        manager_ring(device);
    return all_in;
}

/* Reports once if the gate waits for memory and none has come in for SILENCE_NS. */
static void notice_silence(unsigned device, bool waiting)
{
    struct moves *m = &all[device];
    uint64_t now_ns = monotonic_ns(), since_ns = pipeline_came_in_ns(device);
    if (!waiting) {
        m->waits_from_ns = 0;
        m->said = false;
        return;
    }
    if (!m->waits_from_ns)
        m->waits_from_ns = now_ns;
    if (since_ns < m->waits_from_ns)
        since_ns = m->waits_from_ns;
    if (!m->said && now_ns - since_ns > SILENCE_NS) {
        m->said = true;
        report_line("GPU memory that was moved to the host has not come back for 10 s: others hold the device's memory");
    }
}

uint64_t moves_step(unsigned device, bool opening)
{
    move_trace_open();
    residency_lock();
    bool used = residency_of(device)->used;
    residency_unlock();
    if (!used)
        return UINT64_MAX;
    shortage_sample(device, opening);
    leave(device);
    bool all_in = come(device);
    notice_silence(device, opening && !all_in);
    pipeline_say_failure(device);
    residency_lock();
    const struct residency *r = residency_of(device);
    bool waits = !all_in || (r->closed && pipeline_excess(device) != 0);
    bool held_up = opening && r->present != r->needed; /* other threads change mappings of these chunks now */
    residency_unlock();
    return held_up && !waits ? SOON_NS : waits ? POLL_NS : UINT64_MAX;
}

void moves_forked(void)
{
    memset(all, 0, sizeof all);
    pipeline_forked();
    mapping_forked();
    content_sample_forked();
    exchange_forked();
    shortage_forked();
    move_trace_forked();
}
