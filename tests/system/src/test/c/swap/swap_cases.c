/*
 * Plan swap: when memory comes and goes, what waits for it, and what ends; each case in a process of its own:
 *     swap_cases CASE
 */
#include <stdbool.h>
#include <sys/wait.h>

#include "cuda_constants.h"
#include "swap_situation.h"

/* While the gate is closed an allocation takes addresses only; memory follows with the turn, and not a byte more. */
static void lazy(void)
{
    begin(CAPACITY);
    CUdeviceptr p = allocate(70 * MIB), q = allocate(1000);
    EQUAL(72 * MIB, manager_words()->needed_bytes + 0 * q);
    manager_target(0);
    manager_await_resident(0);
    bring_back();
    EQUAL(72 * MIB, manager_words()->resident_bytes);
    OKAY(cuMemsetD32_v2(p, 7, 70 * MIB / 4));
    holds(p, 70 * MIB, 7);
    EQUAL(0, manager_words()->moved_in_bytes); /* it had no contents */
}

static void *raise_later(void *unused)
{
    (void)unused;
    await_word(&manager_words()->resident_wanted, 32 * MIB);
    manager_target(32 * MIB);
    return NULL;
}

/* In an open turn it waits until the target is raised; if it is not, the allocation alone fails. */
static void waits(void)
{
    pthread_t thread;
    CUdeviceptr p;
    begin(16 * MIB);
    grant();
    CUdeviceptr q = filled(16 * MIB, 5);
    OKAY(pthread_create(&thread, NULL, raise_later, NULL));
    p = allocate(16 * MIB);
    OKAY(pthread_join(thread, NULL));
    OKAY(cuMemsetD32_v2(p, 6, 4 * MIB));
    CUdeviceptr r = 77;
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&r, 20 * MIB)); /* TESSERA_MEMORY_WAIT_MS */
    EQUAL(0, manager_words()->resident_wanted);
    holds(q, 16 * MIB, 5);
    holds(p, 16 * MIB, 6);
    OKAY(cuMemFree_v2(p));
    r = allocate(16 * MIB);
    EQUAL(32 * MIB, manager_words()->resident_bytes);
}

/* An allocation that waits in an open turn is done when the turn ends: its memory comes with the next one. */
static void *closes_later(void *unused)
{
    (void)unused;
    await_word(&manager_words()->resident_wanted, 24 * MIB);
    manager_order(TESSERA_TURN_CLOSED);
    manager_await_ack(TESSERA_ACK_CLOSED);
    return NULL;
}

static void waits_over_the_end(void)
{
    pthread_t thread;
    begin(16 * MIB);
    grant();
    CUdeviceptr q = filled(8 * MIB, 5);
    OKAY(pthread_create(&thread, NULL, closes_later, NULL));
    CUdeviceptr p = allocate(16 * MIB);
    OKAY(pthread_join(thread, NULL));
    bring_back();
    OKAY(cuMemsetD32_v2(p, 9, 4 * MIB));
    holds(p, 16 * MIB, 9);
    holds(q, 8 * MIB, 5);
}

/* The manager dies while everything is out: it comes back, and the gate opens by itself. */
static void manager_dies(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(100 * MIB, 0x1234), q = filled(4096, 0x77);
    evict();
    manager_die();
    holds(p, 100 * MIB, 0x1234);
    holds(q, 4096, 0x77);
    OKAY(cuMemFree_v2(p));
}

/* Another manager comes: it is told what is held, and moves it as the first one did. */
static void manager_returns(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(100 * MIB, 0x1234);
    evict();
    manager_die();
    manager_start();
    for (uint64_t until = manager_now_ns() + 30000000000ULL; __atomic_load_n(&manager_devices, __ATOMIC_ACQUIRE) < 2;
         manager_pause_us(1000))
        CHECK(manager_now_ns() < until);
    EQUAL(100 * MIB, manager_words()->needed_bytes);
    manager_words()->pinned_target = manager_words()->pageable_target = 512 * MIB;
    manager_words()->capacity_bytes = CAPACITY;
    bring_back();
    holds(p, 100 * MIB, 0x1234);
    evict();
    bring_back();
    holds(p, 100 * MIB, 0x1234);
    CHECK(manager_words()->moved_out_bytes + manager_words()->spared_bytes >= 200 * MIB); /* counters go on */
}

