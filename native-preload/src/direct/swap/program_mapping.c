#include "direct/swap/program_mapping.h"

#include "direct/swap/program_memory.h"
#include "direct/chunks/ranges.h"
#include "direct/memory/records.h"
#include "session/report.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "tessera_entries.h"

static struct record_pool mapping_records = {.bytes = sizeof(struct program_mapping)};

/* With the lock: the mapping that begins at the address; NULL: none. */
static struct program_mapping *mapping_at(CUdeviceptr pointer)
{
    const struct range *range = ranges_find(pointer);
    return range && range->kind == RANGE_MAPPING && range->base == pointer ? range->owner : NULL;
}

bool program_mapped(CUdeviceptr pointer, uint64_t *bytes)
{
    residency_lock();
    const struct program_mapping *mapping = mapping_at(pointer);
    if (mapping)
        *bytes = mapping->memory->bytes;
    residency_unlock();
    return mapping != NULL;
}

bool program_maps_in(CUdeviceptr pointer, uint64_t bytes)
{
    residency_lock();
    const struct range *range = ranges_next(pointer);
    bool any = range && range->kind == RANGE_MAPPING && range->base - pointer < bytes;
    residency_unlock();
    return any;
}

/* With the lock: a stuck chunk has an address again, and moves like others. */
static void unstick(struct chunk *chunk)
{
    chunk_change_begin(chunk);
    bool stuck = chunk->stuck;
    chunk->stuck = false;
    chunk->live = true;
    chunk_change_end(chunk);
    if (stuck && !chunk->fixed)
        residency_regain(chunk->device, chunk->bytes);
}

/* BUSY chunks, without the lock: maps each in turn; all or nothing. program_set_access() sets the access later. */
static CUresult map_all(const struct program_memory *memory, CUdeviceptr pointer)
{
    CUdeviceptr at = pointer;
    CUresult result = CUDA_SUCCESS;
    const struct chunk *chunk = memory->chunks;
    while (chunk && (result = REAL(cuMemMap)(at, chunk->bytes, 0, chunk->handle, 0)) == CUDA_SUCCESS) {
        at += chunk->bytes;
        chunk = chunk->sibling;
    }
    CUdeviceptr undo = pointer;
    for (const struct chunk *mapped = memory->chunks; chunk && mapped != chunk; mapped = mapped->sibling) {
        REAL(cuMemUnmap)(undo, mapped->bytes);
        undo += mapped->bytes;
    }
    return result;
}

/* With the lock: records the mapping and adds to each chunk a view without access. False: no memory for the records. */
static bool enter(struct program_memory *memory, CUdeviceptr pointer)
{
    struct program_mapping *mapping = record_take(&mapping_records);
    if (!mapping)
        return false;
    *mapping = (struct program_mapping){pointer, memory};
    bool entered = ranges_add((struct range){pointer, memory->bytes, mapping, RANGE_MAPPING});
    CUdeviceptr at = pointer;
    for (struct chunk *chunk = memory->chunks; chunk && entered; chunk = chunk->sibling) {
        entered = chunk_add_view(chunk, at, 0, 0);
        at += chunk->bytes;
    }
    if (!entered) {
        at = pointer;
        for (struct chunk *chunk = memory->chunks; chunk; chunk = chunk->sibling) {
            chunk_remove_view(chunk, at);
            at += chunk->bytes;
        }
        ranges_remove(pointer);
        record_give(&mapping_records, mapping);
        return false;
    }
    memory->mappings++;
    return true;
}

CUresult program_map(CUdeviceptr pointer, uint64_t bytes, uint64_t offset, unsigned long long handle,
                     unsigned long long flags)
{
    residency_lock();
    struct program_memory *memory = program_find(handle);
    bool valid = memory && offset == 0 && bytes == memory->bytes && flags == 0;
    CUresult result = valid ? program_seize(memory, true) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        residency_unlock();
        result = map_all(memory, pointer);
        residency_lock();
        if (result == CUDA_SUCCESS && !enter(memory, pointer)) {
            report_error(CUDA_ERROR_OUT_OF_MEMORY, "no memory to remember a mapping");
            REAL(cuMemUnmap)(pointer, bytes);
            result = CUDA_ERROR_OUT_OF_MEMORY;
        }
        for (struct chunk *chunk = memory->chunks; chunk && result == CUDA_SUCCESS; chunk = chunk->sibling)
            unstick(chunk);
        program_settle(memory);
    }
    residency_unlock();
    return result;
}

