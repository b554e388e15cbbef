/*
 * Looks at one chunk, over the scripted driver, which runs the kernel: parts that are zero, unchanged parts, and changed parts; then
 * a driver that refuses a launch, that runs nothing, and that refuses the module.
 */
#define DRIVER_SCRIPT "devices 3; memory 320MiB" /* a chunk of the largest size, and more */
#define DRIVER_MEMORY (320ULL << 20)

#include "direct/content/content_look.h"

#include <unistd.h>

#include "direct/turns/devices.h"
#include "direct/turns/residency.h"
#include "direct/turns/turns.h"
#include "driver/clock.h"
#include "scripted_driver.h"
#include "session/segment.h"

#define PARTS_OF_CHUNK 3
#define BYTES (PARTS_OF_CHUNK * PART_BYTES)
#define BOUND_NS 100000000000ULL
#define RETRY_NS 200000000ULL /* as in content_look.c */

static struct chunk *chunk;
static unsigned char *memory;

/* Makes a mapped chunk that is BUSY, like one that is about to leave the device. */
static void make_chunk(uint64_t bytes)
{
    CUdeviceptr address;
    CHECK(DRIVER(cuMemAddressReserve)(&address, bytes, 0, 0, 0) == CUDA_SUCCESS);
    residency_lock();
    chunk = chunk_new(0, bytes);
    CHECK(chunk && chunk_add_view(chunk, address, 1, 1));
    residency_unlock();
    CHECK(chunk_fill(chunk) == CUDA_SUCCESS && chunk_address(chunk) == address);
    memory = (void *)(uintptr_t)address;
}

static struct look ended(struct looker *looker, CUresult *result)
{
    struct look look;
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (!look_ended(looker, &look, result)) {
        CHECK(monotonic_ns() < until_ns);
        usleep(100);
    }
    return look;
}

static struct look look_at(struct chunk *at, CUresult *result)
{
    struct looker *looker = looker_of_moves(0);
    CHECK(look_begin(looker, driver.context, at));
    look_flush(looker);
    return ended(looker, result);
}

static struct look looked(void)
{
    CUresult result;
    struct look look = look_at(chunk, &result);
    CHECK(result == CUDA_SUCCESS && look.chunk == chunk);
    return look;
}

static bool same(const struct look *one, const struct look *other, unsigned part)
{
    return memcmp(&one->hashes[part], &other->hashes[part], sizeof one->hashes[part]) == 0;
}

static void zero(void)
{
    memset(memory, 0, BYTES);
    CHECK(looked().filled == 0);
    memory[BYTES - 1] = 1; /* the last byte of the last part */
    CHECK(looked().filled == 1u << (PARTS_OF_CHUNK - 1));
    memory[BYTES - 1] = 0;
    CHECK(looked().filled == 0);
}

/* Compared as a copy on the host is: by the hashes from when it was made. */
static void changed(void)
{
    for (uint64_t i = 0; i < BYTES; i++)
        memory[i] = (unsigned char)(i * 7 + i / PART_BYTES);
    struct look copied = looked(), equal = looked();
    CHECK(copied.filled == (1u << PARTS_OF_CHUNK) - 1 && equal.filled == copied.filled);
    for (unsigned i = 0; i < PARTS_OF_CHUNK; i++)
        CHECK(same(&copied, &equal, i));
    CHECK(memcmp(&copied.hashes[0], &copied.hashes[1], sizeof copied.hashes[0]) != 0);
    memory[PART_BYTES + 4321] ^= 0x10;
    struct look other = looked();
    CHECK(same(&copied, &other, 0) && !same(&copied, &other, 1) && same(&copied, &other, 2));
    memory[PART_BYTES + 4321] ^= 0x10;
    struct look back = looked();
    CHECK(same(&copied, &back, 1));
}

/* A kernel that looks at nothing shows that there is room for one. */
static void nothing(void)
{
    CUresult result;
    struct look look = look_at(NULL, &result);
    CHECK(result == CUDA_SUCCESS && !look.chunk && look.filled == 0);
}

/* More looks than one launch takes, all begun before the first result is read. They end in their order. */
static void many(void)
{
    struct looker *looker = looker_of_moves(0);
    for (unsigned i = 0; i < LOOKS; i++)
        CHECK(look_begin(looker, driver.context, i % 2 ? chunk : NULL));
    CHECK(!look_begin(looker, driver.context, chunk)); /* as many as possible are under way */
    look_flush(looker);
    for (unsigned i = 0; i < LOOKS; i++) {
        CUresult result;
        struct look look = ended(looker, &result);
        CHECK(result == CUDA_SUCCESS && look.chunk == (i % 2 ? chunk : NULL));
    }
    struct look none;
    CUresult result;
    CHECK(!look_ended(looker, &none, &result));
}

