/*
 * Pinned memory comes from the executor in whole granules of 2 MiB, and each such piece stops the tenant's work twice. So
 * small allocations share a piece, as they do in the driver. Executor and device know only the piece.
 */
#include "relay/entry/pinned_small.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "relay/memory/pinned.h"
#include "relay/streams/capture.h"
#include "relay/streams/streams.h"
#include "relay/wire/context.h"

#define CHUNK_BYTES (2u << 20)
/* The alignment that the driver gives to host memory, and CUDA to all memory. */
#define CELL_BYTES 512u
#define CELLS (CHUNK_BYTES / CELL_BYTES)
#define WORD_BITS 64u
#define WORDS (CELLS / WORD_BITS)

struct chunk {
    struct chunk *next;
    struct relay_context *context;
    struct relay_pinned pinned;
    uint64_t used[WORDS];    /* a bit for each cell that must not be handed out */
    uint64_t waiting[WORDS]; /* of these: given back, but work may still use them */
    uint64_t passing[WORDS]; /* of these: a thread waits for that work */
};

static struct chunk *chunks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Held by the waiting thread, so that `passing` has one owner. Taken before `lock`. */
static pthread_mutex_t collecting = PTHREAD_MUTEX_INITIALIZER;

static unsigned cells_of(size_t bytes)
{
    return (unsigned)((bytes + CELL_BYTES - 1) / CELL_BYTES);
}

static bool get(const uint64_t *bits, unsigned at)
{
    return bits[at / WORD_BITS] >> at % WORD_BITS & 1;
}

static void set(uint64_t *bits, unsigned at, unsigned count)
{
    for (unsigned i = at; i < at + count; i++)
        bits[i / WORD_BITS] |= 1ULL << i % WORD_BITS;
}

/* First fit; -1: there is no run of this many free cells. */
static int find(const struct chunk *chunk, unsigned count)
{
    for (unsigned at = 0, run = 0; at < CELLS; at++) {
        if (at % WORD_BITS == 0 && chunk->used[at / WORD_BITS] == UINT64_MAX) {
            run = 0;
            at += WORD_BITS - 1;
            continue;
        }
        run = get(chunk->used, at) ? 0 : run + 1;
        if (run == count)
            return (int)(at + 1 - count);
    }
    return -1;
}

static void *take_from(struct chunk *chunk, unsigned count)
{
    int at = find(chunk, count);
    if (at < 0)
        return NULL;
    set(chunk->used, (unsigned)at, count);
    return (unsigned char *)chunk->pinned.address + (size_t)at * CELL_BYTES;
}

/* Waits for the executor under the lock: otherwise another thread that wants memory meanwhile would ask for a chunk, too. */
static CUresult add_chunk(struct relay_context *context, struct chunk **made)
{
    struct chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = relay_pin(context->link, CHUNK_BYTES, &chunk->pinned);
    if (result != CUDA_SUCCESS) {
        free(chunk);
        return result;
    }
    segment_count(TESSERA_COUNTER_HOST_PINNED_BYTES, chunk->pinned.bytes);
    chunk->context = context;
    chunk->next = chunks;
    *made = chunks = chunk;
    return CUDA_SUCCESS;
}

CUresult pinned_small_take(struct relay_context *context, size_t bytes, void **memory)
{
    unsigned count = cells_of(bytes);
    CUresult result = CUDA_SUCCESS;
    *memory = NULL;
    pthread_mutex_lock(&lock);
    for (struct chunk *chunk = chunks; chunk && !*memory; chunk = chunk->next)
        if (chunk->context == context)
            *memory = take_from(chunk, count);
    if (!*memory) {
        struct chunk *chunk;
        result = add_chunk(context, &chunk);
        if (result == CUDA_SUCCESS)
            *memory = take_from(chunk, count);
    }
    pthread_mutex_unlock(&lock);
    if (*memory) /* new memory is zero, so reused memory must be, too */
        memset(*memory, 0, bytes);
    return result;
}

static void give_chunk(struct chunk *chunk)
{
    segment_count(TESSERA_COUNTER_HOST_PINNED_BYTES, -chunk->pinned.bytes);
    relay_unpin(chunk->context->link, &chunk->pinned);
    free(chunk);
}

static bool is_empty(const struct chunk *chunk)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < WORDS; i++)
        any |= chunk->used[i];
    return any == 0;
}

/* Takes out all chunks of the context, or all empty ones except one, which the next allocation may use. */
static struct chunk *take_out(const struct relay_context *context, bool all)
{
    struct chunk *taken = NULL;
    bool spare = !all;
    for (struct chunk **at = &chunks; *at;) {
        struct chunk *chunk = *at;
        bool leaves = chunk->context == context && (all || is_empty(chunk));
        if (leaves && spare) {
            spare = false;
            leaves = false;
        }
        if (leaves) {
            *at = chunk->next;
            chunk->next = taken;
            taken = chunk;
        } else {
            at = &chunk->next;
        }
    }
    return taken;
}

static void give_chunks(struct chunk *taken)
{
    while (taken) {
        struct chunk *next = taken->next;
        give_chunk(taken);
        taken = next;
    }
}

static struct chunk *chunk_of(const void *memory)
{
    struct chunk *chunk = chunks;
    while (chunk && (uintptr_t)memory - (uintptr_t)chunk->pinned.address >= CHUNK_BYTES)
        chunk = chunk->next;
    return chunk;
}

/* Moves the waiting cells of the link to `passing`; once the work is done, frees the passing cells. */
static void collect(const struct relay_link *link, bool done)
{
    for (struct chunk *chunk = chunks; chunk; chunk = chunk->next)
        for (unsigned i = 0; chunk->context->link == link && i < WORDS; i++) {
            if (done)
                chunk->used[i] &= ~chunk->passing[i];
            chunk->passing[i] = done ? 0 : chunk->waiting[i];
            if (!done)
                chunk->waiting[i] = 0;
        }
}

void pinned_small_give(void *memory, size_t bytes)
{
    struct chunk *gone = NULL;
    struct relay_context *context = NULL;
    pthread_mutex_lock(&lock);
    struct chunk *chunk = chunk_of(memory);
    if (chunk) {
        context = chunk->context;
        set(chunk->waiting, (unsigned)(((uintptr_t)memory - (uintptr_t)chunk->pinned.address) / CELL_BYTES),
            cells_of(bytes));
    }
    pthread_mutex_unlock(&lock);
    if (!context || capture_any())
        return;
    pthread_mutex_lock(&collecting);
    pthread_mutex_lock(&lock);
    collect(context->link, false);
    pthread_mutex_unlock(&lock);
    relay_wait_all(context->link);
    pthread_mutex_lock(&lock);
    collect(context->link, true);
    gone = take_out(context, false);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&collecting);
    give_chunks(gone);
}

void pinned_small_context_ended(struct relay_context *context)
{
    pthread_mutex_lock(&lock);
    struct chunk *gone = take_out(context, true);
    pthread_mutex_unlock(&lock);
    give_chunks(gone);
}

/* In the child of a fork: the chunks are the parent's. */
void pinned_small_forked(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    collecting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    chunks = NULL;
}
