#include "direct/swap/program_memory.h"

#include "direct/chunks/pinning.h"
#include "direct/memory/allocations.h"
#include "driver/clock.h"
#include "direct/memory/memory.h"
#include "direct/chunks/ranges.h"
#include "direct/memory/records.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/settings.h"
#include "direct/chunks/supply.h"
#include "direct/swap/swap.h"
#include "tessera_entries.h"
#include "direct/turns/turns.h"

#include <string.h>

#define SLICE_NS 5000000ULL
#define KINDS 8
#define TRIES 3 /* to release memory; nothing releases it later */
/* Exportable memory of more than this is not one piece from the start: JAX makes 0.75 of the device so, and never exports it. */
#define EXPORTABLE_CHUNKS 16

static struct record_pool memory_records = {.bytes = sizeof(struct program_memory)};

bool program_takes(unsigned device, uint64_t bytes, const struct driver_allocation_properties *properties,
                   unsigned long long flags)
{
    return memory_swapped(device) && bytes && bytes % CHUNK_UNIT == 0 && flags == 0 &&
           properties->type == CU_MEM_ALLOCATION_TYPE_PINNED && properties->flags.usage == 0;
}

struct program_memory *program_find(unsigned long long handle)
{
    struct allocation entry;
    bool ours = settings()->swap && allocations_find(ALLOCATION_PROGRAM, handle, &entry);
    return ours ? (struct program_memory *)(uintptr_t)entry.link : NULL;
}

bool program_owns(unsigned long long handle)
{
    return program_find(handle) != NULL;
}

/*
 * With the lock: creates the chunks. Exportable memory is one chunk, because a handle names one allocation of the
 * driver; large memory becomes one when it is exported (unite()).
 */
static bool add_chunks(struct program_memory *memory)
{
    uint64_t most = residency_chunk_size(memory->device);
    if (memory->properties.requested_handle_types && memory->bytes <= EXPORTABLE_CHUNKS * most)
        most = memory->bytes;
    struct chunk **link = &memory->chunks;
    for (uint64_t at = 0; at < memory->bytes; at += most) {
        uint64_t left = memory->bytes - at;
        struct chunk *chunk = chunk_new(memory->device, left < most ? left : most);
        if (!chunk)
            return false;
        chunk->properties = &memory->properties;
        chunk->untouched = true;
        *link = chunk;
        link = &chunk->sibling;
    }
    return true;
}

static struct program_memory *new_memory(uint64_t bytes, unsigned device,
                                         const struct driver_allocation_properties *properties)
{
    residency_lock();
    struct program_memory *memory = record_take(&memory_records);
    bool made = memory != NULL;
    if (made) {
        memory->properties = *properties;
        memory->bytes = bytes;
        memory->device = (uint8_t)device;
        memory->handles = 1;
        memory->id = swap_new_id();
        made = add_chunks(memory) && allocations_add((struct allocation){.key = (uint64_t)(uintptr_t)memory,
                                                                         .link = (uint64_t)(uintptr_t)memory,
                                                                         .references = 1,
                                                                         .space = ALLOCATION_PROGRAM,
                                                                         .device = (uint8_t)device});
    }
    if (memory && !made) {
        program_settle(memory);
        program_destroy(memory);
    }
    residency_unlock();
    return made ? memory : NULL;
}

/*
 * Whether the driver creates memory with such properties; it is asked once for each handle type. Frameworks try handle
 * types until one works, but the physical memory may be created after cuMemCreate has returned, too late for an error.
 */
static CUresult permitted(const struct driver_allocation_properties *properties)
{
    static struct driver_allocation_properties accepted[KINDS];
    static unsigned kinds;
    unsigned long long handle;
    residency_lock();
    bool known = false;
    for (unsigned i = 0; i < kinds && !known; i++)
        known = memcmp(&accepted[i], properties, sizeof *properties) == 0;
    residency_unlock();
    if (known)
        return CUDA_SUCCESS;
    CUresult result = REAL(cuMemCreate)(&handle, CHUNK_UNIT, properties, 0);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) /* says nothing about support: other clients hold all memory now */
        return CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        return result;
    REAL(cuMemRelease)(handle);
    residency_lock();
    if (kinds < KINDS)
        accepted[kinds++] = *properties;
    residency_unlock();
    return CUDA_SUCCESS;
}

