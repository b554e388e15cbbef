/*
 * Stream-ordered memory over plan swap: a stream reuses at once what it freed; other streams reuse it when that work is
 * done, or behind a dependency that is added; what goes back to the device, and when; and the attributes of the pool.
 */
#include "direct/pools/pools.h"

#include <stdlib.h>
#include <unistd.h>

#include "direct/pools/held_stream.h"
#include "direct/swap/swap.h"
#include "direct/turns/devices.h"
#include "direct/turns/turns.h"
#include "session/segment.h"
#include "session/settings.h"

#define MIB (1ULL << 20)
#define HANDLE ((CUmemoryPool)0x9000)
#define POOL_BYTES (16 * MIB)

static struct stream_identity first, second;

static CUresult wait_event(CUstream stream, CUevent event, unsigned flags)
{
    CHECK(stream == (CUstream)second.handle && flags == 0);
    return INJECTED(cuStreamWaitEvent)(stream, event, flags);
}

static uint64_t figure(struct pool *pool, int attribute)
{
    uint64_t value = UINT64_MAX;
    CHECK(pools_get_attribute(pool, attribute, &value));
    return value;
}

static CUdeviceptr allocate(struct pool *pool, uint64_t bytes, struct stream_identity stream)
{
    CUdeviceptr pointer = 0;
    unsigned device = 99;
    uint64_t capture = 99;
    CHECK(pools_allocate(pool, bytes, stream, &pointer) == CUDA_SUCCESS && pointer % 512 == 0);
    CHECK(pools_owns(pointer, &device, &capture) && device == 0 && capture == 0);
    *(volatile unsigned char *)(uintptr_t)(pointer + bytes - 1) = 7; /* there is memory */
    return pointer;
}

static void set(struct pool *pool, int attribute, uint64_t value)
{
    pools_set_attribute(pool, attribute, &value);
}

static struct pool *names(void)
{
    struct pool *pool = pools_adopt(HANDLE, 0, POOL_BYTES);
    uint64_t value;
    CHECK(pool && pools_adopt(HANDLE, 0, POOL_BYTES) == pool && pools_find(HANDLE) == pool && pools_device(pool) == 0);
    CHECK(!pools_find((CUmemoryPool)0x9001) && !pools_find(NULL) &&
          !pools_get_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    return pool;
}

static void reused(struct pool *pool)
{
    unsigned device;
    uint64_t capture;
    set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX);
    CUdeviceptr one = allocate(pool, MIB, first);
    CHECK(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == MIB &&
          figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == MIB);
    CHECK(pools_free(one, first) == CUDA_SUCCESS && !pools_owns(one, &device, &capture));
    CHECK(pools_free(one, first) == CUDA_ERROR_INVALID_VALUE); /* once */
    CHECK(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0 &&
          figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == MIB && pools_surplus == 0);
    CHECK(allocate(pool, MIB, first) == one);
    hold(first);
    CHECK(pools_free(one, first) == CUDA_SUCCESS);
    CUdeviceptr two = allocate(pool, MIB, second); /* the first stream has not reached the free */
    CHECK(two != one && figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 2 * MIB);
    let_go(first);
    CUdeviceptr three = allocate(pool, MIB, second); /* now it has */
    CHECK(three == one && figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 2 * MIB &&
          figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 2 * MIB);
    CHECK(pools_free(two, second) == CUDA_SUCCESS && pools_free(three, second) == CUDA_SUCCESS);
    set(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 0);
    pools_quiet(0, pools_moment()); /* all of it is done, but the program forbids such reuse */
    CUdeviceptr four = allocate(pool, MIB, first);
    CHECK(four != one && four != two);
    CHECK(pools_free(four, first) == CUDA_SUCCESS);
    set(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 1);
}

/* A wait for the device shows nothing about memory that was freed during the wait. */
static void freed_in_a_wait(struct pool *pool)
{
    CUdeviceptr before = allocate(pool, 4 * MIB, first), since = allocate(pool, 4 * MIB, first);
    hold(first);
    CHECK(pools_free(before, first) == CUDA_SUCCESS);
    uint64_t moment = pools_moment();
    CHECK(pools_free(since, first) == CUDA_SUCCESS);
    pools_quiet(0, moment);
    CHECK(allocate(pool, 4 * MIB, second) == before);
    CUdeviceptr other = allocate(pool, 4 * MIB, second);
    CHECK(other != since);
    let_go(first);
    CHECK(pools_free(before, second) == CUDA_SUCCESS && pools_free(other, second) == CUDA_SUCCESS);
    pools_quiet(0, pools_moment());
    pools_trim(pool, 0);
}

