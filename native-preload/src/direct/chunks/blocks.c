#include "direct/chunks/blocks.h"

#include <sys/mman.h>

#include "direct/chunks/ranges.h"
#include "direct/memory/records.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "tessera_entries.h"

static struct record_pool block_records = {.bytes = sizeof(struct swap_block)};

struct swap_block *block_find(CUdeviceptr address)
{
    const struct range *range = ranges_find(address);
    return range && range->kind == RANGE_BLOCK ? range->owner : NULL;
}

static bool add_chunks(struct swap_block *block)
{
    struct chunk **link = &block->chunks;
    uint64_t most = block->arena ? block->bytes : residency_chunk_size(block->device);
    for (uint64_t at = 0; at < block->bytes; at += most) {
        uint64_t left = block->bytes - at;
        struct chunk *chunk = chunk_new(block->device, left < most ? left : most);
        if (!chunk)
            return false;
        *link = chunk;
        link = &chunk->sibling;
        uint32_t peers = chunk_peers(block->device);
        if (!chunk_add_view(chunk, block->base + at, peers, peers))
            return false;
        chunk->arena = block->arena;
    }
    return true;
}

static void forget(struct swap_block *block)
{
    struct chunk *next;
    for (struct chunk *chunk = block->chunks; chunk; chunk = next) {
        next = chunk->sibling;
        chunk_forget(chunk);
    }
    if (block->arena)
        munmap(block->arena, sizeof *block->arena);
    const struct range *range = ranges_find(block->base);
    if (range && range->owner == block)
        ranges_remove(block->base);
    record_give(&block_records, block);
}

static struct arena *new_arena(uint64_t bytes)
{
    void *memory = mmap(NULL, sizeof(struct arena), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    arena_init(memory, bytes);
    return memory;
}

struct swap_block *block_new(unsigned device, uint64_t bytes, bool shared, CUresult *result)
{
    CUdeviceptr base = 0;
    *result = REAL(cuMemAddressReserve)(&base, bytes, 0, 0, 0);
    if (*result != CUDA_SUCCESS)
        return NULL;
    residency_lock();
    struct swap_block *block = record_take(&block_records);
    bool made = block != NULL;
    if (made) {
        block->base = base;
        block->bytes = bytes;
        block->device = (uint8_t)device;
        if (shared)
            made = (block->arena = new_arena(bytes)) != NULL;
        made = made && ranges_add((struct range){base, bytes, block, RANGE_BLOCK}) && add_chunks(block);
        if (!made)
            forget(block);
    }
    residency_unlock();
    if (made)
        return block;
    REAL(cuMemAddressFree)(base, bytes);
    *result = CUDA_ERROR_OUT_OF_MEMORY;
    return NULL;
}

/* Without the lock: releases the memory of all chunks, and adds to *lowered what counted as resident. False: some remains. */
static bool empty_chunks(struct swap_block *block, uint64_t *lowered)
{
    bool all = true;
    for (struct chunk *chunk = block->chunks; chunk; chunk = chunk->sibling) {
        if (!chunk->handle)
            continue;
        bool emptied = chunk_empty(chunk) == CUDA_SUCCESS;
        if (emptied && !chunk->fixed)
            *lowered += chunk->bytes;
        all = all && emptied;
    }
    return all;
}

/* With the lock: memory that the driver did not release counts as cached. */
static void restore(struct swap_block *block)
{
    for (struct chunk *chunk = block->chunks; chunk; chunk = chunk->sibling) {
        chunk_change_begin(chunk);
        chunk->state = chunk->handle ? CHUNK_RESIDENT : CHUNK_ABSENT;
        chunk_change_end(chunk);
    }
}

bool block_dispose(struct swap_block *block)
{
    unsigned device = block->device;
    uint64_t lowered = 0;
    CUdeviceptr base = block->base;
    uint64_t bytes = block->bytes;
    block->cached = true; /* swap_find() skips cached blocks */
    residency_unlock();
    bool emptied = empty_chunks(block, &lowered);
    residency_lock();
    residency_lower(device, lowered);
    if (!emptied) {
        restore(block);
        return false;
    }
    forget(block);
    residency_publish(device);
    residency_unlock();
    CUresult result = REAL(cuMemAddressFree)(base, bytes);
    report_failure(result, "device addresses could not be given back");
    residency_lock();
    return true;
}

void block_settle(const struct swap_block *block)
{
    const struct chunk *chunk = block->chunks;
    while (chunk) {
        bool busy = chunk->state == CHUNK_BUSY;
        if (busy)
            chunk_settle(chunk);
        chunk = busy ? block->chunks : chunk->sibling;
    }
}

void block_seize(struct swap_block *block)
{
    for (struct chunk *chunk = block->chunks; chunk; chunk = chunk->sibling) {
        chunk_forget_content(chunk); /* the next owner of the block gets nothing of it */
        chunk_change_begin(chunk);
        chunk->state = CHUNK_BUSY;
        chunk->live = false;
        chunk_change_end(chunk);
    }
}
