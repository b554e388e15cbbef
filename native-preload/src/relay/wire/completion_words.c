/* Completion words (RELAY.md, section 5): handed out here, written by the device. */
#include "relay/wire/backoff.h"
#include "relay/wire/relay.h"
#include "driver/trace.h"

#define WORDS_OF_BITS (TESSERA_RELAY_WORDS / 64)

/* Bit set: taken. */
static uint64_t taken[TESSERA_MAX_DEVICES][WORDS_OF_BITS];
static uint32_t taken_count[TESSERA_MAX_DEVICES];
static uint32_t next[TESSERA_MAX_DEVICES]; /* where the search begins: at the 64 words in which one was last found */

int relay_word_take(struct relay_link *link, unsigned leave)
{
    uint64_t *bits = taken[link->device];
    if (__atomic_add_fetch(&taken_count[link->device], 1, __ATOMIC_RELAXED) + leave > TESSERA_RELAY_WORDS) {
        __atomic_fetch_sub(&taken_count[link->device], 1, __ATOMIC_RELAXED);
        return -1;
    }
    uint32_t from = __atomic_load_n(&next[link->device], __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < WORDS_OF_BITS; i++) {
        uint32_t at = (from + i) % WORDS_OF_BITS;
        uint64_t unused = ~__atomic_load_n(&bits[at], __ATOMIC_RELAXED);
        while (unused) {
            uint64_t bit = unused & -unused;
            if (!(__atomic_fetch_or(&bits[at], bit, __ATOMIC_ACQUIRE) & bit)) {
                __atomic_store_n(&next[link->device], at, __ATOMIC_RELAXED);
                return (int)(at * 64 + (uint32_t)__builtin_ctzll(bit));
            }
            unused = ~__atomic_load_n(&bits[at], __ATOMIC_RELAXED);
        }
    }
    /* Other threads took and gave back words during the search. */
    __atomic_fetch_sub(&taken_count[link->device], 1, __ATOMIC_RELAXED);
    return -1;
}

void relay_word_give(struct relay_link *link, int word)
{
    __atomic_fetch_and(&taken[link->device][word / 64], ~(1ULL << (word % 64)), __ATOMIC_RELEASE);
    __atomic_fetch_sub(&taken_count[link->device], 1, __ATOMIC_RELAXED);
}

CUresult relay_wait_word(struct relay_link *link, int word, uint64_t value)
{
    struct relay_backoff backoff = {0};
    trace_waits.words += !relay_word_reached(link, word, value);
    while (!relay_word_reached(link, word, value)) {
        if (__atomic_load_n(&link->segment->context_error, __ATOMIC_RELAXED) != 0 ||
            !relay_backoff_step(&backoff, link)) {
            CUresult state = relay_link_state(link);
            return state != CUDA_SUCCESS ? state : CUDA_ERROR_CONTEXT_IS_DESTROYED;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult commit_mark(struct relay_context *context, struct relay_claimed claimed, unsigned flags,
                            uint64_t handle, int word, uint64_t value)
{
    if (!claimed.record)
        return relay_link_state(context->link);
    claimed.record->context = context->number;
    claimed.record->flags = (uint16_t)flags;
    struct tessera_mark *mark = claimed.body;
    *mark = (struct tessera_mark){.handle = handle, .value = value, .word = (uint32_t)word};
    relay_commit(context->link, claimed);
    return CUDA_SUCCESS;
}

static CUresult send_mark(struct relay_context *context, unsigned kind, unsigned flags, uint64_t handle, int word,
                          uint64_t value)
{
    struct relay_claimed claimed = relay_claim(context->link, kind, sizeof(struct tessera_mark), RELAY_NO_END);
    return commit_mark(context, claimed, flags, handle, word, value);
}

CUresult relay_send_mark(struct relay_context *context, unsigned kind, uint64_t handle, int word, uint64_t value)
{
    return send_mark(context, kind, 0, handle, word, value);
}

CUresult relay_send_awaited_mark(struct relay_context *context, uint64_t handle, int word, uint64_t value)
{
    return send_mark(context, TESSERA_RELAY_MARK, TESSERA_RELAY_FLAG_WAITED, handle, word, value);
}

bool relay_send_last_mark(struct relay_context *context, int word, uint64_t value, uint64_t until_ns)
{
    struct relay_claimed claimed = relay_claim(context->link, TESSERA_RELAY_MARK, sizeof(struct tessera_mark), until_ns);
    return claimed.record && commit_mark(context, claimed, TESSERA_RELAY_FLAG_WAITED | TESSERA_RELAY_FLAG_LAST,
                                         TESSERA_RELAY_ALL_STREAMS, word, value) == CUDA_SUCCESS;
}

CUresult relay_ask_mark(struct relay_context *context, unsigned kind, uint64_t handle, int word, uint64_t value)
{
    struct relay_link *link = context->link;
    struct relay_slot slot;
    if (!relay_slot_take(link, &slot))
        return relay_link_state(link);
    struct relay_claimed claimed = relay_claim(link, kind, sizeof(struct tessera_mark), RELAY_NO_END);
    CUresult result = relay_link_state(link);
    if (claimed.record) {
        claimed.record->slot = slot.index + 1;
        claimed.record->context = context->number;
        struct tessera_mark *mark = claimed.body;
        *mark = (struct tessera_mark){.handle = handle, .value = value, .word = (uint32_t)word};
        relay_commit(link, claimed);
        result = relay_slot_wait(link, &slot);
    }
    relay_slot_give(link, &slot);
    return result;
}
