#include "deferred.h"

#include "capture.h"
#include "residency.h"
#include "segment.h"
#include "swap.h"

#define MOST 1024 /* frees within one capture */

static struct {
    CUdeviceptr pointer;
    unsigned device;
} kept[MOST];
static unsigned count;

bool deferred_add(unsigned device, CUdeviceptr pointer)
{
    residency_lock();
    bool room = count < MOST;
    if (room) {
        kept[count].pointer = pointer;
        kept[count].device = device;
        __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    }
    residency_unlock();
    return room;
}

/* Takes all of the device's out of the list. */
static unsigned take(unsigned device, CUdeviceptr *pointers)
{
    unsigned taken = 0, left = 0;
    residency_lock();
    for (unsigned i = 0; i < count; i++)
        if (kept[i].device == device)
            pointers[taken++] = kept[i].pointer;
        else
            kept[left++] = kept[i];
    __atomic_store_n(&count, left, __ATOMIC_RELEASE);
    residency_unlock();
    return taken;
}

void deferred_flush(unsigned device)
{
    CUdeviceptr pointers[MOST];
    if (!__atomic_load_n(&count, __ATOMIC_ACQUIRE) || capture_open(device))
        return;
    unsigned taken = take(device, pointers); /* before the wait: what comes later may have work that it does not cover */
    bool idle = swap_quiesce(device) == CUDA_SUCCESS;
    for (unsigned i = 0; i < taken; i++)
        if (idle)
            swap_free(pointers[i]);
        else
            deferred_add(device, pointers[i]);
}

void deferred_forked(void)
{
    count = 0;
}
