#include "direct/ipc/exportable.h"

#include <fcntl.h>

#include "direct/chunks/blocks.h"
#include "direct/swap/program_memory.h"
#include "direct/turns/capture.h"
#include "direct/ipc/chunk_remake.h"
#include "driver/clock.h"
#include "direct/turns/residency.h"
#include "session/settings.h"
#include "direct/swap/swap.h"
#include "tessera_entries.h"
#include "direct/turns/turns.h"

#define SLICE_NS 5000000ULL
/* Longer than a training step; bounded, because a kernel that waits for another program may run for ever. */
#define SOON_NS 1000000000ULL

/* With the lock: the first chunk that is not resident or is being moved; NULL: there is none. */
static const struct chunk *hindrance(const struct swap_block *block)
{
    const struct chunk *chunk = block->chunks;
    while (chunk && chunk->state == CHUNK_RESIDENT)
        chunk = chunk->sibling;
    return chunk;
}

/*
 * With the lock, which is released meanwhile: waits until all chunks are resident. NULL: freed, or not in time
 * (*result).
 */
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
        if (other->state == CHUNK_ABSENT) { /* a live chunk is absent only while the gate is closed */
            residency_unlock();
            turns_wait(device);
            residency_lock();
        }
        residency_wait(monotonic_ns() + SLICE_NS);
    }
}

/* With the lock: whether a chunk is fixed but not shareable: its physical address may be known outside the process. */
static bool is_known_outside(const struct swap_block *block)
{
    const struct chunk *chunk = block->chunks;
    while (chunk && (chunk->shareable || !chunk->fixed))
        chunk = chunk->sibling;
    return chunk != NULL;
}

/* With the lock: the first chunk whose memory has to be replaced; NULL: none. */
static const struct chunk *first_unmade(const struct swap_block *block)
{
    const struct chunk *chunk = block->chunks;
    while (chunk && (chunk->shareable || chunk->fixed))
        chunk = chunk->sibling;
    return chunk;
}

/* With the lock: fixes all chunks, which are exportable now. */
static void fix(struct swap_block *block)
{
    uint64_t bytes = 0;
    for (struct chunk *chunk = block->chunks; chunk; chunk = chunk->sibling) {
        if (chunk->fixed)
            continue;
        chunk_forget_content(chunk);
        chunk_change_begin(chunk);
        chunk->fixed = true;
        chunk_change_end(chunk);
        bytes += chunk->bytes;
    }
    residency_lower(block->device, bytes);
}

/* With the lock: makes the chunks that are not fixed BUSY, or RESIDENT again. */
static void set_state(struct swap_block *block, enum chunk_state state)
{
    for (struct chunk *chunk = block->chunks; chunk; chunk = chunk->sibling) {
        if (chunk->fixed)
            continue;
        chunk_change_begin(chunk);
        chunk->state = (uint8_t)state;
        chunk_change_end(chunk);
    }
    residency_publish(block->device);
}

/* Without the lock: replaces one or more chunks. Also succeeds without effect if memory has moved: the caller loops. */
static CUresult remake(CUdeviceptr base, uint64_t id, unsigned device, uint64_t bytes, uint64_t until_ns)
{
    unsigned long long memory;
    CUresult result = chunk_remake_memory(device, bytes, until_ns, &memory);
    if (result != CUDA_SUCCESS)
        return result;
    residency_lock();
    struct swap_block *block = swap_block_of(base, id);
    const struct chunk *unmade = block && !hindrance(block) ? first_unmade(block) : NULL;
    bool same = unmade && unmade->bytes == bytes;
    if (same)
        set_state(block, CHUNK_BUSY);
    residency_unlock();
    if (!same) {
        chunk_remake_drop(device, bytes, memory);
        return CUDA_SUCCESS;
    }
    result = chunk_remake(block->chunks, memory, until_ns);
    residency_lock();
    set_state(block, CHUNK_RESIDENT);
    residency_unlock();
    return result;
}

CUresult exportable_make(CUdeviceptr base, uint64_t id, uint64_t until_ns)
{
    struct swap_range range;
    if (!swap_find(base, &range) || range.id != id)
        return CUDA_ERROR_INVALID_VALUE;
    if (!chunk_shareable(range.device))
        return CUDA_ERROR_NOT_SUPPORTED;
    for (;;) {
        CUresult result;
        residency_lock();
        struct swap_block *block = await_resident(base, id, until_ns, &result);
        const struct chunk *unmade = block ? first_unmade(block) : NULL;
        uint64_t bytes = unmade ? unmade->bytes : 0;
        if (block && is_known_outside(block))
            result = CUDA_ERROR_NOT_SUPPORTED;
        else if (block && !unmade)
            fix(block);
        residency_unlock();
        if (result != CUDA_SUCCESS || !unmade)
            return result;
        if (capture_of_caller())
            return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        if (monotonic_ns() > until_ns)
            return CUDA_ERROR_OUT_OF_MEMORY;
        result = remake(base, id, range.device, bytes, until_ns);
        if (result != CUDA_SUCCESS)
            return result;
    }
}

CUresult exportable_fix(CUdeviceptr inside)
{
    struct swap_range range;
    bool ours = swap_find(inside, &range) && range.kind == SWAP_LINEAR;
    uint64_t until_ns = monotonic_ns() + SOON_NS;
    if (ours && !range.fixed && !capture_open_any() && exportable_make(range.base, range.id, until_ns) == CUDA_SUCCESS)
        return CUDA_SUCCESS;
    return program_fix_any(inside);
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

/*
 * With the lock, which is released meanwhile: makes the chunk with this number BUSY, so that it is not freed; NULL:
 * none.
 */
static struct chunk *take_chunk(CUdeviceptr base, uint64_t id, unsigned number)
{
    uint64_t until_ns = monotonic_ns() + settings()->memory_wait_ns;
    for (;;) {
        struct swap_block *block = swap_block_of(base, id);
        struct chunk *chunk = block ? block->chunks : NULL;
        for (unsigned i = 0; chunk && i < number; i++)
            chunk = chunk->sibling;
        if (!chunk || !chunk->fixed || !chunk->shareable || monotonic_ns() > until_ns)
            return NULL;
        if (chunk->state == CHUNK_RESIDENT) {
            chunk->state = CHUNK_BUSY; /* the chunk is fixed, so no sums change */
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
    CUresult result = CUDA_SUCCESS;
    if (chunk->descriptor < 0)
        result = REAL(cuMemExportToShareableHandle)(descriptor, chunk->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                                    0);
    else if ((*descriptor = fcntl(chunk->descriptor, F_DUPFD_CLOEXEC, 0)) <
             0) /* the driver does not export imported memory again */
        result = CUDA_ERROR_OPERATING_SYSTEM;
    *bytes = chunk->bytes;
    residency_lock();
    chunk->state = CHUNK_RESIDENT;
    residency_changed();
    residency_unlock();
    return result;
}
