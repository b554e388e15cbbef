/*
 * Only changed memory is copied off the device, part by part: a part is not copied if it is zero, or if the host still has
 * a copy of it. Memory that comes back is unchanged. The driver's memory is full of garbage until it is written.
 */
#include "moving_program.h"

#define CAPACITY (1024 * MIB) /* a chunk is a 32nd of it: 32 MiB, or 16 parts */
#define PART (2 * MIB)
#define BLOCK (24 * MIB)

static uint64_t copied_out(void)
{
    return __atomic_load_n(&words()->moved_out_bytes, __ATOMIC_RELAXED);
}

static uint64_t copied_in(void)
{
    return __atomic_load_n(&words()->moved_in_bytes, __ATOMIC_RELAXED);
}

/* Another client's turn: all memory leaves and comes back. Returns the bytes copied to the host. */
static uint64_t turn(void)
{
    uint64_t before = copied_out();
    leave();
    uint64_t bytes = copied_out() - before;
    come_back();
    return bytes;
}

static unsigned char *at(const struct held *held, uint64_t offset)
{
    return (unsigned char *)(uintptr_t)(held->at + offset);
}

static void check_zero(const struct held *held, uint64_t from, uint64_t bytes)
{
    for (uint64_t i = from; i < from + bytes; i++)
        CHECK(*at(held, i) == 0);
}

/* Contents are zero except for one part; then the parts change one by one. */
static void parts(void)
{
    struct held held = allocate(BLOCK, 7);
    memset(at(&held, 0), 0, BLOCK);
    await_pinned();
    CHECK(turn() == 0 && words()->zero_bytes == BLOCK && words()->clean_bytes == 0);
    check_zero(&held, 0, BLOCK);
    *at(&held, 5 * PART + 12345) = 1;
    uint64_t in = copied_in();
    CHECK(turn() == PART && copied_in() - in == PART);
    CHECK(words()->zero_bytes == BLOCK - PART && words()->clean_bytes == PART && words()->swapped_bytes == 0);
    CHECK(*at(&held, 5 * PART + 12345) == 1);
    check_zero(&held, 0, 5 * PART + 12345);
    check_zero(&held, 5 * PART + 12346, BLOCK - 5 * PART - 12346);
    CHECK(turn() == 0);                   /* the host has it already */
    *at(&held, 5 * PART + 12345) ^= 0x40; /* the same part, one bit */
    *at(&held, BLOCK - 1) = 9;            /* another */
    CHECK(turn() == 2 * PART && *at(&held, 5 * PART + 12345) == 0x41 && *at(&held, BLOCK - 1) == 9);
    *at(&held, 5 * PART + 12345) = 0; /* zero again */
    CHECK(turn() == 0 && words()->zero_bytes == BLOCK - PART);
    check_zero(&held, 0, BLOCK - 1);
    CHECK(*at(&held, BLOCK - 1) == 9);
    fill(&held);
    CHECK(turn() == BLOCK);
    verify(&held);
    CHECK(turn() == 0 && words()->zero_bytes == 0 && words()->clean_bytes == BLOCK);
    verify(&held);
    end(&held, 1);
}

/* Only contents count as off the device; memory that is zero left without a copy. */
static void counts(void)
{
    struct held held = allocate(BLOCK, 11);
    memset(at(&held, 0), 0, BLOCK);
    memset(at(&held, PART), 3, PART);
    await_pinned();
    uint64_t spared = words()->spared_bytes;
    leave();
    CHECK(words()->swapped_bytes == PART && words()->spared_bytes - spared == BLOCK - PART);
    CHECK(now().zero == BLOCK - PART && words()->clean_bytes == 0);
    come_back();
    check_zero(&held, 0, PART);
    check_zero(&held, 2 * PART, BLOCK - 2 * PART);
    end(&held, 1);
}

static void order_pinned(uint64_t target)
{
    __atomic_store_n(&words()->pinned_target, target, __ATOMIC_SEQ_CST);
    residency_orders(0);
}

