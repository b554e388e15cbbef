/* A program whose memory moves, and its manager, over the scripted driver: for tests of the swap layer. */
#ifndef TESSERA_MOVING_PROGRAM_H
#define TESSERA_MOVING_PROGRAM_H

#include <unistd.h>

#include "direct/chunks/block_cache.h"
#include "direct/swap/moves.h"
#include "direct/swap/swap.h"
#include "direct/turns/devices.h"
#include "direct/turns/residency.h"
#include "direct/turns/turns.h"
#include "driver/clock.h"
#include "scripted_driver.h"
#include "session/segment.h"
#include "session/settings.h"

#define MIB (1ULL << 20)
#define TRIES 3 /* of a program that is told that there is no memory */
#define BOUND_NS 100000000000ULL

struct held {
    CUdeviceptr at;
    uint64_t bytes;
    unsigned char seed;
};

static struct tessera_residency *words(void)
{
    return &tessera_segment->residency[0];
}

static void order(uint64_t resident_target)
{
    __atomic_store_n(&words()->resident_target, resident_target, __ATOMIC_SEQ_CST);
    residency_orders(0);
}

static struct residency now(void)
{
    residency_lock();
    struct residency copy = *residency_of(0);
    residency_unlock();
    return copy;
}

static inline struct held allocate(uint64_t bytes, unsigned char seed)
{
    struct held held = {.bytes = bytes, .seed = seed};
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < TRIES && result != CUDA_SUCCESS; i++)
        result = swap_allocate(0, bytes, 0, (struct swap_options){0}, &held.at);
    CHECK(result == CUDA_SUCCESS);
    return held;
}

/* No two words are equal, also across blocks. */
static uint64_t word_of(const struct held *held, uint64_t i)
{
    return ((uint64_t)held->seed << 56) + i + 1;
}

/* Writes whole words, since each access is slow with a sanitizer. */
static inline void fill(const struct held *held)
{
    CHECK(held->bytes % sizeof(uint64_t) == 0);
    for (uint64_t i = 0; i < held->bytes / sizeof(uint64_t); i++)
        ((uint64_t *)(uintptr_t)held->at)[i] = word_of(held, i);
}

static inline void verify(const struct held *held)
{
    for (uint64_t i = 0; i < held->bytes / sizeof(uint64_t); i++)
        CHECK(((const uint64_t *)(uintptr_t)held->at)[i] == word_of(held, i));
}

/* With a manager, which is the test: host memory may be pinned, or only pageable. */
static void open_device(bool pinned)
{
    CHECK(segment_open());
    words()->active = 1;
    words()->resident_target = DRIVER_MEMORY;
    words()->pinned_target = pinned ? DRIVER_MEMORY : 0;
    words()->pageable_target = DRIVER_MEMORY;
    turns_prepare();
    devices_first(turns_device_opened);
    devices_context_opened(driver.context, 0);
    CHECK(devices_opened(0));
}

/* Rounds of the turns thread until nothing is resident, or all is. */
static void move(bool in)
{
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    for (;;) {
        moves_step(0, in);
        if (in ? residency_open(0) : now().resident == 0)
            return;
        CHECK(monotonic_ns() < until_ns);
        usleep(5000);
    }
}

static inline void leave(void)
{
    residency_drained(0);
    order(0);
    move(false);
    CHECK(driver_held() == 0 && now().present == 0);
}

static inline void come_back(void)
{
    order(DRIVER_MEMORY);
    move(true);
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (now().present != now().needed) { /* a sample may be under way */
        CHECK(monotonic_ns() < until_ns);
        usleep(100);
    }
    CHECK(now().swapped == 0 && now().resident == driver_held());
}

/* Frees everything, which goes back to the driver; tries again if the driver refuses. */
static inline void end(const struct held *all, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        CHECK(swap_free(all[i].at) == CUDA_SUCCESS);
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (now().resident) {
        residency_lock();
        block_cache_drop(0, UINT64_MAX);
        residency_unlock();
        CHECK(monotonic_ns() < until_ns);
        usleep(100);
    }
    struct residency r = now();
    CHECK(r.needed == 0 && r.present == 0 && r.cached == 0 && r.swapped == 0 && r.fixed == 0 && r.blank == 0);
    CHECK(driver_held() == 0);
}

/* The pinned tier grows by a thread of its own; after a failure it tries again much later. */
static inline void await_pinned(void)
{
    for (int i = 0; i < 100 && now().held[TIER_PINNED] < now().needed; i++)
        usleep(2000);
}

/* The settings are read before main(). */
static void ensure_settings(char **arguments)
{
    if (settings()->swap)
        return;
    setenv("TESSERA_PLAN", "swap", 1);
    setenv("TESSERA_QUIET", "1", 1);
    setenv("TESSERA_MEMORY_WAIT_MS", "2000", 1);
    execv("/proc/self/exe", arguments);
    CHECK(!"executed again");
}

#endif
