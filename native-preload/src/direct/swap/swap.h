/*
 * Plan swap: device memory at fixed addresses over physical memory that can be taken away and given back.
 *
 * Everything that allocates device memory for the program under this plan does so through swap_allocate(), or leaves
 * the memory to the driver and says so with residency_fixed_changed(). When and what moves is decided in residency.c, from
 * the words in the segment (struct tessera_residency); the copies are chunk_copier.c's.
 *
 * Threads: all functions may be called by any thread, and hold no lock while they wait.
 */
#ifndef TESSERA_SWAP_H
#define TESSERA_SWAP_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver_types.h"

struct swap_block;

/* How an allocation is meant. All zero: an ordinary one, found again by the allocation's own record. */
struct swap_options {
    uint8_t kind;     /* enum swap_kind */
    bool whole;       /* never share a chunk with other allocations (what will be exported or given peers) */
    uint64_t context; /* context that owns it, for pointer attributes; 0: none */
    uint64_t tag;     /* the caller's own, returned by swap_find() */
};

enum swap_kind {
    SWAP_LINEAR = 0,  /* cuMemAlloc and its family */
    SWAP_POOLED = 1,  /* stream-ordered: pool and free memory are the pool's own business */
    SWAP_GRAPH = 2,   /* an allocation that was captured: lives as long as its graphs */
    SWAP_PROGRAM = 3, /* mapped by the program itself: never made by swap_allocate(); tag: its shareable handle types */
    SWAP_IMPORTED = 4, /* another process's: never in swap's tables (ipc/import.h) */
};

/* An allocation, as swap_find() tells it. */
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
 * Allocates `bytes` at an address that is a multiple of `alignment` (a power of two, at most 2 MiB; 0: 256) and stays
 * the same for the allocation's life. The caller has taken the bytes from the quota. While the gate is closed only
 * addresses are taken, and memory follows before it opens; else waits, bounded by TESSERA_MEMORY_WAIT_MS, until the
 * client may hold more. A context of the device must be current. Answers CUDA_ERROR_OUT_OF_MEMORY or the driver's error.
 */
CUresult swap_allocate(unsigned device, uint64_t bytes, uint64_t alignment, struct swap_options options,
                       CUdeviceptr *pointer);

/*
 * Frees it: `pointer` is its base, and the caller has made sure that no work uses it any more (swap_quiesce() does).
 * CUDA_ERROR_INVALID_VALUE: not the base of an allocation of ours.
 */
CUresult swap_free(CUdeviceptr pointer);

/* Waits for all work that the program has submitted to the device, as cuMemFree does; CUDA's own error if it failed. */
CUresult swap_quiesce(unsigned device);

/* The allocation that the address lies in; false: none of ours. `range` may be NULL. */
bool swap_find(CUdeviceptr inside, struct swap_range *range);

/* With residency's lock: the block of the allocation that begins there and has this id; NULL: it is gone. */
struct swap_block *swap_block_of(CUdeviceptr base, uint64_t id);

/* A number for an allocation that none had before. */
uint64_t swap_new_id(void);

/*
 * Makes sure that the allocation is resident from now on and never moves again; all that shares its chunk stays with
 * it. Waits, bounded, for it to be resident. CUDA_ERROR_INVALID_VALUE: none of swap_allocate().
 */
CUresult swap_fix(CUdeviceptr inside);

/* The program lets `peer` access memory of `device`, or no more: holds for all allocations of ours, old and new. */
void swap_peer_access(unsigned device, unsigned peer, bool enabled);

#endif
