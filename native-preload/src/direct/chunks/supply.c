#include "direct/chunks/supply.h"

#include "driver/clock.h"
#include "direct/turns/turns_thread.h"
#include "direct/turns/residency.h"
#include "session/manager.h"
#include "session/settings.h"
#include "direct/chunks/shortage.h"
#include "direct/chunks/block_cache.h"

/* Time between two tries when the driver has less than the manager assumes: other clients are about to release memory. */
#define RETRY_NS 5000000ULL

/* With the lock: whether the chunks may stay absent for now, because the gate opens only when they are resident. */
static bool may_follow(unsigned device)
{
    return residency_of(device)->closed && residency_planned(device);
}

/* With the lock: adds to the memory that the process waits for; negative values as two's complement. */
static void want(unsigned device, uint64_t by)
{
    residency_of(device)->wanted += by;
    residency_publish(device);
}

/* With the lock, which is released meanwhile: rings, and waits for a change. False: time is up. */
static bool wait_for_change(unsigned device, uint64_t until_ns)
{
    residency_unlock();
    manager_ring(device);
    residency_lock();
    return monotonic_ns() < until_ns && residency_wait(until_ns);
}

/* With the lock, which is released meanwhile: as wait_for_change(), with `bytes` published as wanted. */
static bool wait_for_room(unsigned device, uint64_t bytes, uint64_t until_ns)
{
    want(device, bytes);
    bool in_time = wait_for_change(device, until_ns);
    want(device, -bytes);
    return in_time;
}

struct request {
    uint64_t bytes; /* of all its chunks */
    uint64_t rest;  /* of the chunks that still lack memory */
    uint64_t said;  /* published as wanted, from a refusal by the driver until it gives the memory */
    uint64_t until_ns;
};

/*
 * With the lock, which is released meanwhile: raises what is held by this many bytes. False: the memory may come later,
 * time is up, or the device could never hold it.
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

/* With the lock, which is released meanwhile: fills one chunk, or returns the reason why not. */
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
        want(device, request->rest - request->said); /* so that other clients release memory */
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

/* With the lock: ends BUSY. The chunks are live, or hold memory without contents that is to be released. */
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

/* Bytes of the chunks from this one on; with `lacking`, of those without memory. */
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
    /* Fails at once, without a wait: a framework then frees its cache and tries again. */
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
     * Checked again, because other threads may have allocated meanwhile: if all memory never fits at once, the gate
     * would stay closed for ever.
     */
    if (!residency_possible(device, request.bytes))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    settle(chunks, result == CUDA_SUCCESS);
    residency_publish(device);
    bool follows = residency_of(device)->closed;
    residency_unlock();
    if (follows) /* the turns thread may bring it in ahead of the turn */
        turns_thread_wake(device);
    return result;
}