/* The same with a device that is full: calls fail after a bounded wait, nothing is lost, and it goes on with room. */
static void manager_dies_full(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(150 * MIB, 0x1234);
    evict();
    void *array;
    struct call_array large = {6 * MIB, 4, 0x20, 2}; /* 192 MiB that do not move */
    OKAY(cuArrayCreate_v2(&array, &large));
    manager_die();
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemsetD32_v2(p, 1, 1));
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemsetD32_v2(p, 1, 1));
    OKAY(cuArrayDestroy(array));
    CUresult result = 2;
    uint64_t until = manager_now_ns() + 30000000000ULL;
    uint32_t first = 0;
    while (result == 2 && manager_now_ns() < until)
        result = cuMemcpyDtoH_v2(&first, p, 4);
    OKAY(result);
    holds(p, 150 * MIB, 0x1234);
}

/* Memory that is freed while it is out costs nothing more, and its addresses and backing are used again. */
static void frees_while_out(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(80 * MIB, 1), q = filled(20 * MIB, 2), small[100];
    for (int i = 0; i < 100; i++)
        small[i] = filled(3000 + 4 * (size_t)i, (uint32_t)i);
    evict();
    OKAY(cuMemFree_v2(p));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p));
    for (int i = 0; i < 100; i += 2)
        OKAY(cuMemFree_v2(small[i]));
    EQUAL(0, manager_words()->resident_bytes);
    p = allocate(60 * MIB);
    for (int i = 0; i < 100; i += 2)
        small[i] = allocate(3000 + 4 * (size_t)i);
    bring_back();
    holds(q, 20 * MIB, 2);
    for (int i = 1; i < 100; i += 2)
        holds(small[i], 3000 + 4 * (size_t)i, (uint32_t)i);
    OKAY(cuMemsetD32_v2(p, 3, 15 * MIB));
    holds(p, 60 * MIB, 3);
    EQUAL(0, manager_words()->swapped_bytes);
}

/* A context that ends takes all with it, on the device or not; a second one starts again. */
static void contexts_end(void)
{
    void *other;
    begin(CAPACITY);
    grant();
    for (int round = 0; round < 3; round++) {
        filled(50 * MIB, 1);
        filled(5000, 2);
        evict();
        OKAY(cuDevicePrimaryCtxReset_v2(0));
        EQUAL(0, manager_words()->needed_bytes);
        EQUAL(0, manager_words()->swapped_bytes);
        OKAY(cuDevicePrimaryCtxRetain(&context, 0));
        OKAY(cuCtxSetCurrent(context));
        bring_back();
    }
    OKAY(cuCtxCreate_v2(&other, 0, 0));
    CUdeviceptr theirs = filled(30 * MIB, 4);
    OKAY(cuCtxSetCurrent(context));
    CUdeviceptr ours = filled(30 * MIB, 5);
    evict();
    OKAY(cuCtxDestroy_v2(other));
    EQUAL(30 * MIB, manager_words()->needed_bytes);
    bring_back();
    holds(ours, 30 * MIB, 5);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(theirs));
}