CUresult program_create(unsigned long long *handle, uint64_t bytes, unsigned device,
                        const struct driver_allocation_properties *properties)
{
    CUresult result = permitted(properties);
    if (result != CUDA_SUCCESS)
        return result;
    struct program_memory *memory = new_memory(bytes, device, properties);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = supply_chunks(memory->chunks);
    residency_lock();
    if (result == CUDA_SUCCESS)
        pinning_wake(device);
    else
        program_destroy(memory);
    residency_unlock();
    if (result != CUDA_SUCCESS)
        return result;
    *handle = (uint64_t)(uintptr_t)memory;
    memory_record(ALLOCATION_BACKING, *handle, bytes, device, 0, false);
    return CUDA_SUCCESS;
}

void program_settle(struct program_memory *memory)
{
    for (struct chunk *chunk = memory->chunks; chunk; chunk = chunk->sibling) {
        chunk_change_begin(chunk);
        chunk->state = chunk->handle ? CHUNK_RESIDENT : CHUNK_ABSENT;
        chunk_change_end(chunk);
    }
    residency_publish(memory->device);
}

/* With the lock: a chunk that cannot be seized yet: it is moving, or absent although `resident`; NULL: none. */
static const struct chunk *hindrance(const struct program_memory *memory, bool resident)
{
    const struct chunk *chunk = memory->chunks;
    while (chunk && (chunk->state == CHUNK_RESIDENT || (chunk->state == CHUNK_ABSENT && !resident)))
        chunk = chunk->sibling;
    return chunk;
}

CUresult program_seize(struct program_memory *memory, bool resident)
{
    uint64_t until_ns = monotonic_ns() + settings()->memory_wait_ns;
    const struct chunk *other;
    while ((other = hindrance(memory, resident))) {
        if (monotonic_ns() > until_ns)
            return CUDA_ERROR_OUT_OF_MEMORY;
        if (other->state == CHUNK_ABSENT) { /* a live chunk is absent only while the gate is closed */
            residency_unlock();
            turns_wait(memory->device);
            residency_lock();
        }
        if (hindrance(memory, resident))
            residency_wait(monotonic_ns() + SLICE_NS);
    }
    for (struct chunk *chunk = memory->chunks; chunk; chunk = chunk->sibling) {
        chunk_change_begin(chunk);
        chunk->state = CHUNK_BUSY;
        chunk_change_end(chunk);
    }
    return CUDA_SUCCESS;
}

void program_destroy(struct program_memory *memory)
{
    unsigned device = memory->device;
    uint64_t lowered = 0;
    struct allocation gone;
    allocations_remove(ALLOCATION_PROGRAM, (uint64_t)(uintptr_t)memory, NULL);
    bool counted = allocations_remove(ALLOCATION_BACKING, (uint64_t)(uintptr_t)memory, &gone);
    struct chunk *next;
    for (struct chunk *chunk = memory->chunks; chunk; chunk = next) {
        next = chunk->sibling;
        chunk_settle(chunk);
        chunk_change_begin(chunk);
        chunk->state = CHUNK_BUSY;
        chunk->live = false;
        chunk_change_end(chunk);
        bool held = chunk->handle && !chunk->fixed && !chunk->stuck;
        residency_unlock();
        CUresult result = CUDA_SUCCESS;
        for (int i = 0; i < TRIES && chunk->handle; i++)
            result = chunk_empty(chunk);
        residency_lock();
        if (result == CUDA_SUCCESS)
            lowered += held ? chunk->bytes : 0;
        else /* the driver did not release it: it still counts */
            report_failure(result, "memory of the program's could not be given back");
        chunk_forget(chunk);
    }
    residency_lower(device, lowered);
    record_give(&memory_records, memory);
    if (counted)
        memory_forget(&gone);
}

