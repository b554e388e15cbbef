#include "relay/memory/staging.h"

#include <pthread.h>

#include "relay/memory/pinned.h"
#include "relay/memory/range.h"
#include "relay/wire/backoff.h"

static struct staging_chunk chunks[TESSERA_MAX_DEVICES][STAGING_CHUNKS];
static bool made[TESSERA_MAX_DEVICES];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static CUresult make(struct relay_link *link)
{
    struct staging_chunk *set = chunks[link->device];
    struct relay_pinned pinned;
    CUresult result = relay_pin(link, (uint64_t)STAGING_CHUNK * STAGING_CHUNKS, &pinned);
    if (result != CUDA_SUCCESS)
        return result;
    struct relay_range range = {.start = (uintptr_t)pinned.address,
                                .bytes = pinned.bytes,
                                .kind = RELAY_RANGE_PINNED,
                                .link = link,
                                .id = pinned.id};
    unsigned count = 0;
    bool added = relay_range_add(&range);
    for (int word; added && count < STAGING_CHUNKS && (word = relay_word_take(link, 0)) >= 0; count++) {
        uint64_t value = __atomic_load_n(relay_word(link, word), __ATOMIC_ACQUIRE);
        set[count] = (struct staging_chunk){(unsigned char *)pinned.address + (size_t)count * STAGING_CHUNK, word,
                                            value & ~1ULL, 0};
    }
    if (count == STAGING_CHUNKS)
        return CUDA_SUCCESS;
    while (count > 0)
        relay_word_give(link, set[--count].word);
    relay_range_remove(range.start, RELAY_RANGE_PINNED, NULL);
    relay_unpin(link, &pinned);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult prepare(struct relay_link *link)
{
    if (__atomic_load_n(&made[link->device], __ATOMIC_ACQUIRE))
        return CUDA_SUCCESS;
    pthread_mutex_lock(&making);
    CUresult result = made[link->device] ? CUDA_SUCCESS : make(link);
    if (result == CUDA_SUCCESS)
        __atomic_store_n(&made[link->device], true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&making);
    return result;
}

struct staging_chunk *staging_try(struct relay_link *link)
{
    struct staging_chunk *set = chunks[link->device];
    for (unsigned i = 0; i < STAGING_CHUNKS; i++) {
        uint32_t is_free = 0;
        if (__atomic_load_n(&set[i].taken, __ATOMIC_RELAXED) ||
            !__atomic_compare_exchange_n(&set[i].taken, &is_free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        if (relay_word_reached(link, set[i].word, set[i].value))
            return &set[i];
        staging_give(&set[i]);
    }
    return NULL;
}

CUresult staging_take(struct relay_link *link, struct staging_chunk **chunk)
{
    struct relay_backoff backoff = {0};
    CUresult result = prepare(link);
    if (result != CUDA_SUCCESS)
        return result;
    while (!(*chunk = staging_try(link))) {
        if (__atomic_load_n(&link->segment->context_error, __ATOMIC_RELAXED) == 0 && relay_backoff_step(&backoff, link))
            continue;
        result = relay_link_state(link);
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    return CUDA_SUCCESS;
}

CUresult staging_mark(struct relay_context *context, uint64_t wire, struct staging_chunk *chunk)
{
    chunk->value += 2;
    return relay_send_mark(context, TESSERA_RELAY_MARK, wire, chunk->word, chunk->value);
}

CUresult staging_awaited_mark(struct relay_context *context, uint64_t wire, struct staging_chunk *chunk)
{
    chunk->value += 2;
    return relay_send_awaited_mark(context, wire, chunk->word, chunk->value);
}

CUresult staging_wait(struct relay_link *link, const struct staging_chunk *chunk)
{
    return relay_wait_word(link, chunk->word, chunk->value);
}

void staging_give(struct staging_chunk *chunk)
{
    __atomic_store_n(&chunk->taken, 0, __ATOMIC_RELEASE);
}

void staging_forked(void)
{
    pthread_mutex_init(&making, NULL);
}
