#include "direct/swap/several_devices.h"

#include "direct/chunks/chunks.h"
#include "direct/swap/program_memory.h"
#include "direct/turns/devices.h"
#include "direct/memory/memory.h"
#include "direct/swap/peer_access.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "session/settings.h"
#include "direct/swap/swap.h"
#include "tessera_entries.h"

static bool has_memory(unsigned device)
{
    residency_lock();
    bool has = chunk_first(device) != NULL;
    residency_unlock();
    return has;
}

/* The lowest address above `after` of a live chunk that may still move; 0: none. */
static CUdeviceptr next_moving(unsigned device, CUdeviceptr after)
{
    CUdeviceptr lowest = 0;
    residency_lock();
    for (const struct chunk *chunk = chunk_first(device); chunk; chunk = chunk->next)
        if (chunk->live && !chunk->fixed && !chunk->stuck && chunk->views && chunk->views->address > after &&
            (!lowest || chunk->views->address < lowest))
            lowest = chunk->views->address;
    residency_unlock();
    return lowest;
}

/* Fixes all memory of the process on the device; false: some of it did not become resident. */
static bool stays(unsigned device)
{
    CUdeviceptr at = next_moving(device, 0);
    void *context = at ? devices_enter(device) : NULL;
    bool all = true;
    for (; context && at; at = next_moving(device, at)) {
        CUresult result = program_fix_any(at);
        if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE) { /* INVALID_VALUE: it was freed meanwhile */
            report_failure(result, "memory at %llx of device %u could not be made to stay", at, device);
            all = false;
        }
    }
    if (context)
        devices_leave(context);
    return all; /* if there is no context, the last one is ending, and the memory with it */
}

static unsigned handled; /* number of open devices that have been handled */

/* Maps memory of the device for all other open devices; false: one of them cannot reach it. */
static bool let_others(unsigned device)
{
    bool all = true;
    for (unsigned peer = 0; peer < TESSERA_MAX_DEVICES; peer++)
        if (peer != device && devices_opened(peer)) {
            bool can = devices_reach(device, peer);
            all = all && can;
            if (can)
                peer_access_let(device, peer);
        }
    return all;
}

void several_devices_opened(void)
{
    bool all = true;
    unsigned count = devices_opened_count();
    if (count < 2 || !settings()->automatic || __atomic_exchange_n(&handled, count, __ATOMIC_RELAXED) == count)
        return;
    memory_stay_plain(TESSERA_CHOICE_DEVICES); /* first, so that no new chunks are mapped meanwhile */
    for (unsigned device = 0; device < TESSERA_MAX_DEVICES; device++)
        if (devices_opened(device) && has_memory(device))
            all = stays(device) && let_others(device) && all;
    if (!all)
        report_line("this program uses several GPUs, and memory of one of them may not be reached from the others: run it "
                    "with --plan plain");
}

int several_devices_current(void)
{
    int device = settings()->disabled ? -1 : devices_current();
    if (devices_opened_count() > 1)
        several_devices_opened();
    return device;
}

void several_devices_forked(void)
{
    handled = 0;
}
