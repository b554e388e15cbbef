/*
 * Plan swap: device memory at fixed addresses, whose physical memory can leave the device and come back.
 *
 * Under this plan, device memory of the program is allocated by swap_allocate(), or by the driver and then counted with
 * residency_fixed_changed(). moves.c decides when memory moves, by the manager's targets in the segment (struct
 * tessera_residency), and candidates.c which chunk is next; chunk_copier.c copies.
 *
 * Threads: any thread may call these functions. They hold no lock while they wait.
 */
#ifndef TESSERA_SWAP_H
#define TESSERA_SWAP_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver_types.h"

struct swap_block;

/* Properties of an allocation. All zero: an ordinary one. */
struct swap_options {
    uint8_t kind;     /* enum swap_kind */
    bool whole;       /* shares no chunk with other allocations */
    uint64_t context; /* the context that owns it, for pointer attributes; 0: none */
    uint64_t tag;     /* a value of the caller, returned by swap_find() */
};

enum swap_kind {
    SWAP_LINEAR = 0,   /* cuMemAlloc and its family */
    SWAP_POOLED = 1,   /* stream-ordered; the pool (pools.h) keeps its free memory */
    SWAP_GRAPH = 2,    /* allocated in a capture; lives as long as its graphs */
    SWAP_PROGRAM = 3,  /* mapped by the program, not made by swap_allocate(); tag: its shareable handle types */
    SWAP_IMPORTED = 4, /* memory of another process, not in swap's tables (ipc/import.h) */
};

/* An allocation, as swap_find() describes it. */
struct swap_range {
    CUdeviceptr base;
    uint64_t bytes; /* as asked for */
    unsigned device;
    uint8_t kind;
    bool fixed;
    uint64_t context;
    uint64_t tag;
    uint64_t id; /* unique in the process, never reused */
};

/*
 * Allocates `bytes` at an address that is a multiple of `alignment` (a power of two, at most 2 MiB; 0: 256) and that
 * never changes. The caller has taken the bytes from the quota. While the gate is closed and a manager plans residency,
 * this only reserves addresses, and physical memory comes before the gate opens. Otherwise it waits, bounded by
 * TESSERA_MEMORY_WAIT_MS, until the client may hold more. A context of the device must be current. Errors:
 * CUDA_ERROR_OUT_OF_MEMORY, or the driver's.
 */
CUresult swap_allocate(unsigned device, uint64_t bytes, uint64_t alignment, struct swap_options options,
                       CUdeviceptr *pointer);

/*
 * Frees the allocation with this base. The caller has made sure that no work uses it any more (swap_quiesce()).
 * CUDA_ERROR_INVALID_VALUE: not the base of an allocation of swap_allocate().
 */
CUresult swap_free(CUdeviceptr pointer);

/* Waits for all work that the program has submitted to the device, as cuMemFree does. Returns CUDA's error if work failed. */
CUresult swap_quiesce(unsigned device);

/* Finds the allocation that contains the address; false: none of plan swap. `range` may be NULL. */
bool swap_find(CUdeviceptr inside, struct swap_range *range);

/* With residency's lock: the block of the allocation with this base and id; NULL: it was freed. */
struct swap_block *swap_block_of(CUdeviceptr base, uint64_t id);

/* A new allocation id, unique in the process. */
uint64_t swap_new_id(void);

/*
 * Fixes the allocation that contains the address, and all that share its chunk: waits, bounded, until it is resident;
 * from then on it never moves. CUDA_ERROR_INVALID_VALUE: not an allocation of swap_allocate(). OUT_OF_MEMORY: not in
 * time.
 */
CUresult swap_fix(CUdeviceptr inside);

/* Allows or denies `peer` access to memory of `device`, for all present and future allocations of plan swap. */
void swap_peer_access(unsigned device, unsigned peer, bool enabled);

#endif
