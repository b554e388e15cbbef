#include "direct/pools/driver_room.h"

#include <stddef.h>
#include <unistd.h>

#include "driver/clock.h"
#include "direct/turns/devices.h"
#include "direct/pools/pools.h"
#include "session/manager.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "session/settings.h"
#include "direct/chunks/block_cache.h"
#include "tessera_entries.h"

#define ASK_AGAIN_US 2000      /* about as long as another client needs to move one chunk of 64 MiB */
#define CONTEXT_AGAIN_US 20000 /* short beside creating a context: half a second */
#define FIRST_PART 2048        /* of the device, claimed at first: 68 MiB of an H200, about one chunk */
#define SMALLEST_BYTES (2ULL << 20)
#define MOST_PART 16            /* of the device, claimed at most ... */
#define MOST_BYTES (1ULL << 30) /* ... and bytes claimed at most: the largest modules of PyTorch 2.11 need less */
#define OTHERS_PART 64          /* of the device: if other clients and the driver hold less, no client can make room */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool can_help(unsigned device, size_t free_bytes, size_t total_bytes)
{
    residency_lock();
    uint64_t own = residency_of(device)->resident + residency_of(device)->fixed;
    residency_unlock();
    return own + free_bytes + total_bytes / OTHERS_PART < total_bytes;
}

/*
 * At the first refusal: releases the process's own free memory and sets the largest claim. False: waiting cannot help.
 */
static bool begin(struct driver_room *room, uint64_t now_ns)
{
    int device = devices_current();
    if (!settings()->swap || settings()->disabled || device < 0 || !residency_planned((unsigned)device))
        return false;
    size_t free_bytes, total_bytes;
    if (REAL(cuMemGetInfo_v2)(&free_bytes, &total_bytes) != CUDA_SUCCESS)
        return false;
    room->device = (unsigned)device;
    room->until_ns = now_ns + settings()->memory_wait_ns;
    room->most = smaller(total_bytes / MOST_PART, MOST_BYTES);
    pools_release(room->device);
    residency_lock();
    block_cache_drop(room->device, room->most);
    residency_unlock();
    room->most = can_help(room->device, free_bytes, total_bytes) ? room->most : 0;
    return true;
}

static void claim(struct driver_room *room, uint64_t bytes)
{
    residency_claim(room->device, (int64_t)(bytes - room->claimed));
    room->claimed = bytes;
    manager_ring(room->device);
}

/* The limit that the manager has set, less what the process needs on the device. */
static uint64_t possible(unsigned device)
{
    uint64_t limit = __atomic_load_n(&segment_get()->residency[device].resident_limit, __ATOMIC_RELAXED);
    residency_lock();
    uint64_t needed = residency_of(device)->needed;
    residency_unlock();
    return limit == 0 ? UINT64_MAX : limit > needed ? limit - needed : 0;
}

/* Whether to ask again: the claimed bytes are not free yet, or more could be claimed. */
static bool claim_more(struct driver_room *room)
{
    size_t free_bytes, total_bytes;
    if (REAL(cuMemGetInfo_v2)(&free_bytes, &total_bytes) != CUDA_SUCCESS || room->most == 0)
        return false;
    if (room->claimed != 0 && free_bytes < room->claimed)
        return true;
    uint64_t first = total_bytes / FIRST_PART > SMALLEST_BYTES ? total_bytes / FIRST_PART : SMALLEST_BYTES;
    uint64_t next = smaller(room->claimed ? 2 * room->claimed : first, smaller(room->most, possible(room->device)));
    if (next <= room->claimed) /* the claimed bytes are free, and the driver still refuses */
        return false;
    claim(room, next);
    return true;
}

bool driver_room_wait(struct driver_room *room, CUresult result)
{
    uint64_t now_ns = monotonic_ns();
    if (room->until_ns == 0) {
        if (!begin(room, now_ns))
            return false;
        return true; /* the process's own released memory may suffice */
    }
    bool again = result == CUDA_ERROR_OUT_OF_MEMORY && now_ns < room->until_ns && claim_more(room);
    if (again)
        usleep(ASK_AGAIN_US);
    else if (room->claimed != 0)
        claim(room, 0);
    return again;
}

bool driver_room_context_again(struct driver_room *room, CUdevice device, CUresult result)
{
    if (result != CUDA_ERROR_OUT_OF_MEMORY || !settings()->swap || settings()->disabled || !manager_connected())
        return false;
    uint64_t now_ns = monotonic_ns();
    if (room->until_ns == 0) {
        room->until_ns = now_ns + settings()->memory_wait_ns;
        report_line("no memory for a context on device %d: waiting up to %llu s for other programs to make room",
                    (int)device, (unsigned long long)(settings()->memory_wait_ns / 1000000000ULL));
    }
    if (now_ns < room->until_ns)
        usleep(CONTEXT_AGAIN_US);
    return now_ns < room->until_ns;
}
