/*
 * The program's own physical memory (cuMemCreate, as expandable segments use it) under plan swap. Its handles are ours, so
 * that the driver's can come and go behind them; the memory is chunks, mapped where the program maps it. What the driver
 * hands to others by its handle or address is fixed first.
 *
 * All functions without the lock, any thread. They answer as the driver does.
 */
#ifndef TESSERA_PROGRAM_MEMORY_H
#define TESSERA_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

struct program_memory {
    struct driver_allocation_properties properties;
    uint64_t bytes;
    uint64_t id;
    struct chunk *chunks; /* through their siblings; one alone if it may be exported */
    uint32_t handles;     /* references of the program's */
    uint32_t mappings;
    uint8_t device;
};

/* A range at which one memory is mapped whole. */
struct program_mapping {
    CUdeviceptr base;
    struct program_memory *memory;
};

/* Whether such memory can be ours: ordinary device memory in units of chunks. */
bool program_takes(unsigned device, uint64_t bytes, const struct driver_allocation_properties *properties,
                   unsigned long long flags);

/* The caller has taken the bytes from the quota; program_release() and program_unmap() give them back with the last. */
CUresult program_create(unsigned long long *handle, uint64_t bytes, unsigned device,
                        const struct driver_allocation_properties *properties);

/* Whether the handle is one of ours. */
bool program_owns(unsigned long long handle);

CUresult program_release(unsigned long long handle);
CUresult program_properties(unsigned long long handle, struct driver_allocation_properties *properties);

/* Another reference to the memory behind an address; false: none of ours is mapped there. */
bool program_retain(CUdeviceptr address, unsigned long long *handle);

/*
 * Makes the memory resident for ever, with a bounded wait, and returns the driver's own handle.
 * CUDA_ERROR_NOT_SUPPORTED: the memory is in several chunks, so the driver has no handle for it.
 */
CUresult program_fix(unsigned long long handle, unsigned long long *real);
/* The same for all that is mapped in a range; success if nothing is. */
CUresult program_fix_range(CUdeviceptr pointer, uint64_t bytes);
/* The same for the mapping or the allocation that the address lies in; allocations by swap_fix(). */
CUresult program_fix_any(CUdeviceptr inside);

/* With the lock: the memory behind a handle; NULL: none of ours. */
struct program_memory *program_find(unsigned long long handle);
/*
 * With the lock, which is released meanwhile: makes all chunks BUSY; `resident`: with memory, waiting for the turn if need
 * be, bounded.
 */
CUresult program_seize(struct program_memory *memory, bool resident);
/* With the lock: ends program_seize(). */
void program_settle(struct program_memory *memory);
/* With the lock, which is released meanwhile: nothing refers to it any more. */
void program_destroy(struct program_memory *memory);

#endif
