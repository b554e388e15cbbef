/*
 * Memory figures for programs. They show the tenant's limit, if there is one, and count allocations by the sizes that
 * the program asked for.
 */
#include <stdint.h>
#include <string.h>

#include "direct/memory/allocations.h"
#include "direct/swap/several_devices.h"
#include "direct/turns/devices.h"
#include "direct/memory/memory.h"
#include "session/quota.h"
#include "direct/turns/residency.h"
#include "direct/swap/swap.h"
#include "session/segment.h"
#include "session/settings.h"
#include "tessera_entries.h"

/* The smaller of the tenant's limit and, if a manager plans residency, its capacity for the device; 0: neither. */
static uint64_t limit_of(int device)
{
    if (settings()->disabled || device < 0 || device >= TESSERA_MAX_DEVICES)
        return 0;
    uint64_t limit = quota_limit((unsigned)device);
    if (!limit)
        limit = settings()->limit_bytes;
    uint64_t capacity = residency_capacity((unsigned)device);
    return capacity && (!limit || capacity < limit) ? capacity : limit;
}

/*
 * Limits both figures. Free memory is at most what the device has free, except under a plan by which other clients'
 * memory makes room: then the whole unused limit is free. A process whose memory stays plain gets no such room.
 */
static void clamp(int device, uint64_t *free_bytes, uint64_t *total)
{
    uint64_t limit = limit_of(device);
    if (device >= 0 && memory_mapped((unsigned)device)) {
        bool plain = memory_stays_plain();
        uint64_t had = plain ? residency_left((unsigned)device, *total)
                             : residency_free((unsigned)device, *free_bytes, *total);
        *free_bytes = plain && *free_bytes < had ? *free_bytes : had;
    }
    if (limit == 0)
        return;
    if (*total > limit)
        *total = limit;
    uint64_t used = quota_used((unsigned)device);
    uint64_t left = used < limit ? limit - used : 0;
    if (*free_bytes > left)
        *free_bytes = left;
}

TESSERA_EXPORT CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    CUresult result = REAL(cuMemGetInfo_v2)(free_bytes, total);
    if (result == CUDA_SUCCESS && free_bytes && total)
        clamp(several_devices_current(), free_bytes, total);
    return result;
}

TESSERA_EXPORT CUresult cuMemGetInfo(unsigned *free_bytes, unsigned *total)
{
    CUresult result = REAL(cuMemGetInfo)(free_bytes, total);
    if (result == CUDA_SUCCESS && free_bytes && total) {
        uint64_t f = *free_bytes, t = *total;
        clamp(several_devices_current(), &f, &t);
        *free_bytes = (unsigned)f;
        *total = (unsigned)t;
    }
    return result;
}

TESSERA_EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult result = REAL(cuDeviceTotalMem_v2)(bytes, device);
    uint64_t limit = limit_of(device);
    if (result == CUDA_SUCCESS && bytes && limit && *bytes > limit)
        *bytes = limit;
    return result;
}

TESSERA_EXPORT CUresult cuDeviceTotalMem(unsigned *bytes, CUdevice device)
{
    CUresult result = REAL(cuDeviceTotalMem)(bytes, device);
    uint64_t limit = limit_of(device);
    if (result == CUDA_SUCCESS && bytes && limit && *bytes > limit)
        *bytes = (unsigned)limit;
    return result;
}

/*
 * For libnvidia-ml.so.1 of this project: limit and use of the device with this UUID. 1: set; 0: there is no limit. Not
 * a public interface; it is found by dlsym, because the two libraries are loaded separately.
 */
TESSERA_EXPORT int tessera_memory_of(const unsigned char uuid[16], uint64_t *limit, uint64_t *used);

TESSERA_EXPORT int tessera_memory_of(const unsigned char uuid[16], uint64_t *limit, uint64_t *used)
{
    if (settings()->disabled)
        return 0;
    *limit = settings()->limit_bytes;
    *used = 0;
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++)
        if (devices_opened(i) && memcmp(tessera_segment->devices[i].uuid, uuid, 16) == 0) {
            *limit = limit_of((int)i);
            *used = quota_used(i);
        }
    return *limit != 0;
}
