#include "direct/memory/memory.h"

#include "direct/turns/devices.h"
#include "session/quota.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "session/settings.h"
#include "tessera_entries.h"

static uint64_t plain_reasons;                           /* TESSERA_CHOICE_EXPORTED, _DEVICES; 0: the plan decides */
static uint64_t ages;                                    /* of managed allocations */
static uint64_t choices[TESSERA_MAX_DEVICES];            /* as in the segment */
static signed char swap_support[TESSERA_MAX_DEVICES];    /* 0 unknown, 1 yes, -1 no */
static signed char managed_support[TESSERA_MAX_DEVICES]; /* 0 unknown, 1 yes, -1 no */

/* Whether the device has virtual memory management with a granularity that divides CHUNK_UNIT. */
static bool device_supports(unsigned device)
{
    struct driver_allocation_properties ordinary = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                    .location = {CU_MEM_LOCATION_TYPE_DEVICE, (int)device}};
    int mapping = 0;
    size_t unit = 0;
    return REAL(cuDeviceGetAttribute)((void *)&mapping, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                      (CUdevice)device) == CUDA_SUCCESS &&
           mapping && REAL(cuMemGetAllocationGranularity)(&unit, &ordinary, 0) == CUDA_SUCCESS && unit &&
           CHUNK_UNIT % unit == 0;
}

bool memory_mapped(unsigned device)
{
    if (!settings()->swap || device >= TESSERA_MAX_DEVICES)
        return false;
    if (swap_support[device] == 0) {
        swap_support[device] = device_supports(device) ? 1 : -1;
        if (swap_support[device] < 0)
            report_error(CUDA_ERROR_NOT_SUPPORTED,
                         "device %u cannot map memory in pages of 2 MiB: its memory is not swapped", device);
    }
    return swap_support[device] > 0;
}

/* Publishes what plan auto has chosen on a device; may be called repeatedly. */
static void note_choice(unsigned device, uint64_t facts)
{
    if (!settings()->automatic || (__atomic_load_n(&choices[device], __ATOMIC_RELAXED) & facts) == facts)
        return;
    uint64_t all = __atomic_or_fetch(&choices[device], facts, __ATOMIC_RELAXED);
    segment_change_begin();
    __atomic_fetch_or(&segment_get()->residency[device].plan_choice, all, __ATOMIC_RELAXED);
    segment_change_end();
}

/* Under plan auto, memory stays plain if devices cannot reach each other: the driver could not copy mapped memory between them. */
static void look_around(void)
{
    static bool looked;
    if (settings()->automatic && !__atomic_exchange_n(&looked, true, __ATOMIC_RELAXED) && devices_apart())
        memory_stay_plain(TESSERA_CHOICE_DEVICES);
}

bool memory_swapped(unsigned device)
{
    look_around();
    bool governs = memory_mapped(device);
    uint64_t reasons = __atomic_load_n(&plain_reasons, __ATOMIC_RELAXED);
    note_choice(device, TESSERA_CHOICE_AUTO | (governs ? 0 : TESSERA_CHOICE_UNMAPPED) | reasons);
    return governs && !reasons;
}

static bool pages_managed(unsigned device)
{
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
    if (managed_support[device] < 0)
        note_choice(device, TESSERA_CHOICE_UNPAGED);
    return managed_support[device] > 0;
}

bool memory_managed(unsigned device)
{
    const struct tessera_settings *plan = settings();
    bool asked = plan->managed || (plan->automatic && !memory_mapped(device));
    return asked && !memory_stays_plain() && pages_managed(device);
}

enum memory_form memory_form(unsigned device)
{
    const struct tessera_settings *plan = settings();
    enum memory_form form = MEMORY_DRIVERS;
    if (plan->swap || plan->managed || plan->automatic)
        form = memory_swapped(device) ? MEMORY_SWAPPED : memory_managed(device) ? MEMORY_MANAGED : MEMORY_DRIVERS;
    return form;
}

bool memory_overflows(unsigned device, uint64_t bytes)
{
    static bool said;
    if (!settings()->automatic || bytes > UINT64_MAX - CHUNK_UNIT)
        return false;
    residency_lock();
    bool possible = residency_possible(device, (bytes + CHUNK_UNIT - 1) & ~(uint64_t)(CHUNK_UNIT - 1));
    residency_unlock();
    if (possible || !pages_managed(device))
        return false;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        report_line("this program's memory exceeds what the GPU can hold: what does not fit becomes managed memory, "
                    "which is slower; --plan swap refuses it");
    return true;
}

void memory_stay_plain(uint64_t reason)
{
    __atomic_fetch_or(&plain_reasons, reason, __ATOMIC_RELAXED);
}

uint64_t memory_context(void)
{
    CUcontext context = NULL;
    return REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS ? (uint64_t)(uintptr_t)context : 0;
}

bool memory_stays_plain(void)
{
    return __atomic_load_n(&plain_reasons, __ATOMIC_RELAXED) != 0;
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
        residency_fixed_changed(device, (int64_t)fixed);
}

void memory_forget(const struct allocation *allocation)
{
    segment_count(TESSERA_COUNTER_FREES, 1);
    if (allocation->managed)
        quota_managed(allocation->device, -(int64_t)allocation->bytes);
    if (allocation->fixed)
        residency_fixed_changed(allocation->device, -(int64_t)allocation->fixed);
    if (allocation->bytes)
        quota_give(allocation->device, allocation->bytes);
}
