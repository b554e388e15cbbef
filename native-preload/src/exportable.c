#include "exportable.h"

#include "blocks.h"
#include "chunk_remake.h"
#include "clock.h"
#include "report.h"
#include "residency.h"
#include "settings.h"
#include "swap.h"
#include "tessera_entries.h"
#include "turns.h"

#define SLICE_NS 5000000ULL

static signed char support[TESSERA_MAX_DEVICES]; /* 0 unknown, 1 yes, -1 no */

/* Asked for by making some: attributes do not know what a container forbids. */
static bool device_supports(unsigned device)
{
    struct driver_allocation_properties properties = chunk_properties(device, true);
    unsigned long long handle;
    int descriptors = 0;
    if (REAL(cuDeviceGetAttribute)((void *)&descriptors, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                                   (CUdevice)device) != CUDA_SUCCESS ||
        !descriptors)
        return false;
    CUresult result = REAL(cuMemCreate)(&handle, CHUNK_UNIT, (void *)&properties, 0);
    if (result == CUDA_SUCCESS)
        REAL(cuMemRelease)(handle);
    return result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY;
}

bool exportable_supported(unsigned device)
{
    if (device >= TESSERA_MAX_DEVICES)
        return false;
    if (support[device] == 0)
        support[device] = device_supports(device) ? 1 : -1;
    return support[device] > 0;
}

/* With the lock: the first chunk that is away, or being moved; NULL: all are there. */
static const struct chunk *hindrance(const struct swap_block *block)
{
    const struct chunk *chunk = block->chunks;
    while (chunk && chunk->state == CHUNK_RESIDENT)
        chunk = chunk->sibling;
    return chunk;
}

/* With the lock, which is released meanwhile: waits until all chunks are resident. NULL: gone, or time is up (*result). */
static struct swap_block *await_resident(CUdeviceptr base, uint64_t id, uint64_t until_ns, CUresult *result)
{
    for (;;) {
        struct swap_block *block = swap_block_of(base, id);
        const struct chunk *other = block ? hindrance(block) : NULL;
        *result = !block ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
        if (!other)
            return block;
        *result = CUDA_ERROR_OUT_OF_MEMORY;
        if (monotonic_ns() > until_ns)
            return NULL;
        unsigned device = other->device;
        if (other->state == CHUNK_ABSENT) { /* while the gate is open all that is live is resident */
            residency_unlock();
            turns_wait(device);
            residency_lock();
        }
        residency_wait(monotonic_ns() + SLICE_NS);
    }
}

/* With the lock: whether somebody outside may know where the memory is that would have to be made again. */
static bool is_known_outside(const struct swap_block *block)
{
    const struct chunk *chunk = block->chunks;
    while (chunk && (chunk->shareable || !chunk->fixed))
        chunk = chunk->sibling;
    return chunk != NULL;
}

/* With the lock: the chunks that are not fixed become the caller's. How many there are. */
static unsigned seize(struct swap_block *block)
{
    unsigned seized = 0;
    for (struct chunk *chunk = block->chunks; chunk; chunk = chunk->sibling) {
        if (chunk->fixed)
            continue;
        chunk_change_begin(chunk);
        chunk->state = CHUNK_BUSY;
        chunk_change_end(chunk);
        seized++;
    }
    return seized;
}

/* With the lock: ends seize(); those that were made exportable are fixed. */
static void settle(struct swap_block *block, bool fix)
{
    uint64_t bytes = 0;
    for (struct chunk *chunk = block->chunks; chunk; chunk = chunk->sibling) {
        if (chunk->fixed)
            continue;
        chunk_change_begin(chunk);
        chunk->state = CHUNK_RESIDENT;
        chunk->fixed = fix;
        chunk_change_end(chunk);
        bytes += fix ? chunk->bytes : 0;
    }
    residency_lower(block->device, bytes);
}

CUresult exportable_make(CUdeviceptr base, uint64_t id)
{
    uint64_t until_ns = monotonic_ns() + settings()->memory_wait_ns;
    CUresult result = CUDA_SUCCESS;
    residency_lock();
    struct swap_block *block = await_resident(base, id, until_ns, &result);
    unsigned device = block ? block->device : 0;
    residency_unlock();
    if (block && !exportable_supported(device))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (block)
        chunk_make_shareable(device); /* who exports once will do so again: what comes from now on need not be made again */
    residency_lock();
    block = block ? await_resident(base, id, until_ns, &result) : NULL;
    if (block && is_known_outside(block))
        result = CUDA_ERROR_NOT_SUPPORTED;
    if (result == CUDA_SUCCESS && seize(block) != 0) {
        residency_unlock();
        result = chunk_remake(block->chunks, until_ns);
        residency_lock();
        settle(block, result == CUDA_SUCCESS);
    }
    residency_unlock();
    return result;
}

bool exportable_shape(CUdeviceptr base, uint64_t id, struct exportable_shape *shape)
{
    residency_lock();
    const struct swap_block *block = swap_block_of(base, id);
    if (block) {
        *shape = (struct exportable_shape){.device = block->device, .bytes = block->bytes, .offset = base - block->base};
        for (const struct chunk *chunk = block->chunks; chunk; chunk = chunk->sibling)
            shape->chunks++;
    }
    residency_unlock();
    return block != NULL;
}

/* With the lock, which is released meanwhile: the chunk with this number, BUSY so that nobody frees it; NULL: none. */
static struct chunk *take_chunk(CUdeviceptr base, uint64_t id, unsigned number)
{
    for (;;) {
        struct swap_block *block = swap_block_of(base, id);
        struct chunk *chunk = block ? block->chunks : NULL;
        for (unsigned i = 0; chunk && i < number; i++)
            chunk = chunk->sibling;
        if (!chunk || !chunk->fixed || !chunk->shareable)
            return NULL;
        if (chunk->state == CHUNK_RESIDENT) {
            chunk->state = CHUNK_BUSY; /* fixed: counts the same */
            return chunk;
        }
        residency_wait(monotonic_ns() + SLICE_NS);
    }
}

CUresult exportable_descriptor(CUdeviceptr base, uint64_t id, unsigned number, int *descriptor, uint64_t *bytes)
{
    residency_lock();
    struct chunk *chunk = take_chunk(base, id, number);
    residency_unlock();
    if (!chunk)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = REAL(cuMemExportToShareableHandle)(descriptor, chunk->handle,
                                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    *bytes = chunk->bytes;
    residency_lock();
    chunk->state = CHUNK_RESIDENT;
    residency_changed();
    residency_unlock();
    return result;
}