CUresult program_release(unsigned long long handle)
{
    residency_lock();
    struct program_memory *memory = program_find(handle);
    bool held = memory && memory->handles;
    if (held && --memory->handles == 0 && memory->mappings == 0)
        program_destroy(memory);
    residency_unlock();
    return held ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult program_properties(unsigned long long handle, struct driver_allocation_properties *properties)
{
    residency_lock();
    const struct program_memory *memory = program_find(handle);
    if (memory && properties)
        *properties = memory->properties;
    residency_unlock();
    return memory && properties ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool program_retain(CUdeviceptr address, unsigned long long *handle)
{
    residency_lock();
    const struct range *range = ranges_find(address);
    struct program_mapping *mapping = range && range->kind == RANGE_MAPPING ? range->owner : NULL;
    if (mapping) {
        mapping->memory->handles++;
        *handle = (uint64_t)(uintptr_t)mapping->memory;
    }
    residency_unlock();
    return mapping != NULL;
}

/* With the lock, which is released meanwhile: as program_fix(). */
static CUresult fix(struct program_memory *memory)
{
    CUresult result = program_seize(memory, true);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t bytes = 0;
    for (struct chunk *chunk = memory->chunks; chunk; chunk = chunk->sibling) {
        chunk_forget_content(chunk);
        chunk_change_begin(chunk);
        bytes += chunk->fixed || chunk->stuck ? 0 : chunk->bytes;
        chunk->fixed = true;
        chunk_change_end(chunk);
    }
    residency_lower(memory->device, bytes);
    program_settle(memory);
    return CUDA_SUCCESS;
}

static bool is_untouched(const struct program_memory *memory)
{
    const struct chunk *chunk = memory->chunks;
    while (chunk && chunk->untouched && !chunk->views)
        chunk = chunk->sibling;
    return !chunk;
}

/* BUSY chunks, with the lock, which is released meanwhile: gives a list of chunks back to the driver. */
static void discard(struct chunk *chunks)
{
    struct chunk *next;
    for (struct chunk *chunk = chunks; chunk; chunk = next) {
        next = chunk->sibling;
        residency_unlock();
        CUresult result = chunk->handle ? chunk_empty(chunk) : CUDA_SUCCESS;
        residency_lock();
        if (result == CUDA_SUCCESS)
            residency_lower(chunk->device, chunk->bytes);
        else /* the driver did not release it: it still counts */
            report_failure(result, "memory of the program's could not be given back");
        chunk_forget(chunk);
    }
}

/*
 * With the lock, which is released meanwhile: makes exportable memory in several chunks one allocation of the driver. It
 * is created beside the chunks, so that nothing is lost if the device has no room. Only memory that was never mapped can be
 * replaced: a kernel may be using any other.
 */
static CUresult unite(struct program_memory *memory)
{
    if (!memory->properties.requested_handle_types)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = program_seize(memory, true);
    if (result != CUDA_SUCCESS)
        return result;
    struct chunk *parts = memory->chunks;
    struct chunk *one = is_untouched(memory) ? chunk_new(memory->device, memory->bytes) : NULL;
    if (!one) {
        program_settle(memory);
        return is_untouched(memory) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_NOT_PERMITTED;
    }
    one->properties = &memory->properties;
    one->untouched = true;
    result = CUDA_ERROR_OUT_OF_MEMORY;
    if (supply_room(memory->device, memory->bytes, monotonic_ns() + settings()->memory_wait_ns)) {
        residency_unlock();
        result = chunk_fill(one);
        residency_lock();
        if (result != CUDA_SUCCESS)
            residency_lower(memory->device, memory->bytes);
    }
    if (result != CUDA_SUCCESS) {
        chunk_forget(one);
        program_settle(memory);
        return result;
    }
    chunk_change_begin(one);
    one->live = parts->live;
    chunk_change_end(one);
    memory->chunks = one;
    discard(parts);
    program_settle(memory);
    return CUDA_SUCCESS;
}

CUresult program_fix(unsigned long long handle, unsigned long long *real)
{
    residency_lock();
    struct program_memory *memory = program_find(handle);
    CUresult result = memory ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (memory)
        memory->handles++; /* another thread may release its handle while the lock is released */
    if (memory && memory->chunks->sibling)
        result = unite(memory);
    if (result == CUDA_SUCCESS)
        result = fix(memory);
    if (result == CUDA_SUCCESS)
        *real = memory->chunks->handle;
    if (memory && --memory->handles == 0 && memory->mappings == 0)
        program_destroy(memory);
    residency_unlock();
    return result;
}

CUresult program_fix_range(CUdeviceptr pointer, uint64_t bytes)
{
    CUresult result = CUDA_SUCCESS;
    CUdeviceptr end = pointer + bytes;
    residency_lock();
    const struct range *range = ranges_find(pointer);
    if (!range)
        range = ranges_next(pointer);
    while (range && range->base < end && result == CUDA_SUCCESS) {
        CUdeviceptr base = range->base;
        struct program_mapping *mapping = range->kind == RANGE_MAPPING ? range->owner : NULL;
        if (mapping)
            result = fix(mapping->memory);
        range = ranges_next(base + 1);
    }
    residency_unlock();
    return result;
}

CUresult program_fix_any(CUdeviceptr inside)
{
    struct swap_range range;
    bool mapped = swap_find(inside, &range) && range.kind == SWAP_PROGRAM;
    return mapped ? program_fix_range(range.base, range.bytes) : swap_fix(inside);
}
