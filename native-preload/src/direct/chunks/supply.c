#include "direct/chunks/supply.h"

#include "driver/clock.h"
#include "direct/turns/turns_thread.h"
#include "direct/turns/residency.h"
#include "session/manager.h"
#include "session/settings.h"
#include "direct/chunks/shortage.h"
#include "direct/chunks/block_cache.h"

/* Between two tries when the driver has less than the manager thinks: others are about to give theirs back. */
#define RETRY_NS 5000000ULL

/* With the lock: whether memory may come later, before the gate opens. */
static bool may_follow(unsigned device)
{
    return residency_of(device)->closed && residency_planned(device);
}

/* With the lock: the process wants so much more, or so much less. */
static void want(unsigned device, uint64_t by)
{
    residency_of(device)->wanted += by;
    residency_publish(device);
}

/* With the lock, which is released meanwhile: waits for a change. False: time is up. */
static bool wait_for_change(unsigned device, uint64_t until_ns)
{
    residency_unlock();
    manager_ring(device);
    residency_lock();
    return monotonic_ns() < until_ns && residency_wait(until_ns);
}

/* With the lock, which is released meanwhile: waits for a change, having said how much is wanted. False: time is up. */
static bool wait_for_room(unsigned device, uint64_t bytes, uint64_t until_ns)
{
    want(device, bytes);
    bool in_time = wait_for_change(device, until_ns);
    want(device, -bytes);
    return in_time;
}

/* What a thread of the program asks for. */
struct request {
    uint64_t bytes; /* of all its chunks */
    uint64_t rest;  /* of those that lack memory still */
    uint64_t said;  /* wanted since the driver refused some, until it gives it */
    uint64_t until_ns;
};

/*
 * With the lock, which is released meanwhile: raises what is held by so many bytes. False: memory may follow later,
 * time is up, or the device has less than was believed.
 */
static bool raise(unsigned device, uint64_t bytes, struct request *request)
{
    while (!residency_raise(device, bytes)) {
        if (may_follow(device) || !residency_possible(device, request->bytes))
            return false;
        if (block_cache_drop(device, bytes))
            continue;
        if (!wait_for_room(device, request->rest - request->said, request->until_ns))
            return false;
    }
    return true;
}

bool supply_room(unsigned device, uint64_t bytes, uint64_t until_ns)
{
    while (!residency_raise(device, bytes))
        if (!block_cache_drop(device, bytes) && !wait_for_room(device, bytes, until_ns))
            return false;
    return true;
}

/* With the lock, which is released meanwhile: fills one chunk, or tells why not. */
static CUresult try_one(struct chunk *chunk, struct request *request)
{
    unsigned device = chunk->device;
    for (;;) {
        if (!raise(device, chunk->bytes, request))
            return CUDA_ERROR_OUT_OF_MEMORY;
        residency_unlock();
        CUresult result = chunk_fill(chunk);
        residency_lock();
        if (result == CUDA_SUCCESS) {
            RESIDENCY_COUNT(device, settled_chunks, 1);
            return result;
        }
        residency_lower(device, chunk->bytes);
        shortage_tell(device);
        if (result != CUDA_ERROR_OUT_OF_MEMORY)
            return result;
        if (block_cache_drop(device, chunk->bytes))
            continue;
        uint64_t now_ns = monotonic_ns();
        if (!residency_planned(device) || now_ns > request->until_ns || !residency_possible(device, request->bytes))
            return result;
        want(device, request->rest - request->said); /* so that others give theirs up */
        request->said = request->rest;
        wait_for_change(device, now_ns + RETRY_NS);
    }
}

static CUresult supply_one(struct chunk *chunk, struct request *request)
{
    CUresult result = try_one(chunk, request);
    if (request->said)
        want(chunk->device, -request->said);
    request->said = 0;
    return result;
}

/* With the lock: the chunk is BUSY no more. It is live, or has memory without contents that is to be given back. */
static void settle(struct chunk *chunks, bool live)
{
    for (struct chunk *chunk = chunks; chunk; chunk = chunk->sibling) {
        chunk_change_begin(chunk);
        chunk->live = live;
        chunk->state = chunk->handle ? CHUNK_RESIDENT : CHUNK_ABSENT;
        chunk_set_empty(chunk);
        chunk_change_end(chunk);
    }
}

/* What the chunks from this one on have, or lack. */
static uint64_t bytes_of(const struct chunk *chunk, bool lacking)
{
    uint64_t bytes = 0;
    for (; chunk; chunk = chunk->sibling)
        bytes += lacking && chunk->handle ? 0 : chunk->bytes;
    return bytes;
}

CUresult supply_chunks(struct chunk *chunks)
{
    unsigned device = chunks->device;
    struct request request = {.bytes = bytes_of(chunks, false), .until_ns = monotonic_ns() + settings()->memory_wait_ns};
    residency_lock();
    /* At once: a framework frees what it caches, and tries again. */
    CUresult result = residency_possible(device, request.bytes) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    struct chunk *chunk = chunks;
    while (chunk && !may_follow(device) && result == CUDA_SUCCESS) {
        request.rest = bytes_of(chunk, true);
        if (!chunk->handle)
            result = supply_one(chunk, &request);
        if (result == CUDA_SUCCESS)
            chunk = chunk->sibling;
        else if (result == CUDA_ERROR_OUT_OF_MEMORY && may_follow(device))
            result = CUDA_SUCCESS;
    }
    /*
     * Memory that other threads allocated meanwhile counts, too: if all of it never fits at once, the gate would stay
     * closed for ever.
     */
    if (!residency_possible(device, request.bytes))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    settle(chunks, result == CUDA_SUCCESS);
    residency_publish(device);
    bool follows = residency_of(device)->closed;
    residency_unlock();
    if (follows) /* it may be fetched ahead of the turn */
        turns_thread_wake(device);
    return result;
}
