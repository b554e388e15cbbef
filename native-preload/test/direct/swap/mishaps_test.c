/*
 * When calls fail at a bad moment, a program must not see contents of others, lose contents while one of its contexts works, wait
 * for ever for its own kernel, or report memory as zero that was not looked at.
 */
#include "direct/chunks/backing.h"
#include "direct/chunks/chunks.h"
#include "direct/chunks/kept_copies.h"
#include "direct/swap/chunk_copier.h"
#include "late_driver.h"
#include "moving_program.h"

#include <sys/resource.h>

#define CAPACITY (64 * MIB) /* of which a chunk is a 32nd */
#define CHUNK (2 * MIB)
#define SHORT_NS (SANITIZED ? 25000000000ULL : 8000000000ULL)

static unsigned char *memory_of(const struct held *held)
{
    return (unsigned char *)(uintptr_t)held->at;
}

static void check_own(const struct held *held)
{
    for (uint64_t i = 0; i < held->bytes; i++)
        CHECK(memory_of(held)[i] != STRANGE);
}

/* A block is freed with half of it off the device, and the driver does not release it. The next block shows no contents of others. */
static void freed_halfway(void)
{
    struct held held = allocate(2 * CHUNK, 3);
    memset(memory_of(&held), 7, held.bytes);
    residency_drained(0);
    order(CHUNK);
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (now().resident != CHUNK) {
        moves_step(0, false);
        CHECK(monotonic_ns() < until_ns);
    }
    CHECK(now().swapped == CHUNK);
    REFUSE(cuMemUnmap, CUDA_ERROR_NOT_SUPPORTED);
    CHECK(swap_free(held.at) == CUDA_SUCCESS);
    REFUSE(cuMemUnmap, CUDA_SUCCESS);
    CHECK(now().swapped == 0 && now().needed == 0);
    while (exchange_drop(0))
        ;
    CHECK(stranger_gives(CHUNK));
    come_back();
    held = allocate(2 * CHUNK, 3);
    check_own(&held);
    memset(memory_of(&held), 9, held.bytes);
    leave();
    come_back();
    CHECK(now().swapped == 0 && memory_of(&held)[2 * CHUNK - 1] == 9);
    end(&held, 1);
}

static void refuse_moves(CUresult result)
{
    REFUSE(cuMemcpyHtoDAsync_v2, result);
    REFUSE(cuMemUnmap, result);
}

/* Contents did not arrive in memory of others, and the driver does not release that memory: no allocation gets it. */
static void freed_before_it_came(void)
{
    struct held held = allocate(CHUNK, 3);
    memset(memory_of(&held), 7, held.bytes);
    leave();
    while (exchange_drop(0))
        ;
    CHECK(stranger_gives(CHUNK));
    order(DRIVER_MEMORY);
    refuse_moves(CUDA_ERROR_NOT_SUPPORTED);
    moves_step(0, true);
    CHECK(driver_held() == CHUNK && now().present == 0 && memory_of(&held)[0] == STRANGE);
    CHECK(swap_free(held.at) == CUDA_SUCCESS);
    refuse_moves(CUDA_SUCCESS);
    come_back();
    held = allocate(CHUNK, 3);
    check_own(&held);
    end(&held, 1);
}

static CUcontext new_context(void)
{
    CUcontext context;
    CHECK(DRIVER(cuCtxCreate_v2)(&context, 0, 0) == CUDA_SUCCESS && DRIVER(cuCtxPopCurrent_v2)(&context) == CUDA_SUCCESS);
    devices_context_opened(context, 0);
    return context;
}

/* Ends the first context, as the library's entries do it. `other` is the first from then on. */
static void end_first_context(CUcontext other)
{
    CHECK(devices_context_closing(driver.context) == 0);
    copier_context_closing(driver.context);
    backing_context_closing(driver.context);
    CHECK(DRIVER(cuCtxDestroy_v2)(driver.context) == CUDA_SUCCESS);
    devices_context_closed(driver.context, true);
    driver.context = other;
    driver_use();
}

/* Contents that no context can use any more do not come back, and the memory in their place shows no contents of others. */
static void lost_for_good(void)
{
    struct held held = allocate(2 * CHUNK, 5);
    memset(memory_of(&held), 7, held.bytes);
    leave();
    while (exchange_drop(0))
        ;
    CHECK(stranger_gives(CHUNK));
    CHECK(stranger_gives(CHUNK));
    driver_fault();
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    order(DRIVER_MEMORY);
    while (moves_step(0, true), !residency_open(0)) {
        CHECK(monotonic_ns() < until_ns);
        usleep(5000);
    }
    check_own(&held);
    end_first_context(new_context());
    while (exchange_drop(0))
        ;
    leave();
    come_back();
    end(&held, 1);
}

