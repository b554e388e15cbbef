#include "memory.h"

#include "captured_memory.h"
#include "devices.h"
#include "pools.h"
#include "quota.h"
#include "report.h"
#include "segment.h"
#include "settings.h"
#include "swap.h"
#include "tessera_entries.h"

static bool stay_plain;
static uint64_t ages; /* of managed allocations */
static signed char managed_support[TESSERA_MAX_DEVICES]; /* 0 unknown, 1 yes, -1 no */

int memory_device(void)
{
    return settings()->disabled ? -1 : devices_current();
}

bool memory_swapped(unsigned device)
{
    return swap_governs(device) && !__atomic_load_n(&stay_plain, __ATOMIC_RELAXED);
}

bool memory_managed(unsigned device)
{
    bool asked = settings()->managed || (settings()->automatic && !swap_governs(device));
    if (!asked || __atomic_load_n(&stay_plain, __ATOMIC_RELAXED))
        return false;
    if (managed_support[device] == 0) {
        int concurrent = 0;
        CUresult result = REAL(cuDeviceGetAttribute)((void *)&concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
                                                     (CUdevice)device);
        bool supported = result == CUDA_SUCCESS && concurrent;
        managed_support[device] = supported ? 1 : -1;
        if (!supported)
            report_error(CUDA_ERROR_NOT_SUPPORTED, "device %u cannot page managed memory: allocations stay plain",
                         device);
    }
    return managed_support[device] > 0;
}

void memory_stay_plain(void)
{
    __atomic_store_n(&stay_plain, true, __ATOMIC_RELAXED);
}

uint64_t memory_context(void)
{
    CUcontext context = NULL;
    return REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS ? (uint64_t)(uintptr_t)context : 0;
}

static void record(struct allocation allocation)
{
    if (!allocations_add(allocation))
        report_error(0, "no memory to remember an allocation: its bytes count until the process ends");
    segment_count(TESSERA_COUNTER_ALLOCATIONS, 1);
    quota_settled(allocation.device);
}

void memory_record(enum allocation_space space, uint64_t key, uint64_t bytes, unsigned device, uint64_t context,
                   bool managed)
{
    record((struct allocation){.key = key,
                               .bytes = bytes,
                               .link = managed ? __atomic_add_fetch(&ages, 1, __ATOMIC_RELAXED) : 0,
                               .context = context,
                               .references = 1,
                               .space = (uint8_t)space,
                               .device = (uint8_t)device,
                               .managed = managed});
    if (managed) {
        quota_managed(device, (int64_t)bytes);
        segment_count(TESSERA_COUNTER_MANAGED_CONVERSIONS, 1);
    }
}

void memory_record_fixed(enum allocation_space space, uint64_t key, uint64_t bytes, unsigned device, uint64_t context)
{
    uint64_t fixed = settings()->swap ? bytes : 0;
    record((struct allocation){.key = key,
                               .bytes = bytes,
                               .fixed = fixed,
                               .context = context,
                               .references = 1,
                               .space = (uint8_t)space,
                               .device = (uint8_t)device});
    if (fixed)
        swap_fixed_changed(device, (int64_t)fixed);
}

void memory_forget(const struct allocation *allocation)
{
    segment_count(TESSERA_COUNTER_FREES, 1);
    if (allocation->managed)
        quota_managed(allocation->device, -(int64_t)allocation->bytes);
    if (allocation->fixed)
        swap_fixed_changed(allocation->device, -(int64_t)allocation->fixed);
    if (allocation->bytes)
        quota_give(allocation->device, allocation->bytes);
}

void memory_context_ended(void *context)
{
    struct allocation gone;
    pools_context_ended(context);
    captured_context_ended(context);
    while (context && allocations_remove_of_context((uint64_t)(uintptr_t)context, &gone))
        if (gone.space == ALLOCATION_POINTER || gone.space == ALLOCATION_ARRAY) {
            if (gone.space == ALLOCATION_POINTER)
                swap_free(gone.key); /* what is the driver's has ended with the context */
            memory_forget(&gone);
        }
}