/* A refused launch is reported with the driver's result, and the next one is tried. */
static void launch_fails(void)
{
    CUresult result;
    REFUSE(cuLaunchKernel, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    CHECK(look_at(chunk, &result).chunk == chunk && result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    REFUSE(cuLaunchKernel, CUDA_SUCCESS);
    looked();
    REFUSE(cuEventRecord, CUDA_ERROR_UNKNOWN); /* the kernel may have run, but nobody can tell */
    CHECK(look_at(chunk, &result).chunk == chunk && result == CUDA_ERROR_UNKNOWN);
    REFUSE(cuEventRecord, CUDA_SUCCESS);
    CHECK(!look_begin(looker_of_moves(0), driver.context, chunk)); /* not in this context any more */
    look_context_closing(driver.context);
    looked();
}

static CUresult launch_nothing(void)
{
    return CUDA_SUCCESS;
}

/* A driver that reports that the kernel ran, but did not run it. */
static void not_run(void)
{
    CUresult result;
    HOOK(cuLaunchKernel, launch_nothing);
    CHECK(look_at(chunk, &result).chunk == chunk && result == CUDA_ERROR_UNKNOWN);
    HOOK(cuLaunchKernel, INJECTED(cuLaunchKernel));
    CHECK(!look_begin(looker_of_moves(0), driver.context, chunk));
    look_context_closing(driver.context);
}

/* The driver refuses the module: loading is tried once for each context, but later again if the device was full. */
static void module_fails(void)
{
    struct looker *looker = looker_of_samples(0);
    unsigned loads = CALLS(cuModuleLoadData);
    REFUSE(cuModuleLoadData, CUDA_ERROR_INVALID_IMAGE);
    CHECK(!look_begin(looker, driver.context, chunk) && !look_begin(looker, driver.context, chunk));
    CHECK(CALLS(cuModuleLoadData) - loads == 1);
    REFUSE(cuModuleLoadData, CUDA_ERROR_OUT_OF_MEMORY);
    look_context_closing(driver.context);
    uint64_t before_ns = monotonic_ns();
    CHECK(!look_begin(looker, driver.context, chunk) && CALLS(cuModuleLoadData) - loads == 2);
    bool again = look_begin(looker, driver.context, chunk);
    CHECK(!again && (CALLS(cuModuleLoadData) - loads == 2 || monotonic_ns() - before_ns >= RETRY_NS));
    REFUSE(cuModuleLoadData, CUDA_SUCCESS);
    uint64_t until_ns = monotonic_ns() + BOUND_NS;
    while (!look_begin(looker, driver.context, chunk)) {
        CHECK(monotonic_ns() < until_ns);
        usleep(1000);
    }
    look_flush(looker);
    CUresult result;
    CHECK(ended(looker, &result).chunk == chunk && result == CUDA_SUCCESS);
}

/* Each call that loads the kernel fails once: then no look begins, and what was made is released. */
static void loading_fails(void)
{
    struct looker *looker = looker_of_samples(1); /* it has made nothing yet: all that it makes is counted */
    unsigned before = driver.calls;
    CHECK(look_begin(looker, driver.context, NULL));
    unsigned calls = driver.calls - before;
    look_flush(looker);
    CUresult result;
    ended(looker, &result);
    CHECK(result == CUDA_SUCCESS && calls > 10);
    for (unsigned i = 1; i <= calls; i++) {
        look_context_closing(driver.context);
        unsigned modules = CALLS(cuModuleLoadData) - CALLS(cuModuleUnload),
                 events = CALLS(cuEventCreate) - CALLS(cuEventDestroy_v2);
        driver.failure = CUDA_ERROR_UNKNOWN;
        driver.fail_at = driver.calls + i;
        CHECK(!look_begin(looker, driver.context, NULL));
        driver.fail_at = 0;
        CHECK(CALLS(cuModuleLoadData) - CALLS(cuModuleUnload) - modules <= 1); /* the one that failed */
        CHECK(CALLS(cuEventCreate) - CALLS(cuEventDestroy_v2) - events <= 1);
    }
}

static void free_chunk(void)
{
    CHECK(chunk_empty(chunk) == CUDA_SUCCESS);
    residency_lock();
    chunk_forget(chunk);
    residency_unlock();
    CHECK(driver_held() == 0);
}

/* Runs of parts in every position of a mask, across its two halves, too. */
static void masks(void)
{
    CHECK(content_parts(0) == 0 && content_parts(CHUNK_BYTES) == ~(unit_mask)0);
    for (unsigned from = 0; from < PARTS; from++)
        for (unsigned to = from + 1; to <= PARTS; to++) {
            unit_mask run = content_parts(to * PART_BYTES) & ~content_parts(from * PART_BYTES);
            unsigned first = 0, count = 0;
            CHECK(content_bytes(run) == (to - from) * PART_BYTES);
            CHECK(content_run(run, &first, &count) && first == from && count == to - from);
            first += count;
            CHECK(!content_run(run, &first, &count));
        }
}

/* The largest chunk: parts in both halves of a mask. */
static void largest(void)
{
    struct looker *looker = looker_of_moves(0);
    CUresult result;
    make_chunk(CHUNK_BYTES);
    memset(memory, 0, CHUNK_BYTES);
    memory[5] = memory[63 * PART_BYTES + 9] = memory[64 * PART_BYTES] = memory[CHUNK_BYTES - 1] = 1;
    CHECK(look_begin(looker, driver.context, chunk));
    look_flush(looker);
    struct look look = ended(looker, &result);
    CHECK(result == CUDA_SUCCESS);
    CHECK(look.filled == (1 | (unit_mask)1 << 63 | (unit_mask)1 << 64 | (unit_mask)1 << 127));
    free_chunk();
}

int main(void)
{
    alarm(HANGS_S);
    driver_load();
    CHECK(segment_open());
    turns_prepare();
    devices_first(turns_device_opened);
    devices_context_opened(driver.context, 0);
    masks();
    largest();
    make_chunk(BYTES);
    zero();
    changed();
    nothing();
    many();
    launch_fails();
    not_run();
    module_fails();
    loading_fails();
    free_chunk();
    printf("content_look: ok\n");
    return 0;
}
