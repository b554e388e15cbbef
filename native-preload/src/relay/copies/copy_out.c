/* Copies into the program's own memory: the device fills chunks of staging memory, and one or two threads empty them. */
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "relay/copies/copy.h"
#include "session/own_thread.h"
#include "relay/copies/streaming_stores.h"
#include "relay/memory/staging.h"

#define AHEAD 6u /* chunks that the device fills ahead of a thread that empties them; two threads have enough */
/* Larger than the caches of a core: when such a copy ends, its first bytes are no longer cached anyway. */
#define PAST_CACHES_BYTES (8u << 20)
/* One thread needs some 2 ms for so much; starting another takes some 50 us. */
#define TWO_THREADS_BYTES (32u << 20)
#define LEAST_CPUS 4 /* the program's thread, ours, the executor's, and one for others */

struct flight {
    struct staging_chunk *chunk;
    size_t bytes;
};

/* Sends the copy of one piece into a chunk. alone: no other piece follows, and the caller waits for this one next. */
static CUresult launch(struct relay_context *context, uint64_t wire, struct copy_place from, size_t bytes,
                       struct staging_chunk *chunk, bool alone)
{
    CUresult result = copy_submit(context, wire, copy_device((uintptr_t)chunk->memory), from, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    return alone ? staging_awaited_mark(context, wire, chunk) : staging_mark(context, wire, chunk);
}

static CUresult by_one_thread(struct relay_context *context, uint64_t wire, unsigned char *to, struct copy_place from,
                              size_t bytes, bool past_caches)
{
    struct flight flights[AHEAD];
    size_t sent = 0, done = 0;
    unsigned first = 0, count = 0;
    CUresult result = CUDA_SUCCESS;
    while (done < bytes && result == CUDA_SUCCESS) {
        while (sent < bytes && count < AHEAD && result == CUDA_SUCCESS) {
            struct staging_chunk *chunk = NULL;
            if (count == 0)
                result = staging_take(context->link, &chunk);
            else if (!(chunk = staging_try(context->link)))
                break;
            if (result != CUDA_SUCCESS)
                break;
            size_t piece = bytes - sent < STAGING_CHUNK ? bytes - sent : STAGING_CHUNK;
            result = launch(context, wire, copy_moved(from, sent), piece, chunk, bytes <= STAGING_CHUNK);
            flights[(first + count++) % AHEAD] = (struct flight){chunk, piece};
            sent += piece;
        }
        if (result != CUDA_SUCCESS || count == 0)
            break;
        struct flight *flight = &flights[first];
        result = staging_wait(context->link, flight->chunk);
        if (result == CUDA_SUCCESS && past_caches)
            memcpy_streaming(to + done, flight->chunk->memory, flight->bytes);
        else if (result == CUDA_SUCCESS)
            memcpy(to + done, flight->chunk->memory, flight->bytes);
        done += flight->bytes;
        staging_give(flight->chunk);
        first = (first + 1) % AHEAD;
        count--;
    }
    for (; count > 0; count--, first = (first + 1) % AHEAD)
        staging_give(flights[first].chunk);
    return result;
}

struct half {
    struct relay_context *context;
    uint64_t wire;
    unsigned char *to;
    struct copy_place from;
    size_t bytes;
    CUresult result;
    uint32_t done; /* futex */
};

static void *second_half(void *argument)
{
    struct half *half = argument;
    half->result = by_one_thread(half->context, half->wire, half->to, half->from, half->bytes, true);
    /*
     * The word lies on the other thread's stack, which may end after the store. So only its address is used then; a
     * superfluous wake-up does no harm.
     */
    __atomic_store_n(&half->done, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &half->done, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return NULL;
}

static bool has_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= LEAST_CPUS;
}

/*
 * One core moves fewer bytes a second than the device, so two threads work. Both write the marks of their chunks into
 * the same stream.
 */
static CUresult by_two_threads(struct relay_context *context, uint64_t wire, unsigned char *to, struct copy_place from,
                               size_t bytes)
{
    size_t first = bytes / 2 / STAGING_CHUNK * STAGING_CHUNK;
    struct half half = {context, wire, to + first, copy_moved(from, first), bytes - first, CUDA_SUCCESS, 0};
    bool started = own_thread_start("tessera-copy", second_half, &half);
    CUresult result = by_one_thread(context, wire, to, from, first, true);
    if (!started)
        second_half(&half);
    while (__atomic_load_n(&half.done, __ATOMIC_ACQUIRE) == 0)
        syscall(SYS_futex, &half.done, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return result != CUDA_SUCCESS ? result : half.result;
}

CUresult copy_to_pageable(struct relay_context *context, uint64_t wire, unsigned char *to, struct copy_place from,
                          size_t bytes)
{
    CUresult result = bytes >= TWO_THREADS_BYTES && has_cpus()
                          ? by_two_threads(context, wire, to, from, bytes)
                          : by_one_thread(context, wire, to, from, bytes, bytes >= PAST_CACHES_BYTES);
    CUresult earlier = relay_take_error(context->link);
    return result != CUDA_SUCCESS ? result : earlier;
}