/* Memory above the threshold goes back when the program synchronises, unless its stream has not reached the free. */
static void given_back(struct pool *pool)
{
    pools_quiet(0, pools_moment());
    pools_trim(pool, 2 * MIB);
    CHECK(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 2 * MIB);
    pools_synchronised();
    CHECK(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 2 * MIB);
    set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, MIB);
    CHECK(pools_surplus == 1);
    pools_synchronised();
    CHECK(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == MIB && pools_surplus == 0);
    set(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 0);
    CHECK(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) == MIB);
    CHECK(pools_release(0) == MIB && figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
    CUdeviceptr pointer = allocate(pool, MIB, first);
    hold(first);
    CHECK(pools_free(pointer, first) == CUDA_SUCCESS);
    CHECK(pools_release(0) == 0); /* it may be in use */
    let_go(first);
    CHECK(pools_release(0) == MIB && figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
}

/* When the pool holds all that it may, a stream waits for another stream's memory, if the program allows that. */
static void at_the_limit(struct pool *pool)
{
    CUdeviceptr all = allocate(pool, POOL_BYTES, first), more;
    CHECK(pools_allocate(pool, 512, first, &more) == CUDA_ERROR_OUT_OF_MEMORY);
    for (int dependencies = 0; dependencies < 2; dependencies++) {
        set(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, (uint64_t)dependencies);
        hold(first);
        CHECK(pools_free(all, first) == CUDA_SUCCESS);
        if (dependencies) {
            CHECK(allocate(pool, POOL_BYTES, second) == all && CALLS(cuStreamWaitEvent) == 1);
        } else {
            CHECK(pools_allocate(pool, POOL_BYTES, second, &more) == CUDA_ERROR_OUT_OF_MEMORY &&
                  CALLS(cuStreamWaitEvent) == 0);
            CHECK(allocate(pool, POOL_BYTES, first) == all);
        }
        let_go(first);
    }
    CHECK(pools_free_idle(all, true) == CUDA_SUCCESS); /* its stream does not matter */
    CHECK(pools_allocate(pool, UINT64_MAX, first, &more) == CUDA_ERROR_OUT_OF_MEMORY);
}

/* A destroyed pool keeps memory that is in use, and gives it back when it is freed. */
static void destroyed(struct pool *pool)
{
    CUdeviceptr pointer = allocate(pool, MIB, first);
    struct swap_range range;
    CHECK(swap_find(pointer, &range) && pools_handle_of(range.tag) == HANDLE);
    pools_destroyed(HANDLE);
    CHECK(!pools_find(HANDLE) && !pools_handle_of(range.tag) &&
          figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == MIB);
    CHECK(pools_free(pointer, first) == CUDA_SUCCESS);
    pools_quiet(0, pools_moment());
    pools_synchronised();
    CHECK(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0 && !swap_find(pointer, &range));
}

static void open_device(void)
{
    CHECK(segment_open());
    struct tessera_residency *words = &tessera_segment->residency[0];
    words->active = 1;
    words->resident_target = DRIVER_MEMORY;
    words->pageable_target = DRIVER_MEMORY;
    turns_prepare();
    devices_first(turns_device_opened);
    devices_context_opened(driver.context, 0);
}

/* The settings are read before main(). */
static void ensure_settings(char **arguments)
{
    if (settings()->swap)
        return;
    setenv("TESSERA_PLAN", "swap", 1);
    setenv("TESSERA_QUIET", "1", 1);
    setenv("TESSERA_MEMORY_WAIT_MS", "200", 1);
    execv("/proc/self/exe", arguments);
    CHECK(!"executed again");
}

int main(int count, char **arguments)
{
    (void)count;
    ensure_settings(arguments);
    alarm(HANGS_S);
    driver_load();
    first = new_stream();
    second = new_stream();
    HOOK(cuStreamWaitEvent, wait_event);
    open_device();
    struct pool *pool = names();
    reused(pool);
    given_back(pool);
    freed_in_a_wait(pool);
    at_the_limit(pool);
    destroyed(pool);
    return 0;
}
