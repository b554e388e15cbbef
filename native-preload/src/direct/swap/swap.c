#include "direct/swap/swap.h"

#include "direct/chunks/pinning.h"
#include "direct/memory/allocations.h"
#include "direct/chunks/blocks.h"
#include "driver/clock.h"
#include "direct/turns/devices.h"
#include "direct/turns/gate.h"
#include "direct/swap/chunk_copier.h"
#include "direct/content/content_sample.h"
#include "direct/swap/moves.h"
#include "direct/swap/program_memory.h"
#include "direct/chunks/ranges.h"
#include "direct/memory/records.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "session/settings.h"
#include "direct/chunks/block_cache.h"
#include "direct/chunks/supply.h"
#include "tessera_entries.h"

#define SHARED_FIRST_BYTES                                                                                             \
    CHUNK_UNIT /* each further shared block is twice as large, so that small programs need little */
#define SHARED_LAST_BYTES (ARENA_MAX_PAGES * ARENA_PAGE_BYTES)

static struct record_pool swap_records = {.bytes = sizeof(struct swap_record)};

uint64_t swap_new_id(void)
{
    static uint64_t ids;
    return __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
}

static struct swap_record new_record(uint64_t bytes, struct swap_options options)
{
    return (struct swap_record){bytes, swap_new_id(), options.context, options.tag, options.kind};
}

/* A block with memory by supply_chunks(): from the cache, or a new one. */
static struct swap_block *obtain(unsigned device, uint64_t bytes, bool shared, CUresult *result)
{
    struct swap_block *block = NULL;
    if (!shared) {
        residency_lock();
        block = block_cache_take(device, bytes);
        residency_unlock();
    }
    if (!block)
        block = block_new(device, bytes, shared, result);
    if (!block)
        return NULL;
    *result = supply_chunks(block->chunks);
    residency_lock();
    if (*result == CUDA_SUCCESS) {
        residency_publish(device);
        pinning_wake(device);
        content_sample_wake(device);
    } else {
        block_cache_dispose(block);
        block = NULL;
    }
    residency_unlock();
    return block;
}

static CUresult allocate_whole(unsigned device, uint64_t bytes, struct swap_options options, CUdeviceptr *pointer)
{
    uint64_t rounded;
    if (__builtin_add_overflow(bytes, CHUNK_UNIT - 1, &rounded))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = CUDA_SUCCESS;
    struct swap_block *block = obtain(device, rounded & ~(uint64_t)(CHUNK_UNIT - 1), false, &result);
    if (!block)
        return result;
    residency_lock();
    block->whole = new_record(bytes, options);
    *pointer = block->base;
    residency_unlock();
    return CUDA_SUCCESS;
}

/* With the lock: allocates in a shared block; 0: none has room. */
static CUdeviceptr take_shared(unsigned device, uint64_t bytes, uint64_t alignment)
{
    for (struct swap_block *block = *block_cache_shared(device); block; block = block->next) {
        uint64_t offset;
        if (!arena_take(block->arena, bytes, alignment, &offset))
            continue;
        if (block->arena->allocations == 1) {
            chunk_change_begin(block->chunks);
            block->chunks->live = true;
            chunk_set_empty(block->chunks);
            chunk_change_end(block->chunks);
            residency_publish(device);
        }
        return block->base + offset;
    }
    return 0;
}

/* With the lock: the size of the next shared block: doubled for each one that exists, as far as it can be resident. */
static uint64_t next_shared_bytes(unsigned device)
{
    uint64_t bytes = SHARED_FIRST_BYTES;
    for (const struct swap_block *block = *block_cache_shared(device); block && bytes < SHARED_LAST_BYTES;
         block = block->next)
        bytes *= 2;
    while (bytes > SHARED_FIRST_BYTES && !residency_possible(device, bytes))
        bytes /= 2;
    return bytes;
}

/* A shared block of that size, or a smaller one if the device is full and no manager can make room. */
static struct swap_block *obtain_shared(unsigned device, uint64_t bytes, CUresult *result)
{
    struct swap_block *block = obtain(device, bytes, true, result);
    while (!block && *result == CUDA_ERROR_OUT_OF_MEMORY && bytes > SHARED_FIRST_BYTES && !residency_planned(device)) {
        bytes /= 2;
        block = obtain(device, bytes, true, result);
    }
    return block;
}