/* A context that faulted must not keep the device's memory, nor wait for its own. */
static void faulted(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(100 * MIB, 1);
    OKAY(cuLaunchKernel(fault_function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EQUAL(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    evict();
    bring_back();
    EQUAL(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemsetD32_v2(p, 1, 1));
}

/* A forked child has none of it, and the parent goes on. */
static void forks(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(40 * MIB, 8), q = filled(900, 9);
    evict();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CUdeviceptr r;
        _exit(cuMemAlloc_v2(&r, 1000) == 0 ? 1 : 0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    EQUAL(0, status);
    bring_back();
    holds(p, 40 * MIB, 8);
    holds(q, 900, 9);
}

/* cuMemGetInfo tells the device as the manager treats it, whatever is resident. */
static void told(void)
{
    size_t free_bytes = 0, total = 0;
    begin(CAPACITY);
    grant();
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(CAPACITY, total);
    EQUAL(CAPACITY, free_bytes);
    CUdeviceptr p = filled(64 * MIB, 1);
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(CAPACITY - 64 * MIB, free_bytes);
    evict();
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(CAPACITY - 64 * MIB, free_bytes);
    bring_back();
    OKAY(cuMemFree_v2(p));
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(CAPACITY, free_bytes);
}

/*
 * Memory that could never be resident all at once is refused at once, whole pages counted; small ones find what is
 * left.
 */
static void never_fits(void)
{
    begin(CAPACITY);
    manager_write(&manager_words()->capacity_bytes, 64 * MIB);
    CUdeviceptr p, last = 0;
    int pieces = 0;
    while (cuMemAlloc_v2(&p, 3 * MIB / 2) == 0) { /* the gate is closed: addresses only */
        last = p;
        pieces++;
    }
    EQUAL(32, pieces);
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&p, 100 * MIB));
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&p, 4096));
    OKAY(cuMemFree_v2(last));
    for (int i = 0; i < 20; i++) /* share what one had */
        p = allocate(64 << 10);
    bring_back();
    OKAY(cuMemsetD32_v2(p, 4, 16 << 10));
    holds(p, 64 << 10, 4);
    EQUAL(64 * MIB, manager_words()->needed_bytes);
}

static void *uses(void *pointer)
{
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuMemsetD32_v2((CUdeviceptr)(uintptr_t)pointer, 6, 2 * MIB / 4));
    return NULL;
}

static bool someone_synchronises(void)
{
    bool found = false;
    for (int i = 0; i < TESSERA_MAX_THREADS; i++)
        found = found || __atomic_load_n(&manager_segment->threads[i].syncing, __ATOMIC_SEQ_CST) != 0;
    return found;
}

/*
 * The driver has taken the process off the device, whatever its plan: it says so, a call stops in the library and says that
 * it waits, before it reaches the driver or the gate, and goes on once the process is back.
 */
static void suspended(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(2 * MIB, 5);
    pthread_t thread;
    evict();
    manager_write(&manager_words()->flags, TESSERA_RESIDENCY_PARKED | TESSERA_RESIDENCY_CHECKPOINTED);
    manager_bell();
    await_word(&manager_words()->state, TESSERA_RESIDENCY_SUSPENDED);
    EQUAL(0, manager_read(&manager_segment->devices[0].want_since_ns));
    OKAY(pthread_create(&thread, NULL, uses, (void *)(uintptr_t)p));
    for (uint64_t until = manager_now_ns() + 30000000000ULL; !someone_synchronises(); manager_pause_us(100))
        CHECK(manager_now_ns() < until);
    EQUAL(0, manager_read(&manager_segment->devices[0].want_since_ns));
    manager_write(&manager_words()->flags, 0);
    manager_bell();
    await_word(&manager_words()->state, TESSERA_RESIDENCY_STEADY);
    bring_back();
    OKAY(pthread_join(thread, NULL));
    holds(p, 2 * MIB, 6);
}

static const struct situation situations[] = {{"lazy", lazy},
                                              {"waits", waits},
                                              {"waits-over-the-end", waits_over_the_end},
                                              {"manager-dies", manager_dies},
                                              {"manager-returns", manager_returns},
                                              {"manager-dies-full", manager_dies_full},
                                              {"frees-while-out", frees_while_out},
                                              {"contexts-end", contexts_end},
                                              {"faulted", faulted},
                                              {"forks", forks},
                                              {"told", told},
                                              {"never-fits", never_fits},
                                              {"suspended", suspended}};

int main(int argc, char **argv)
{
    return run_situation(argc, argv, situations, sizeof situations / sizeof *situations);
}
