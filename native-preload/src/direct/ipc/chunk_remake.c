#include "direct/ipc/chunk_remake.h"

#include "driver/clock.h"
#include "direct/turns/devices.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "direct/turns/device_pause.h"
#include "direct/chunks/supply.h"
#include "tessera_abi.h"
#include "tessera_entries.h"

#define BATCH 16 /* chunks replaced in one pause, if there is room: at most 4 GiB, which a GPU copies in 3 ms */
#define RETRY_NS 5000000ULL /* between two tries when the driver has less than the manager assumes */

/* Physical memory that is to replace a chunk's. */
struct fresh {
    struct chunk *chunk;
    unsigned long long handle;
};

CUresult chunk_remake_memory(unsigned device, uint64_t bytes, uint64_t until_ns, unsigned long long *handle)
{
    struct driver_allocation_properties properties = chunk_properties(device, true);
    residency_lock();
    bool room = until_ns ? supply_room(device, bytes, until_ns) : residency_raise(device, bytes);
    residency_unlock();
    if (!room)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (;;) {
        CUresult result = REAL(cuMemCreate)(handle, bytes, (void *)&properties, 0);
        if (result == CUDA_SUCCESS)
            return result;
        residency_lock();
        bool again = result == CUDA_ERROR_OUT_OF_MEMORY && residency_planned(device) && monotonic_ns() < until_ns;
        if (again)
            residency_wait(monotonic_ns() + RETRY_NS);
        else
            residency_lower(device, bytes);
        residency_unlock();
        if (!again)
            return result;
    }
}

void chunk_remake_drop(unsigned device, uint64_t bytes, unsigned long long handle)
{
    CUresult result = REAL(cuMemRelease)(handle);
    report_failure(result, "memory that was made again could not be given back");
    residency_lock();
    residency_lower(device, bytes);
    residency_unlock();
}

/* Copies the chunk's contents into the new memory, which is mapped at a temporary address. */
static CUresult copy_over(const struct fresh *fresh, CUstream stream)
{
    const struct chunk *chunk = fresh->chunk;
    struct chunk_view own = {.readable = 1u << chunk->device, .writable = 1u << chunk->device};
    struct chunk target = {.device = chunk->device, .bytes = chunk->bytes, .handle = fresh->handle};
    CUresult result = REAL(cuMemAddressReserve)(&own.address, chunk->bytes, 0, 0, 0);
    if (result != CUDA_SUCCESS)
        return result;
    result = chunk_map_view(&target, &own);
    if (result == CUDA_SUCCESS) {
        result = REAL(cuMemcpyDtoDAsync_v2)(own.address, chunk_address(chunk), chunk->bytes, stream);
        CUresult ended = REAL(cuStreamSynchronize)(stream);
        if (result == CUDA_SUCCESS)
            result = ended;
        REAL(cuMemUnmap)(own.address, chunk->bytes);
    }
    REAL(cuMemAddressFree)(own.address, chunk->bytes);
    return result;
}

/* Maps the new memory at the chunk's addresses. On return, fresh->handle is the memory that is not used any more. */
static CUresult exchange(struct fresh *fresh)
{
    struct chunk *chunk = fresh->chunk;
    unsigned long long before = chunk->handle;
    CUresult result = CUDA_SUCCESS;
    struct chunk_view *view = chunk->views;
    while (view && (result = REAL(cuMemUnmap)(view->address, chunk->bytes)) == CUDA_SUCCESS)
        view = view->next;
    struct chunk_view *unmapped_to = view;
    if (result == CUDA_SUCCESS) {
        chunk->handle = fresh->handle;
        for (view = chunk->views; view && result == CUDA_SUCCESS; view = view->next)
            result = chunk_map_view(chunk, view);
        if (result == CUDA_SUCCESS) {
            chunk->shareable = true;
            fresh->handle = before;
            return result;
        }
        for (struct chunk_view *mapped = chunk->views; mapped != view; mapped = mapped->next)
            REAL(cuMemUnmap)(mapped->address, chunk->bytes); /* also of the view that failed: INVALID_VALUE, harmless */
        chunk->handle = before;
    }
    for (view = chunk->views; view != unmapped_to; view = view->next)
        report_failure(chunk_map_view(chunk, view), "memory could not be mapped again where it was");
    return result;
}

/* Replaces the memory of all these chunks. In a pause of the device, with a context of the device current. */
static CUresult exchange_all(struct fresh *fresh, unsigned count)
{
    CUstream stream;
    CUresult result = REAL(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return result;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        result = copy_over(&fresh[i], stream);
        if (result == CUDA_SUCCESS)
            result = exchange(&fresh[i]);
    }
    REAL(cuStreamDestroy_v2)(stream);
    return result;
}

/* The open devices for which the memory is mapped: one bit for each. */
static uint32_t users(const struct chunk *chunk)
{
    uint32_t devices = 0, open = 0;
    for (const struct chunk_view *view = chunk->views; view; view = view->next)
        devices |= view->readable | view->writable;
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++)
        open |= (devices >> i & 1) && devices_opened(i) ? 1u << i : 0;
    return open;
}

static void go_on(uint32_t devices)
{
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++)
        if (devices >> i & 1)
            device_pause_end(i);
}

/* Pauses these devices in ascending order; false: not in time, and none is paused. */
static bool stop(uint32_t devices, uint64_t until_ns)
{
    uint32_t stopped = 0;
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++) {
        if (!(devices >> i & 1))
            continue;
        if (!device_pause_begin(i, until_ns)) {
            go_on(stopped);
            return false;
        }
        stopped |= 1u << i;
    }
    return true;
}

static CUresult exchange_stopped(struct fresh *fresh, unsigned count, uint64_t until_ns)
{
    uint32_t devices = users(fresh->chunk);
    if (!stop(devices, until_ns))
        return CUDA_ERROR_OUT_OF_MEMORY;
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    bool relaxed = REAL(cuThreadExchangeStreamCaptureMode)((void *)&mode) == CUDA_SUCCESS;
    void *context = devices_enter(fresh->chunk->device);
    CUresult result = context ? exchange_all(fresh, count) : CUDA_ERROR_INVALID_CONTEXT;
    if (context)
        devices_leave(context);
    if (relaxed)
        REAL(cuThreadExchangeStreamCaptureMode)((void *)&mode);
    go_on(devices);
    return result;
}

static struct chunk *next_unmade(struct chunk *chunk)
{
    while (chunk && (chunk->state != CHUNK_BUSY || chunk->fixed || chunk->shareable))
        chunk = chunk->sibling;
    return chunk;
}

CUresult chunk_remake(struct chunk *chunks, unsigned long long memory, uint64_t until_ns)
{
    struct fresh fresh[BATCH] = {{next_unmade(chunks), memory}};
    unsigned count = 1;
    struct chunk *next = next_unmade(fresh[0].chunk->sibling);
    while (next && count < BATCH &&
           chunk_remake_memory(next->device, next->bytes, 0, &fresh[count].handle) == CUDA_SUCCESS) {
        fresh[count++].chunk = next;
        next = next_unmade(next->sibling);
    }
    CUresult result = exchange_stopped(fresh, count, until_ns);
    for (unsigned i = 0; i < count; i++)
        chunk_remake_drop(fresh[i].chunk->device, fresh[i].chunk->bytes, fresh[i].handle);
    return result;
}