/* With the lock: records the allocation; 0: no memory for the record. */
static CUdeviceptr enter_record(CUdeviceptr pointer, uint64_t bytes, struct swap_options options)
{
    struct swap_record *record = record_take(&swap_records);
    if (!record)
        return 0;
    *record = new_record(bytes, options);
    if (allocations_add((struct allocation){
            .key = pointer, .link = (uint64_t)(uintptr_t)record, .references = 1, .space = ALLOCATION_SWAP}))
        return pointer;
    record_give(&swap_records, record);
    return 0;
}

/* With the lock: keeps an empty shared block for the next small allocation if no other is empty; else frees it. */
static void empty_shared(struct swap_block *block)
{
    struct swap_block **at = block_cache_shared(block->device);
    bool other = false;
    for (struct swap_block *b = *at; b; b = b->next)
        other |= b != block && b->arena->allocations == 0;
    if (!other && block->chunks->state == CHUNK_RESIDENT && !block->chunks->fixed) {
        chunk_change_begin(block->chunks);
        block->chunks->live = false;
        chunk_change_end(block->chunks);
        residency_publish(block->device);
        return;
    }
    while (*at != block)
        at = &(*at)->next;
    *at = block->next;
    block_cache_dispose(block);
}

/* With the lock, which may be released meanwhile: frees an allocation of a shared block, which has no record. */
static void give_shared(struct swap_block *block, uint64_t offset)
{
    arena_give(block->arena, offset);
    if (block->arena->allocations == 0)
        empty_shared(block);
}

static CUresult allocate_shared(unsigned device, uint64_t bytes, uint64_t alignment, struct swap_options options,
                                CUdeviceptr *pointer)
{
    for (;;) {
        residency_lock();
        CUdeviceptr taken = take_shared(device, bytes, alignment);
        *pointer = taken ? enter_record(taken, bytes, options) : 0;
        if (taken && !*pointer) {
            struct swap_block *block = block_find(taken);
            give_shared(block, taken - block->base);
        }
        uint64_t size = next_shared_bytes(device);
        residency_unlock();
        if (taken)
            return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
        CUresult result = CUDA_SUCCESS;
        struct swap_block *block = obtain_shared(device, size, &result);
        if (!block)
            return result;
        residency_lock();
        block->next = *block_cache_shared(device);
        *block_cache_shared(device) = block;
        residency_unlock();
    }
}

CUresult swap_allocate(unsigned device, uint64_t bytes, uint64_t alignment, struct swap_options options,
                       CUdeviceptr *pointer)
{
    if (alignment == 0)
        alignment = ARENA_SLOT_BYTES;
    if (bytes == 0 || device >= TESSERA_MAX_DEVICES || alignment > CHUNK_UNIT || (alignment & (alignment - 1)))
        return CUDA_ERROR_INVALID_VALUE;
    if (options.whole || bytes > ARENA_MAX_BYTES || alignment > ARENA_MAX_BYTES)
        return allocate_whole(device, bytes, options, pointer);
    return allocate_shared(device, bytes, alignment, options, pointer);
}

/* With the lock, which may be released meanwhile: removes an allocation from a shared block; false: none begins there. */
static bool remove_shared(struct swap_block *block, CUdeviceptr pointer)
{
    uint64_t offset;
    struct allocation entry;
    if (!arena_find(block->arena, pointer - block->base, &offset) || block->base + offset != pointer ||
        !allocations_remove(ALLOCATION_SWAP, pointer, &entry))
        return false;
    record_give(&swap_records, (void *)(uintptr_t)entry.link);
    give_shared(block, offset);
    return true;
}

/* With the lock: puts a block that was one allocation into the cache, or frees it. */
static void free_whole(struct swap_block *block)
{
    block->cached = true; /* hidden from swap_find() while a move of its chunks ends */
    block_settle(block);
    if (!block_cache_keep(block))
        block_cache_dispose(block);
}

CUresult swap_free(CUdeviceptr pointer)
{
    CUresult result = CUDA_SUCCESS;
    residency_lock();
    struct swap_block *block = block_find(pointer);
    if (!block || block->cached)
        result = CUDA_ERROR_INVALID_VALUE;
    else if (!block->arena && block->base == pointer)
        free_whole(block);
    else if (!block->arena || !remove_shared(block, pointer))
        result = CUDA_ERROR_INVALID_VALUE;
    residency_unlock();
    return result;
}

