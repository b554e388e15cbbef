/*
 * Linear memory in time sharing without a plan, under a limit: what counts, what the driver's refusals leave, and what is passed on.
 * Then, under plan swap, physical memory that the driver makes.
 */
#include <stdlib.h>
#include <unistd.h>

#include "direct/turns/devices.h"
#include "direct/turns/residency.h"
#include "direct/turns/turns.h"
#include "scripted_driver.h"
#include "session/segment.h"
#include "session/settings.h"

#define LIMIT (1u << 20)
#define PITCH 512u

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes);
CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned element_bytes);
CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags);
CUresult cuMemFree_v2(CUdeviceptr pointer);
CUresult cuMemCreate(unsigned long long *handle, size_t bytes, const void *properties, unsigned long long flags);
CUresult cuMemRelease(unsigned long long handle);

static void refuse(CUresult result)
{
    REFUSE(cuMemAlloc_v2, result);
    REFUSE(cuMemAllocPitch_v2, result);
    REFUSE(cuMemAllocManaged, result);
    REFUSE(cuMemFree_v2, result);
}

static uint64_t used(void)
{
    return tessera_segment->devices[0].used_bytes;
}

static uint64_t counted(unsigned counter)
{
    return tessera_segment->counters[counter];
}

static void limit(void)
{
    CUdeviceptr half, rest, more = 1;
    CHECK(cuMemAlloc_v2(&half, LIMIT / 2) == CUDA_SUCCESS && used() == LIMIT / 2);
    CHECK(cuMemAlloc_v2(&rest, LIMIT / 2) == CUDA_SUCCESS && used() == LIMIT && rest != half);
    CHECK(cuMemAlloc_v2(&more, 1) == CUDA_ERROR_OUT_OF_MEMORY && more == 1 &&
          CALLS(cuMemAlloc_v2) == 2); /* the driver is not asked */
    CHECK(counted(TESSERA_COUNTER_LIMIT_REFUSALS) == 1 && counted(TESSERA_COUNTER_ALLOCATIONS) == 2);
    CHECK(cuMemFree_v2(half) == CUDA_SUCCESS && used() == LIMIT / 2 && counted(TESSERA_COUNTER_FREES) == 1);
    CHECK(cuMemAlloc_v2(&half, LIMIT / 2 + 1) == CUDA_ERROR_OUT_OF_MEMORY && used() == LIMIT / 2);
    CHECK(cuMemFree_v2(rest) == CUDA_SUCCESS && used() == 0 && CALLS(cuMemFree_v2) == 2);
    CHECK(tessera_segment->devices[0].peak_bytes == LIMIT);
}

/* Rows are padded before they count. */
static void pitched(void)
{
    CUdeviceptr pointer;
    size_t pitch;
    CHECK(cuMemAllocPitch_v2(&pointer, &pitch, 100, 10, 4) == CUDA_SUCCESS && pitch == PITCH && used() == 10 * PITCH);
    CHECK(cuMemFree_v2(pointer) == CUDA_SUCCESS && used() == 0);
    CHECK(cuMemAllocPitch_v2(&pointer, &pitch, 100, LIMIT / PITCH + 1, 4) == CUDA_ERROR_OUT_OF_MEMORY && used() == 0);
}

static void managed(void)
{
    CUdeviceptr pointer;
    CHECK(cuMemAllocManaged(&pointer, 3000, 1) == CUDA_SUCCESS && used() == 3000);
    CHECK(tessera_segment->devices[0].managed_bytes == 0); /* the program's own: not our conversion */
    CHECK(cuMemFree_v2(pointer) == CUDA_SUCCESS && used() == 0);
}

