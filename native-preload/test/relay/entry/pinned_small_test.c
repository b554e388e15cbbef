/* Small pinned allocations: their place, their content, and that none is handed out while work may use it. */
#include "relay/entry/pinned_small.h"

#include <stdio.h>

#include "relay/entry/init.h"
#include "relay/memory/range.h"
#include "relay/player.h"
#include "relay/wire/context.h"
#include "relay_stubs.h"

#define LIVE 3000u

static struct relay_context *current;

static void places(void)
{
    static unsigned char *at[LIVE];
    static size_t bytes[LIVE];
    const char *given = getenv("TESSERA_SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)monotonic_ns();
    printf("pinned_small: seed %u\n", seed);
    for (unsigned step = 0; step < 6000; step++) {
        unsigned i = (unsigned)rand_r(&seed) % LIVE;
        if (at[i]) {
            for (size_t b = 0; b < bytes[i]; b += 97)
                CHECK(at[i][b] == (unsigned char)i); /* nobody else wrote into it */
            pinned_small_give(at[i], bytes[i]);
            at[i] = NULL;
            continue;
        }
        void *memory;
        bytes[i] = 1 + (unsigned)rand_r(&seed) % (step % 50 == 0 ? PINNED_SMALL_MOST : 5000);
        CHECK(pinned_small_take(current, bytes[i], &memory) == CUDA_SUCCESS && (uintptr_t)memory % 512 == 0);
        at[i] = memory;
        for (size_t b = 0; b < bytes[i]; b++)
            CHECK(at[i][b] == 0);
        memset(at[i], (int)i, bytes[i]);
    }
    for (unsigned i = 0; i < LIVE; i++)
        if (at[i])
            pinned_small_give(at[i], bytes[i]);
    CHECK(pinned > 1 && unpinned == pinned - 1); /* one is kept for the next */
}

static void in_whole_pieces(void)
{
    void *first[8], *more;
    unsigned asked = pinned;
    for (int i = 0; i < 8; i++)
        CHECK(pinned_small_take(current, PINNED_SMALL_MOST, &first[i]) == CUDA_SUCCESS);
    CHECK(pinned == asked); /* eight fill the chunk that was kept */
    CHECK(pinned_small_take(current, 1, &more) == CUDA_SUCCESS && pinned == asked + 1);
    pinned_small_give(more, 1);
    for (int i = 0; i < 8; i++)
        pinned_small_give(first[i], PINNED_SMALL_MOST);
    CHECK(pinned - unpinned == 1);
}

/* While a stream is captured no call waits: memory that is given back is not reused before a later call has waited. */
static void while_captured(void)
{
    CUstream stream;
    CUgraph graph;
    void *memory, *other, *again;
    CHECK(pinned_small_take(current, 512, &memory) == CUDA_SUCCESS &&
          relay_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(relay_cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    pinned_small_give(memory, 512);
    CHECK(pinned_small_take(current, 512, &other) == CUDA_SUCCESS && other != memory);
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
    pinned_small_give(other, 512);
    CHECK(pinned_small_take(current, 512, &again) == CUDA_SUCCESS && again == memory);
    pinned_small_give(again, 512);
}

static bool given;
static void *give(void *memory)
{
    pinned_small_give(memory, 512);
    __atomic_store_n(&given, true, __ATOMIC_RELEASE);
    return NULL;
}

/* Earlier work may still use the memory: giving it back waits for that work, and no other allocation gets it meanwhile. */
static void while_work_runs(void)
{
    void *memory, *other;
    CUstream stream;
    pthread_t thread;
    CHECK(pinned_small_take(current, 512, &memory) == CUDA_SUCCESS &&
          relay_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    __atomic_store_n(&hold_marks, true, __ATOMIC_RELEASE);
    held_count = 0;
    CHECK(pthread_create(&thread, NULL, give, memory) == 0);
    for (int i = 0; i < 2000 && !__atomic_load_n(&held_count, __ATOMIC_ACQUIRE); i++)
        usleep(1000);
    usleep(20000);
    CHECK(__atomic_load_n(&held_count, __ATOMIC_ACQUIRE) == 1 && !given &&
          pinned_small_take(current, 512, &other) == CUDA_SUCCESS && other != memory);
    __atomic_store_n(&hold_marks, false, __ATOMIC_RELEASE);
    write_word(&held[0], TESSERA_RELAY_MARK);
    pthread_join(thread, NULL);
    CHECK(given);
    pinned_small_give(other, 512);
    CHECK(pinned_small_take(current, 512, &other) == CUDA_SUCCESS && other == memory);
    pinned_small_give(other, 512);
}

/* Through the entries: a larger allocation has memory of its own. */
static void by_its_size(void)
{
    void *small, *large, *none;
    struct relay_range range;
    unsigned asked = pinned;
    CHECK(relay_cuMemHostAlloc(&none, 0, 0) == CUDA_ERROR_INVALID_VALUE &&
          relay_cuMemHostAlloc(&none, 16, 8) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuMemHostAlloc(&small, PINNED_SMALL_MOST, 3) == CUDA_SUCCESS && pinned == asked);
    CHECK(relay_cuMemHostAlloc(&large, PINNED_SMALL_MOST + 1, 0) == CUDA_SUCCESS && pinned == asked + 1);
    CHECK(relay_range_find((uintptr_t)small + PINNED_SMALL_MOST - 1, &range) && range.id == RELAY_PINNED_SMALL &&
          range.flags == 3);
    CHECK(relay_range_find((uintptr_t)large, &range) && range.id != RELAY_PINNED_SMALL);
    CHECK(relay_cuMemFreeHost((char *)small + 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuMemFreeHost(small) == CUDA_SUCCESS && relay_cuMemFreeHost(small) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuMemFreeHost(large) == CUDA_SUCCESS && pinned - unpinned == 1);
}

int main(void)
{
    player_begin();
    init_connect();
    context_prepare_primary(&relay_links[0], NULL);
    current = relay_primary(&relay_links[0]);
    CHECK(context_retain(current) == CUDA_SUCCESS && current_set(current) == CUDA_SUCCESS);
    places();
    in_whole_pieces();
    while_captured();
    while_work_runs();
    by_its_size();
    player_end();
    return 0;
}
