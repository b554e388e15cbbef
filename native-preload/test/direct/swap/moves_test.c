/*
 * A program's memory leaves the device at the end of a turn and comes back before the next one, over a driver that fails once,
 * at each of its calls in turn: no contents are lost, what is counted is what there is, and all of it goes back in the end. After
 * a fault of the context contents are lost, but nothing else. The test plays the manager, in the segment.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "direct/chunks/pinning.h"
#include "direct/chunks/block_cache.h"
#include "direct/swap/moves.h"
#include "direct/swap/swap.h"
#include "direct/turns/devices.h"
#include "direct/turns/residency.h"
#include "direct/turns/turns.h"
#include "driver/clock.h"
#include "fake_driver.h"
#include "session/segment.h"
#include "session/settings.h"

#define MIB (1ULL << 20)
#define LARGE_BYTES (5 * MIB) /* three chunks of a device of 64 MiB */
#define TRIES 3               /* of a program that is told that there is no memory */
#define BOUND_NS (SANITIZED ? 100000000000ULL : 10000000000ULL)
#define BOUND_S (SANITIZED ? 600 : 60)
#define TOGETHER 32        /* runs at once: they mostly wait for retries */
#ifdef __SANITIZE_THREAD__ /* which makes a run ten times as long */
#define STEP 101
#else
#define STEP 11 /* calls, so that a quick run has some of each kind */
#endif
#define UNKNOWN_ERROR 999 /* CUDA_ERROR_UNKNOWN */

/* What a run tells the program that began it. */
struct told {
    unsigned calls;
};

struct run {
    bool pinned; /* host memory may be pinned; else it is pageable */
    unsigned fail_at;
    CUresult failure;
};

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

static struct held allocate(uint64_t bytes, unsigned char seed)
{
    struct held held = {.bytes = bytes, .seed = seed};
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < TRIES && result != CUDA_SUCCESS; i++)
        result = swap_allocate(0, bytes, 0, (struct swap_options){0}, &held.at);
    CHECK(result == CUDA_SUCCESS);
    return held;
}

static unsigned char byte_of(const struct held *held, uint64_t i)
{
    return (unsigned char)(held->seed + i / 4096 + i % 251);
}

static void fill(const struct held *held)
{
    for (uint64_t i = 0; i < held->bytes; i++)
        ((unsigned char *)(uintptr_t)held->at)[i] = byte_of(held, i);
}

static void verify(const struct held *held)
{
    for (uint64_t i = 0; i < held->bytes; i++)
        CHECK(((const unsigned char *)(uintptr_t)held->at)[i] == byte_of(held, i));
}

static void open_device(const struct run *run)
{
    CHECK(segment_open());
    words()->active = 1;
    words()->resident_target = FAKE_MEMORY;
    words()->pinned_target = run->pinned ? FAKE_MEMORY : 0;
    words()->pageable_target = FAKE_MEMORY;
    turns_prepare();
    devices_first(turns_device_opened);
    devices_context_opened(FAKE_CONTEXT, 0);
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

static void leave(void)
{
    residency_drained(0);
    order(0);
    move(false);
    CHECK(fake.held == 0 && fake.mappings == 0 && now().present == 0);
}

static void come_back(void)
{
    order(FAKE_MEMORY);
    move(true);
    struct residency r = now();
    CHECK(r.present == r.needed && r.swapped == 0 && r.resident == fake.held);
}

/* Everything is freed, and goes back to the driver: tried again where it refuses. */
static void end(const struct held *all, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        CHECK(swap_free(all[i].at) == CUDA_SUCCESS);
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (now().resident) {
        residency_lock();
        block_cache_drop(0, UINT64_MAX);
        residency_unlock();
        CHECK(monotonic_ns() < until_ns);
    }
    struct residency r = now();
    CHECK(r.needed == 0 && r.present == 0 && r.cached == 0 && r.swapped == 0 && r.fixed == 0);
    CHECK(fake.held == 0 && fake.mappings == 0);
}

/* The pinned tier grows by a thread of its own; after a failure it tries again much later. */
static void await_pinned(void)
{
    for (int i = 0; i < 100 && now().held[TIER_PINNED] < now().needed; i++)
        usleep(2000);
}

static void play(const struct run *run)
{
    open_device(run);
    struct held all[] = {allocate(LARGE_BYTES, 3), allocate(3000, 40), allocate(100000, 77), {0}};
    for (int i = 0; i < 3; i++)
        fill(&all[i]);
    if (run->pinned)
        await_pinned();
    leave();
    bool lost = fake.faulted; /* from now on nothing can be copied */
    CHECK(lost || now().swapped >= LARGE_BYTES);
    all[3] = allocate(3 * MIB, 99); /* addresses alone: the gate is closed */
    CHECK(fake.held == 0);
    CHECK(swap_free(all[2].at) == CUDA_SUCCESS);
    come_back();
    for (int i = 0; i < 2 && !lost && !fake.faulted; i++)
        verify(&all[i]);
    fill(&all[3]);
    leave();
    come_back();
    for (int i = 0; i < 2 && !fake.faulted; i++)
        verify(&all[i]);
    if (!fake.faulted)
        verify(&all[3]);
    end((struct held[]){all[0], all[1], all[3]}, 3);
}

/* Each run is a process of its own, so that nothing is left of the one before. */
static pid_t begin(const struct run *run, struct told *told)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child)
        return child;
    alarm(BOUND_S);
    fake_driver();
    fake.fail_at = run->fail_at;
    fake.failure = run->failure;
    play(run);
    pthread_mutex_lock(&fake.lock);
    if (!run->fail_at)
        told->calls = fake.calls;
    pthread_mutex_unlock(&fake.lock);
    _exit(0);
}

static void await(pid_t child, const struct run *run)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (status == 0)
        return;
    fprintf(stderr, "moves: %s host memory, call %u fails with %d: the run ended with status %x\n",
            run->pinned ? "pinned" : "pageable", run->fail_at, run->failure, status);
    exit(1);
}

/* The calls of the run fail, one in each of as many runs: every `step`th. */
static unsigned fail_everywhere(bool pinned, CUresult failure, unsigned step, struct told *told)
{
    struct run runs[TOGETHER] = {{.pinned = pinned}};
    pid_t children[TOGETHER];
    await(begin(&runs[0], told), &runs[0]);
    unsigned calls = told->calls, at = 1, done = 0;
    CHECK(calls > 100);
    while (at <= calls) {
        unsigned count = 0;
        for (; count < TOGETHER && at <= calls; count++, at += step) {
            runs[count] = (struct run){pinned, at, failure};
            children[count] = begin(&runs[count], told);
        }
        for (unsigned i = 0; i < count; i++)
            await(children[i], &runs[i]);
        done += count;
    }
    return done;
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

/* With an argument every call fails in every way, which takes minutes. */
int main(int count, char **arguments)
{
    ensure_settings(arguments);
    struct told *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(told != MAP_FAILED);
    unsigned step = count > 1 ? 1 : STEP;
    unsigned runs = fail_everywhere(false, UNKNOWN_ERROR, step, told);
    runs += fail_everywhere(false, CUDA_ERROR_OUT_OF_MEMORY, step, told);
    runs += fail_everywhere(false, FAKE_FAULT, step, told);
    runs += fail_everywhere(true, UNKNOWN_ERROR, step, told);
    if (count > 1)
        runs += fail_everywhere(true, CUDA_ERROR_OUT_OF_MEMORY, 1, told) + fail_everywhere(true, FAKE_FAULT, 1, told);
    printf("moves: %u failures\n", runs);
    return 0;
}