static void refused_by_driver(void)
{
    CUdeviceptr pointer;
    size_t pitch;
    uint64_t before = counted(TESSERA_COUNTER_ALLOCATIONS);
    refuse(CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cuMemAlloc_v2(&pointer, 1000) == CUDA_ERROR_OUT_OF_MEMORY && used() == 0);
    CHECK(cuMemAllocPitch_v2(&pointer, &pitch, 100, 10, 4) == CUDA_ERROR_OUT_OF_MEMORY && used() == 0);
    CHECK(cuMemAllocManaged(&pointer, 1000, 1) == CUDA_ERROR_OUT_OF_MEMORY && used() == 0);
    refuse(DRIVER_FAULT);
    CHECK(cuMemAlloc_v2(&pointer, 1000) == DRIVER_FAULT && used() == 0);
    CHECK(counted(TESSERA_COUNTER_ALLOCATIONS) == before);
    refuse(CUDA_SUCCESS);
    CHECK(cuMemAlloc_v2(&pointer, 1000) == CUDA_SUCCESS);
    refuse(DRIVER_FAULT); /* what was not freed still counts, and can be freed later */
    CHECK(cuMemFree_v2(pointer) == DRIVER_FAULT && used() == 1000);
    refuse(CUDA_SUCCESS);
    CHECK(cuMemFree_v2(pointer) == CUDA_SUCCESS && used() == 0);
}

/* Calls on memory that the library does not know are left to the driver. */
static void passed_on(void)
{
    CUdeviceptr pointer;
    size_t pitch;
    driver.forbidden_calls = true;
    CHECK(cuMemAlloc_v2(NULL, 8) == CUDA_ERROR_INVALID_VALUE && cuMemAlloc_v2(&pointer, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemAllocPitch_v2(&pointer, &pitch, 100, 10, 3) == CUDA_ERROR_INVALID_VALUE && used() == 0);
    unsigned before = CALLS(cuMemFree_v2);
    uint64_t untracked = counted(TESSERA_COUNTER_UNTRACKED_FREES);
    CHECK(cuMemFree_v2(0) == CUDA_SUCCESS && CALLS(cuMemFree_v2) == before + 1);
    CHECK(counted(TESSERA_COUNTER_UNTRACKED_FREES) == untracked);
    CHECK(cuMemFree_v2(0x123400) == CUDA_ERROR_INVALID_VALUE && CALLS(cuMemFree_v2) == before + 2);
    driver.forbidden_calls = false;
    CHECK(DRIVER(cuMemAlloc_v2)(&pointer, 1000) == CUDA_SUCCESS); /* the library does not see it */
    CHECK(cuMemFree_v2(pointer) == CUDA_SUCCESS && counted(TESSERA_COUNTER_UNTRACKED_FREES) == untracked + 1 &&
          used() == 0);
}

static CUresult full_once(void *handle, size_t bytes, const void *properties, unsigned long long flags)
{
    static bool full;
    if (!full) {
        full = true;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return INJECTED(cuMemCreate)(handle, bytes, properties, flags);
}

/* Memory that the library does not make, because of its use, never moves: it counts as fixed, and other clients make room for it. */
static void made_by_driver(void)
{
    const struct driver_allocation_properties tiles = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED, .location.type = CU_MEM_LOCATION_TYPE_DEVICE, .flags.usage = 1};
    unsigned long long handle;
    tessera_segment->residency[0].active = 1;
    HOOK(cuMemCreate, full_once);
    CHECK(cuMemCreate(&handle, CHUNK_UNIT, &tiles, 0) == CUDA_SUCCESS && CALLS(cuMemCreate) == 1);
    CHECK(used() == CHUNK_UNIT && tessera_segment->residency[0].fixed_bytes == CHUNK_UNIT);
    CHECK(cuMemRelease(handle) == CUDA_SUCCESS && used() == 0 && tessera_segment->residency[0].fixed_bytes == 0);
}

/* The settings are read before main(). */
static void start_again(char **arguments, const char *limit, const char *plan)
{
    setenv("TESSERA_MEMORY", limit, 1);
    setenv("TESSERA_PLAN", plan, 1);
    execv("/proc/self/exe", arguments);
    CHECK(!"executed again");
}

int main(int count, char **arguments)
{
    (void)count;
    if (settings()->limit_bytes != LIMIT && !settings()->swap)
        start_again(arguments, "1048576", "plain");
    alarm(HANGS_S);
    driver_load();
    CHECK(segment_open());
    turns_prepare();
    devices_first(turns_device_opened);
    devices_context_opened(driver.context, 0);
    if (settings()->swap) {
        made_by_driver();
        return 0;
    }
    limit();
    pitched();
    managed();
    refused_by_driver();
    passed_on();
    start_again(arguments, "0", "swap");
}