/* Memory that is allocated while the gate is closed has no contents until the gate opens, whether it is resident or not. */
static void blank(void)
{
    struct held first = allocate(BLOCK, 41);
    fill(&first);
    await_pinned();
    leave();
    struct held second = allocate(BLOCK, 42);
    CHECK(words()->needed_bytes == 2 * BLOCK && words()->zero_bytes == BLOCK && now().blank == BLOCK);
    come_back();
    CHECK(now().blank == 0);
    fill(&second);
    CHECK(turn() >= BLOCK);
    CHECK(now().blank == 0 && now().zero == 0);
    verify(&first);
    verify(&second);
    leave();
    struct held third = allocate(BLOCK, 43);
    CHECK(now().blank == BLOCK);
    CHECK(swap_free(third.at) == CUDA_SUCCESS);
    CHECK(now().blank == 0);
    come_back();
    end((struct held[]){first, second}, 2);
}

/* The manager asks host memory back: copies of memory that is on the device go, but no contents. */
static void asked_back(void)
{
    struct held held = allocate(BLOCK, 5);
    fill(&held);
    await_pinned();
    CHECK(turn() == BLOCK);
    for (int tries = 0; now().clean != BLOCK; tries++) { /* no copy is kept while pinned memory is on its way elsewhere */
        CHECK(tries < 10);
        turn();
    }
    order_pinned(0);
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (now().held[TIER_PINNED]) {
        CHECK(monotonic_ns() < until_ns);
        usleep(1000);
    }
    CHECK(now().clean == 0);
    CHECK(turn() == BLOCK);
    verify(&held);
    order_pinned(DRIVER_MEMORY);
    end(&held, 1);
}

/* New contents take the room of copies: there are two blocks, and pinned memory for one and a half. */
static void crowded(void)
{
    order_pinned(BLOCK + BLOCK / 2);
    struct held one = allocate(BLOCK, 21), two = allocate(BLOCK, 22);
    fill(&one);
    memset(at(&two, 0), 0, BLOCK);
    await_pinned();
    CHECK(turn() == BLOCK);
    fill(&two);
    CHECK(turn() >= BLOCK); /* some memory that has a copy may be copied again */
    verify(&one);
    verify(&two);
    turn();
    verify(&one);
    verify(&two);
    order_pinned(DRIVER_MEMORY);
    end((struct held[]){one, two}, 2);
}

/* While the program runs, samples say how much of its memory is not zero. */
static void samples(void)
{
    struct held held = allocate(40 * MIB, 13);
    memset(at(&held, 0), 0, held.bytes);
    memset(at(&held, 10 * MIB), 1, 20 * MIB);
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (__atomic_load_n(&words()->zero_bytes, __ATOMIC_RELAXED) != 20 * MIB) {
        CHECK(monotonic_ns() < until_ns);
        usleep(1000);
    }
    CHECK(turn() >= 20 * MIB); /* what was not pinned in time is copied whole */
    end(&held, 1);
}

static CUresult launch_nothing(void)
{
    return CUDA_SUCCESS;
}

/* A driver that reports that the kernel ran, but did not run it: all memory is copied. */
static void not_run(void)
{
    struct held held = allocate(BLOCK, 31);
    HOOK(cuLaunchKernel, launch_nothing);
    fill(&held);
    await_pinned();
    CHECK(turn() == BLOCK);
    verify(&held);
    CHECK(turn() == BLOCK && now().zero == 0 && now().clean == 0);
    verify(&held);
    end(&held, 1);
}

int main(int count, char **arguments)
{
    (void)count;
    ensure_settings(arguments);
    alarm(HANGS_S);
    driver_load();
    open_device(true);
    words()->capacity_bytes = CAPACITY;
    residency_orders(0);
    parts();
    counts();
    blank();
    asked_back();
    crowded();
    samples();
    not_run();
    printf("content: ok\n");
    return 0;
}
