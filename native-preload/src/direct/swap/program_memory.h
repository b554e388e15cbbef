/*
 * The program's own physical memory (cuMemCreate; PyTorch's expandable segments use it) under plan swap. The program
 * gets the library's handles, so the driver's handles behind them can change. The memory consists of chunks, mapped
 * where the program maps it. Memory is fixed before the driver exports it by handle or address.
 *
 * Any thread may call these functions, without the lock unless they say otherwise. Errors are those of the driver's
 * calls.
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
    struct chunk *chunks; /* linked by `sibling`; a single one if the memory was or may be exported, but for large memory */
    uint32_t handles;     /* references that the program holds */
    uint32_t mappings;
    uint8_t device;
};

/* A range of addresses at which the whole memory is mapped. */
struct program_mapping {
    CUdeviceptr base;
    struct program_memory *memory;
};

/* Whether plan swap can make such memory: ordinary device memory in multiples of CHUNK_UNIT. */
bool program_takes(unsigned device, uint64_t bytes, const struct driver_allocation_properties *properties,
                   unsigned long long flags);

/*
 * The caller has taken the bytes from the quota. They are returned when the last handle and the last mapping are gone.
 */
CUresult program_create(unsigned long long *handle, uint64_t bytes, unsigned device,
                        const struct driver_allocation_properties *properties);

/* Whether the handle is one of the library's. */
bool program_owns(unsigned long long handle);

CUresult program_release(unsigned long long handle);
CUresult program_properties(unsigned long long handle, struct driver_allocation_properties *properties);

/* cuMemRetainAllocationHandle: one more reference to the memory mapped at an address; false: not of plan swap. */
bool program_retain(CUdeviceptr address, unsigned long long *handle);

/*
 * Fixes the memory: waits, bounded, until it is resident, keeps it resident for ever, and returns the driver's handle.
 * CUDA_ERROR_NOT_SUPPORTED: it was created without a handle type. CUDA_ERROR_NOT_PERMITTED: it is large, so it consists of
 * several allocations of the driver, and it was mapped already.
 */
CUresult program_fix(unsigned long long handle, unsigned long long *real);
/* Fixes all memory that is mapped in a range; success if there is none. */
CUresult program_fix_range(CUdeviceptr pointer, uint64_t bytes);
/* Fixes the mapping, or by swap_fix() the allocation, that contains the address. */
CUresult program_fix_any(CUdeviceptr inside);

/* With the lock: the memory behind a handle; NULL: not a handle of the library. */
struct program_memory *program_find(unsigned long long handle);
/*
 * With the lock, which is released meanwhile: makes all chunks BUSY. `resident`: waits first, bounded, until they have
 * memory, for the next turn if need be.
 */
CUresult program_seize(struct program_memory *memory, bool resident);
/* With the lock: ends program_seize(). */
void program_settle(struct program_memory *memory);
/* With the lock, which is released meanwhile: frees memory that has neither handles nor mappings. */
void program_destroy(struct program_memory *memory);

#endif