/* With the lock: a chunk with contents has lost its last address, so it cannot be copied off the device. */
static void stick(struct chunk *chunk)
{
    if (chunk->views || chunk->fixed || !chunk->handle || !chunk_contents(chunk))
        return;
    chunk_change_begin(chunk);
    chunk->stuck = true;
    chunk_change_end(chunk);
    residency_lower(chunk->device, chunk->bytes);
}

/* BUSY chunks, without the lock: unmaps all; after an error, maps again what was unmapped. */
static CUresult unmap_all(const struct program_memory *memory, CUdeviceptr pointer)
{
    CUdeviceptr at = pointer;
    CUresult result = CUDA_SUCCESS;
    const struct chunk *chunk = memory->chunks;
    while (chunk && (!chunk->handle || (result = REAL(cuMemUnmap)(at, chunk->bytes)) == CUDA_SUCCESS)) {
        at += chunk->bytes;
        chunk = chunk->sibling;
    }
    at = pointer;
    for (const struct chunk *gone = memory->chunks; chunk && gone != chunk; gone = gone->sibling) {
        if (gone->handle)
            chunk_map_view(gone, chunk_view_at(gone, at));
        at += gone->bytes;
    }
    return result;
}

CUresult program_unmap(CUdeviceptr pointer)
{
    residency_lock();
    struct program_mapping *mapping = mapping_at(pointer);
    struct program_memory *memory = mapping ? mapping->memory : NULL;
    /* Before the last address goes, contents must come in: without an address they could not be copied. */
    bool last = memory && memory->mappings == 1 && memory->handles;
    CUresult result = memory ? program_seize(memory, last) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        residency_unlock();
        result = unmap_all(memory, pointer);
        residency_lock();
        CUdeviceptr at = pointer;
        for (struct chunk *chunk = memory->chunks; chunk && result == CUDA_SUCCESS; chunk = chunk->sibling) {
            chunk_remove_view(chunk, at);
            at += chunk->bytes;
            stick(chunk);
        }
        program_settle(memory);
        if (result == CUDA_SUCCESS) {
            ranges_remove(pointer);
            record_give(&mapping_records, mapping);
            if (--memory->mappings == 0 && memory->handles == 0)
                program_destroy(memory);
        }
    }
    residency_unlock();
    return result;
}

/* The access rights as one bit for each device; false: a location is not a device. */
static bool rights_of(const struct driver_access *access, size_t count, uint32_t *named, uint32_t *reads,
                      uint32_t *writes)
{
    *named = *reads = *writes = 0;
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || access[i].location.id < 0 ||
            access[i].location.id >= TESSERA_MAX_DEVICES)
            return false;
        uint32_t bit = 1u << access[i].location.id;
        *named |= bit;
        *reads |= access[i].flags & CU_MEM_ACCESS_FLAGS_PROT_READ ? bit : 0;
        *writes |= access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? bit : 0;
    }
    return true;
}

CUresult program_set_access(CUdeviceptr pointer, const struct driver_access *access, size_t count)
{
    uint32_t named, reads, writes;
    residency_lock();
    struct program_mapping *mapping = mapping_at(pointer);
    struct program_memory *memory = mapping ? mapping->memory : NULL;
    bool valid = memory && access && count && rights_of(access, count, &named, &reads, &writes);
    CUresult result = valid ? program_seize(memory, true) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        residency_unlock();
        CUdeviceptr at = pointer;
        for (struct chunk *chunk = memory->chunks; chunk && result == CUDA_SUCCESS; chunk = chunk->sibling) {
            struct chunk_view *view = chunk_view_at(chunk, at);
            result = REAL(cuMemSetAccess)(at, chunk->bytes, (const void *)access, count);
            if (result == CUDA_SUCCESS) {
                view->readable = (view->readable & ~named) | reads;
                view->writable = (view->writable & ~named) | writes;
                chunk->untouched = false;
            }
            at += chunk->bytes;
        }
        residency_lock();
        program_settle(memory);
    }
    residency_unlock();
    return result;
}

bool program_get_access(CUdeviceptr address, const struct driver_mem_location *location, unsigned long long *flags)
{
    residency_lock();
    const struct range *range = ranges_find(address);
    const struct program_mapping *mapping = range && range->kind == RANGE_MAPPING ? range->owner : NULL;
    if (mapping) {
        const struct chunk_view *view = chunk_view_at(mapping->memory->chunks, mapping->base);
        bool device = location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id >= 0 &&
                      location->id < TESSERA_MAX_DEVICES;
        bool reads = device && view->readable >> location->id & 1, writes = device && view->writable >> location->id & 1;
        *flags = writes ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : reads ? CU_MEM_ACCESS_FLAGS_PROT_READ : 0;
    }
    residency_unlock();
    return mapping != NULL;
}
