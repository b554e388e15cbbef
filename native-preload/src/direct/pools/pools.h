/*
 * Stream-ordered memory under plan swap. The library's pools get their memory from swap_allocate(), so it keeps its
 * address while it moves. Each belongs to an empty pool of the driver with the same properties, and the driver's handle
 * names both. The driver's pool checks and stores what the program sets, and serves entries that are passed through.
 *
 * Memory that a stream frees can be reused by that stream at once, and by other streams when they are ordered behind
 * the free. Free memory has no contents. Free memory above a pool's release threshold is released at the next
 * synchronisation; all of it is released when the client must make room. Only swap_allocate() and pools_quiesce() wait
 * for the device.
 *
 * Threads: any. One lock for all pools is held for table work and event queries only.
 */
#ifndef TESSERA_POOLS_H
#define TESSERA_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/pools/pool_blocks.h"
#include "direct/pools/stream_mark.h"

/* How many pools have more free memory than their threshold allows. Every synchronisation reads it. */
extern unsigned pools_surplus;

/* The library's pool for the driver's pool; NULL: there is none, and the driver allocates. */
struct pool *pools_find(CUmemoryPool handle);

/* Creates the library's pool for the driver's pool, or returns the existing one. NULL: there are too many. */
struct pool *pools_adopt(CUmemoryPool handle, unsigned device, uint64_t max_bytes);

/* The device of the pool's memory. */
unsigned pools_device(const struct pool *pool);

/* The driver's pool is destroyed: the library's pool ends when all its memory is free. */
void pools_destroyed(CUmemoryPool handle);

/* The driver's handle of a block's pool; `tag` is swap_range.tag of an allocation of kind SWAP_POOLED. NULL: the pool is destroyed. */
CUmemoryPool pools_handle_of(uint64_t tag);

/* Allocates memory for work that is submitted to the stream from now on. May wait as swap_allocate() does. */
CUresult pools_allocate(struct pool *pool, uint64_t bytes, struct stream_identity stream, CUdeviceptr *pointer);

/* Whether the pointer is the base of a block in use; sets its device, and its capture or 0. */
bool pools_owns(CUdeviceptr pointer, unsigned *device, uint64_t *capture);

/* Frees a block in the order of the stream. CUDA_ERROR_INVALID_VALUE: not pools_owns(). */
CUresult pools_free(CUdeviceptr pointer, struct stream_identity stream);

/*
 * Waits for all work of the device, as cuMemFree does. CUDA_ERROR_NOT_READY: a stream is being captured, and the wait
 * would invalidate the capture. Memory that is freed then becomes reusable at the next such wait, or when the turn
 * ends.
 */
CUresult pools_quiesce(unsigned device);

/* Frees a block now if `idle` (pools_quiesce() has succeeded), else with the next wait for the device. */
CUresult pools_free_idle(CUdeviceptr pointer, bool idle);

/* Frees an allocation of swap_allocate() that no pool made, with the next wait for the device. */
CUresult pools_free_later(CUdeviceptr pointer, uint64_t bytes, unsigned device);

/* Frees an allocation of swap_allocate() that no pool made (cuMemAlloc) in the order of the stream. */
CUresult pools_free_foreign(CUdeviceptr pointer, uint64_t bytes, unsigned device, struct stream_identity stream);

/* Get and set attributes that the library keeps. False: the driver keeps this attribute. */
bool pools_get_attribute(struct pool *pool, int attribute, uint64_t *value);
void pools_set_attribute(struct pool *pool, int attribute, const void *value);

/* Releases free memory until the pool holds at most `keep` bytes. */
void pools_trim(struct pool *pool, uint64_t keep);

/* After a synchronisation of the program and captured_collect(): pools release free memory above their threshold. */
void pools_synchronised(void);

/* A sequence number between those of earlier and of later frees. */
uint64_t pools_moment(void);

/* Work of the device from before the moment is complete, so memory that was freed before it is reusable. */
void pools_quiet(unsigned device, uint64_t moment);

/* Releases all free memory of the device that no work uses any more. Returns the bytes. */
uint64_t pools_release(unsigned device);

/* The stream is destroyed; its handle may soon name another stream. */
void pools_stream_destroyed(uintptr_t stream);

/* The context has ended: its work is complete, and its events are gone. */
void pools_context_ended(const void *context);

/* In the child of a fork. */
void pools_forked(void);

/* For captured_memory.c: the lock, and how a freed block becomes free memory. */
void pools_hold(void);
void pools_let(void);
void pools_orphan(struct pool_block *block); /* lock held; its mark is set, and it is not in the table */

/* swap_allocate() for a new block, with a context of the device made current; also allowed during captures. */
CUresult pools_back(struct pool_block *block, unsigned device, unsigned kind, CUcontext context);

#endif
