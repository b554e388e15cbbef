/* Linear memory in time sharing without a plan, under a limit: what counts, what the driver's refusals leave, and what is passed on as it is. */
#include <stdlib.h>
#include <unistd.h>

#include "direct/turns/devices.h"
#include "direct/turns/turns.h"
#include "fake_driver.h"
#include "session/segment.h"
#include "session/settings.h"

#define LIMIT (1u << 20)
#define PITCH 512u

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes);
CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned element_bytes);
CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags);
CUresult cuMemFree_v2(CUdeviceptr pointer);

static unsigned allocated, freed; /* calls of the driver */
static CUresult answer;           /* the driver's next, if it is none of success */
static CUdeviceptr next = 0x10000000;

static CUresult allocate(CUdeviceptr *pointer)
{
    allocated++;
    if (answer != CUDA_SUCCESS)
        return answer;
    *pointer = next += 0x100000;
    return CUDA_SUCCESS;
}

static CUresult drivers_alloc(CUdeviceptr *pointer, size_t bytes)
{
    return pointer && bytes ? allocate(pointer) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult drivers_pitch(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned element_bytes)
{
    if (!pointer || !width || !height || element_bytes < 4)
        return CUDA_ERROR_INVALID_VALUE;
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return allocate(pointer);
}

static CUresult drivers_managed(CUdeviceptr *pointer, size_t bytes, unsigned flags)
{
    CHECK(bytes && flags == 1);
    return allocate(pointer);
}

static CUresult drivers_free(CUdeviceptr pointer)
{
    (void)pointer;
    freed++;
    return answer;
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
          allocated == 2); /* the driver is not asked */
    CHECK(counted(TESSERA_COUNTER_LIMIT_REFUSALS) == 1 && counted(TESSERA_COUNTER_ALLOCATIONS) == 2);
    CHECK(cuMemFree_v2(half) == CUDA_SUCCESS && used() == LIMIT / 2 && counted(TESSERA_COUNTER_FREES) == 1);
    CHECK(cuMemAlloc_v2(&half, LIMIT / 2 + 1) == CUDA_ERROR_OUT_OF_MEMORY && used() == LIMIT / 2);
    CHECK(cuMemFree_v2(rest) == CUDA_SUCCESS && used() == 0 && freed == 2);
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
    answer = CUDA_ERROR_OUT_OF_MEMORY;
    CHECK(cuMemAlloc_v2(&pointer, 1000) == CUDA_ERROR_OUT_OF_MEMORY && used() == 0);
    CHECK(cuMemAllocPitch_v2(&pointer, &pitch, 100, 10, 4) == CUDA_ERROR_OUT_OF_MEMORY && used() == 0);
    CHECK(cuMemAllocManaged(&pointer, 1000, 1) == CUDA_ERROR_OUT_OF_MEMORY && used() == 0);
    answer = FAKE_FAULT;
    CHECK(cuMemAlloc_v2(&pointer, 1000) == FAKE_FAULT && used() == 0);
    CHECK(counted(TESSERA_COUNTER_ALLOCATIONS) == before);
    answer = CUDA_SUCCESS;
    CHECK(cuMemAlloc_v2(&pointer, 1000) == CUDA_SUCCESS);
    answer = FAKE_FAULT; /* what was not freed still counts, and can be freed later */
    CHECK(cuMemFree_v2(pointer) == FAKE_FAULT && used() == 1000);
    answer = CUDA_SUCCESS;
    CHECK(cuMemFree_v2(pointer) == CUDA_SUCCESS && used() == 0);
}

/* What we know nothing of is the driver's to judge. */
static void passed_on(void)
{
    CUdeviceptr pointer;
    CHECK(cuMemAlloc_v2(NULL, 8) == CUDA_ERROR_INVALID_VALUE && cuMemAlloc_v2(&pointer, 0) == CUDA_ERROR_INVALID_VALUE);
    size_t pitch;
    CHECK(cuMemAllocPitch_v2(&pointer, &pitch, 100, 10, 3) == CUDA_ERROR_INVALID_VALUE && used() == 0);
    unsigned before = freed;
    uint64_t untracked = counted(TESSERA_COUNTER_UNTRACKED_FREES);
    CHECK(cuMemFree_v2(0) == CUDA_SUCCESS && freed == before + 1);
    CHECK(counted(TESSERA_COUNTER_UNTRACKED_FREES) == untracked);
    CHECK(cuMemFree_v2(0x123400) == CUDA_SUCCESS && freed == before + 2);
    CHECK(counted(TESSERA_COUNTER_UNTRACKED_FREES) == untracked + 1 && used() == 0);
}

/* The settings are read before main(). */
static void ensure_settings(char **arguments)
{
    if (settings()->limit_bytes == LIMIT)
        return;
    setenv("TESSERA_MEMORY", "1048576", 1);
    execv("/proc/self/exe", arguments);
    CHECK(!"executed again");
}

int main(int count, char **arguments)
{
    (void)count;
    ensure_settings(arguments);
    alarm(SANITIZED ? 600 : 60);
    fake_driver();
    FAKE(cuMemAlloc_v2, drivers_alloc);
    FAKE(cuMemAllocPitch_v2, drivers_pitch);
    FAKE(cuMemAllocManaged, drivers_managed);
    FAKE(cuMemFree_v2, drivers_free);
    CHECK(segment_open());
    turns_prepare();
    devices_first(turns_device_opened);
    devices_context_opened(FAKE_CONTEXT, 0);
    limit();
    pitched();
    managed();
    refused_by_driver();
    passed_on();
    return 0;
}