/* One context of two has faulted: contents move in the other one. */
static void one_faulted(void)
{
    CUcontext second = new_context();
    struct held held = allocate(5 * CHUNK, 11);
    fill(&held);
    leave();
    come_back();
    verify(&held);
    driver_fault();
    leave();
    come_back();
    verify(&held);
    memory_of(&held)[3] ^= 1;
    leave();
    come_back();
    memory_of(&held)[3] ^= 1;
    verify(&held);
    end_first_context(second);
    end(&held, 1);
}

/* Memory that small allocations share is not looked at, so it is not counted as zero even if other memory is. */
static void shared_by_small(void)
{
    struct held small[4], large = allocate(34 * MIB, 1);
    memset(memory_of(&large), 0, large.bytes);
    for (unsigned i = 0; i < 4; i++) {
        small[i] = allocate(700000, (unsigned char)(20 + i));
        fill(&small[i]);
    }
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (__atomic_load_n(&words()->zero_bytes, __ATOMIC_SEQ_CST) < large.bytes) { /* a sample may have been early */
        CHECK(monotonic_ns() < until_ns);
        usleep(1000);
    }
    CHECK(words()->zero_bytes == large.bytes && now().needed > large.bytes);
    /* Memory that could not be looked at before it left is not taken to be zero either. */
    REFUSE(cuLaunchKernel, CUDA_ERROR_OUT_OF_MEMORY);
    leave();
    CHECK(words()->zero_bytes == 0 && words()->swapped_bytes == now().needed);
    come_back();
    REFUSE(cuLaunchKernel, CUDA_SUCCESS);
    for (unsigned i = 0; i < 4; i++) {
        verify(&small[i]);
        CHECK(swap_free(small[i].at) == CUDA_SUCCESS);
    }
    end(&large, 1);
}

/* While a kernel of the program occupies the device, no sample prevents a free. */
static void kernel_for_ever(void)
{
    REFUSE(cuEventQuery, CUDA_ERROR_NOT_READY);
    unsigned asked = CALLS(cuEventQuery);
    struct held held = allocate(36 * MIB, 9);
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (CALLS(cuEventQuery) == asked) { /* a sample is due, and waits */
        CHECK(monotonic_ns() < until_ns);
        usleep(1000);
    }
    uint64_t from_ns = monotonic_ns();
    CHECK(swap_free(held.at) == CUDA_SUCCESS && monotonic_ns() - from_ns < SHORT_NS);
    REFUSE(cuEventQuery, CUDA_SUCCESS);
    end(NULL, 0);
}

/* Host memory that the manager asks back goes at once, even if pinning more was just refused; and the published figures are right. */
static void pinned_back(void)
{
    struct held one = allocate(8 * CHUNK, 3), two;
    fill(&one);
    await_pinned();
    for (int tries = 0; now().clean != one.bytes; tries++) { /* no copy is kept while memory is still being pinned */
        CHECK(tries < 100);
        leave();
        come_back();
    }
    residency_lock();
    CHECK(kept_copies_drop(0) && words()->clean_bytes == residency_of(0)->clean);
    residency_unlock();
    REFUSE(cuMemHostRegister_v2, CUDA_ERROR_OUT_OF_MEMORY);
    unsigned pins = CALLS(cuMemHostRegister_v2);
    two = allocate(8 * CHUNK, 4);
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (CALLS(cuMemHostRegister_v2) == pins) {
        CHECK(monotonic_ns() < until_ns);
        residency_orders(0);
        usleep(1000);
    }
    __atomic_store_n(&words()->pinned_target, 0, __ATOMIC_SEQ_CST);
    until_ns = monotonic_ns() + SHORT_NS;
    while (now().held[TIER_PINNED]) {
        residency_orders(0);
        CHECK(monotonic_ns() < until_ns);
        usleep(1000);
    }
    verify(&one);
    end((struct held[]){one, two}, 2);
}

/* Moves in until this much is resident. */
static void come_back_to(uint64_t bytes)
{
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    order(bytes);
    while (now().resident < bytes) {
        moves_step(0, true);
        CHECK(monotonic_ns() < until_ns);
    }
}

