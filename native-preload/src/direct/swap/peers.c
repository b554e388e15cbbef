/*
 * Peer access of chunks: it is set by mapping, because the driver's setting covers only memory that the driver
 * allocated.
 */
#include "direct/chunks/chunks.h"
#include "driver/clock.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "session/settings.h"
#include "direct/swap/swap.h"

#define SLICE_NS 10000000ULL

/* With the lock: a chunk in that state, of an ordinary allocation, whose access differs from `wanted`; NULL: none. */
static struct chunk *pick_other(unsigned device, enum chunk_state state, uint32_t wanted)
{
    struct chunk *chunk = chunk_first(device);
    while (chunk && (chunk->state != state || chunk->properties || chunk->views->writable == wanted))
        chunk = chunk->next;
    return chunk;
}

/* With the lock: absent chunks get the new access when they get memory. */
static void set_absent(unsigned device, uint32_t wanted)
{
    for (struct chunk *chunk = chunk_first(device); chunk; chunk = chunk->next)
        if (chunk->state == CHUNK_ABSENT && !chunk->properties)
            chunk->views->readable = chunk->views->writable = wanted;
}

/* With the lock, which is released meanwhile. Devices that lose access are denied one by one (chunk_deny_access()). */
static void change(struct chunk *chunk, uint32_t wanted)
{
    uint32_t lost = chunk->views->writable & ~wanted;
    chunk_change_begin(chunk);
    chunk->state = CHUNK_BUSY;
    chunk->views->readable = chunk->views->writable = wanted;
    chunk_change_end(chunk);
    residency_unlock();
    CUresult result = chunk_apply_access(chunk, chunk->views);
    if (result == CUDA_SUCCESS)
        result = chunk_deny_access(chunk, chunk->views, lost);
    report_failure(result, "access between devices could not be changed");
    residency_lock();
    chunk_change_begin(chunk);
    chunk->state = CHUNK_RESIDENT;
    chunk_change_end(chunk);
}

void swap_peer_access(unsigned device, unsigned peer, bool enabled)
{
    if (device >= TESSERA_MAX_DEVICES || peer >= TESSERA_MAX_DEVICES || device == peer)
        return;
    residency_lock();
    uint32_t others = chunk_peers(device) & ~(1u << device);
    chunk_set_peers(device, enabled ? others | 1u << peer : others & ~(1u << peer));
    uint32_t wanted = chunk_peers(device);
    uint64_t until_ns = monotonic_ns() + settings()->memory_wait_ns;
    bool in_time = true;
    while (in_time) {
        struct chunk *chunk;
        set_absent(device, wanted);
        while ((chunk = pick_other(device, CHUNK_RESIDENT, wanted)))
            change(chunk, wanted);
        /* A BUSY chunk belongs to another thread, which moves or examines it. By now, another call may have set other access. */
        if (!pick_other(device, CHUNK_BUSY, wanted) || wanted != chunk_peers(device))
            break;
        residency_wait(monotonic_ns() + SLICE_NS);
        in_time = monotonic_ns() < until_ns;
    }
    residency_unlock();
    if (!in_time)
        report_error(0, "access between devices was not changed for memory that is in use by a move");
}