CUresult swap_quiesce(unsigned device)
{
    CUdevice current;
    if (REAL(cuCtxGetDevice)(&current) == CUDA_SUCCESS && current == (CUdevice)device &&
        segment_get()->devices[device].contexts == 1)
        return REAL(cuCtxSynchronize)();
    devices_synchronise(device);
    return CUDA_SUCCESS;
}

/* With the lock: the record and the base of the allocation that contains the address; NULL: none. */
static const struct swap_record *record_of(const struct swap_block *block, CUdeviceptr inside, CUdeviceptr *base)
{
    const struct swap_record *record = &block->whole;
    *base = block->base;
    if (block->arena) {
        uint64_t offset;
        struct allocation entry;
        if (!arena_find(block->arena, inside - block->base, &offset) ||
            !allocations_find(ALLOCATION_SWAP, block->base + offset, &entry))
            return NULL;
        *base = block->base + offset;
        record = (const void *)(uintptr_t)entry.link;
    }
    return inside - *base < record->bytes ? record : NULL;
}

/* With the lock: describes the program's own mapping. */
static struct swap_range mapped_range(const struct program_mapping *mapping)
{
    const struct program_memory *memory = mapping->memory;
    return (struct swap_range){.base = mapping->base,
                               .bytes = memory->bytes,
                               .device = memory->device,
                               .kind = SWAP_PROGRAM,
                               .fixed = memory->chunks->fixed,
                               .tag = (uint64_t)memory->properties.requested_handle_types,
                               .id = memory->id};
}

/* With the lock: as swap_find(). */
static bool find(CUdeviceptr inside, struct swap_range *range)
{
    const struct range *held = ranges_find(inside);
    if (held && held->kind == RANGE_MAPPING) {
        *range = mapped_range(held->owner);
        return true;
    }
    CUdeviceptr base = 0;
    const struct swap_block *block = held ? held->owner : NULL;
    const struct swap_record *record = block && !block->cached ? record_of(block, inside, &base) : NULL;
    if (record)
        *range = (struct swap_range){
            base,        record->bytes, block->device, record->kind, block->chunks->fixed, record->context,
            record->tag, record->id};
    return record != NULL;
}

bool swap_find(CUdeviceptr inside, struct swap_range *range)
{
    struct swap_range unused;
    if (!settings()->swap)
        return false;
    residency_lock();
    bool found = find(inside, range ? range : &unused);
    residency_unlock();
    return found;
}

struct swap_block *swap_block_of(CUdeviceptr base, uint64_t id)
{
    struct swap_range range;
    return find(base, &range) && range.base == base && range.id == id ? block_find(base) : NULL;
}

/* With the lock: fixes all chunks of the block that are resident; false: one is not. */
static bool fix_block(struct swap_block *block)
{
    bool all = true;
    uint64_t bytes = 0;
    for (struct chunk *chunk = block->chunks; chunk; chunk = chunk->sibling) {
        if (chunk->fixed)
            continue;
        if (chunk->state != CHUNK_RESIDENT) {
            all = false;
            continue;
        }
        chunk_forget_content(chunk);
        chunk_change_begin(chunk);
        chunk->fixed = true;
        chunk_change_end(chunk);
        bytes += chunk->bytes;
    }
    residency_lower(block->device, bytes);
    return all;
}

/* The memory is fixed inside a submission: between gate_enter() and gate_leave() all live memory is resident. */
CUresult swap_fix(CUdeviceptr inside)
{
    uint64_t until_ns = monotonic_ns() + settings()->memory_wait_ns;
    for (;;) {
        struct gate_pass pass = gate_enter(TESSERA_KIND_MEMORY_OP, TESSERA_STREAM_LEGACY);
        residency_lock();
        struct swap_block *block = block_find(inside);
        bool known = block && !block->cached;
        bool fixed = known && fix_block(block);
        if (known && !fixed)
            residency_wait(monotonic_ns() + 10000000ULL);
        residency_unlock();
        gate_leave(pass, CUDA_SUCCESS);
        if (!known)
            return CUDA_ERROR_INVALID_VALUE;
        if (fixed)
            return CUDA_SUCCESS;
        if (monotonic_ns() > until_ns)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
}