/*
 * While a part is off the device, the manager asks for the host memory that the rest no longer needs. That memory goes, although the
 * steps with the fewest contents have no copies, and no contents come back that would empty them.
 */
static void copies_beside_contents(void)
{
    struct held held = allocate(10 * CHUNK, 6);
    fill(&held);
    await_pinned();
    leave();
    come_back_to(6 * CHUNK);
    __atomic_store_n(&words()->pinned_target, 6 * CHUNK,
                     __ATOMIC_SEQ_CST); /* for four, and a step that is used in part */
    uint64_t until_ns = monotonic_ns() + SHORT_NS;
    while (now().held[TIER_PINNED] > 6 * CHUNK) {
        residency_orders(0);
        CHECK(monotonic_ns() < until_ns);
        usleep(1000);
    }
    come_back();
    verify(&held);
    __atomic_store_n(&words()->pinned_target, DRIVER_MEMORY, __ATOMIC_SEQ_CST);
    end(&held, 1);
}

/* The kernel that looks finds no room on a full device: all memory is copied until there is room for it. Must be the first case. */
static void full_at_first(void)
{
    struct held held = allocate(CHUNK, 4);
    memset((void *)(uintptr_t)held.at, 0, held.bytes);
    REFUSE(cuModuleLoadData, CUDA_ERROR_OUT_OF_MEMORY);
    leave();
    CHECK(words()->moved_out_bytes == CHUNK);
    come_back();
    REFUSE(cuModuleLoadData, CUDA_SUCCESS);
    uint64_t until_ns = monotonic_ns() + BOUND_NS, spared = words()->spared_bytes;
    while (words()->spared_bytes == spared) {
        CHECK(monotonic_ns() < until_ns);
        leave();
        come_back();
        usleep(20000);
    }
    end(&held, 1);
}

static void set_state(struct chunk *chunk, enum chunk_state state)
{
    residency_lock();
    chunk_change_begin(chunk);
    chunk->state = (uint8_t)state;
    chunk_change_end(chunk);
    residency_unlock();
}

static void *let_peer(void *unused)
{
    (void)unused;
    swap_peer_access(0, 1, true);
    return NULL;
}

/* Another device gets access to memory that is being looked at, as soon as the look is over. */
static void access_while_busy(void)
{
    struct held held = allocate(CHUNK, 8);
    fill(&held);
    struct chunk *chunk = chunk_first(0);
    pthread_t thread;
    set_state(chunk, CHUNK_BUSY);
    CHECK(pthread_create(&thread, NULL, let_peer, NULL) == 0);
    usleep(50000);
    residency_lock();
    CHECK(chunk->views->writable == 1);
    residency_unlock();
    set_state(chunk, CHUNK_RESIDENT);
    CHECK(pthread_join(thread, NULL) == 0 && chunk->views->writable == 3 && chunk->views->readable == 3);
    swap_peer_access(0, 1, false);
    CHECK(chunk->views->writable == 1);
    verify(&held);
    end(&held, 1);
}

/* There is no host memory for the record of a small allocation: the allocation fails, and leaves nothing of the device taken. */
static void no_memory_for_records(void)
{
    enum { MOST = 4096 };
    static struct held all[MOST];
    struct rlimit before;
    CUresult result = CUDA_SUCCESS;
    unsigned count = 1;
    all[0] = allocate(256, 1); /* the block */
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){0, before.rlim_max}) == 0);
    while (count < MOST && result == CUDA_SUCCESS) {
        all[count] = (struct held){.bytes = 256};
        result = swap_allocate(0, 256, 0, (struct swap_options){0}, &all[count].at);
        count += result == CUDA_SUCCESS;
    }
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(result == CUDA_ERROR_OUT_OF_MEMORY);
    end(all, count);
}

int main(int count, char **arguments)
{
    (void)count;
    ensure_settings(arguments);
    alarm(HANGS_S);
    late_driver();
    open_device(true);
    words()->capacity_bytes = CAPACITY;
    residency_orders(0);
    full_at_first();
    kernel_for_ever();
    shared_by_small();
    strangers_come();
    freed_halfway();
    freed_before_it_came();
    lost_for_good();
    one_faulted();
    copies_beside_contents();
    pinned_back();
    access_while_busy();
    no_memory_for_records();
    printf("mishaps: ok\n");
    return 0;
}
