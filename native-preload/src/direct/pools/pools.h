/*
 * Stream-ordered memory under plan swap. The library's pools get their memory from swap_allocate(), so it keeps its
 * address while it moves. Each stands beside an empty pool of the driver with the same properties. The driver's handle
 * names both; the driver's pool checks and keeps what the program sets, and entries that are passed to the driver know
 * it.
 *
 * Memory that a stream frees can be reused by that stream at once, and by others when their order allows it. Free
 * memory has no contents. Free memory above a pool's release threshold is given back at the next synchronisation; all
 * of it is given back when the client must give memory up. Only swap_allocate() waits for the device.
 *
 * Threads: any. One lock for all pools, held for table work and event queries only.
 */
#ifndef TESSERA_POOLS_H
#define TESSERA_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/pools/pool_blocks.h"
#include "direct/pools/stream_mark.h"

/* Not 0: some pool holds more free memory than its threshold allows. Read by every synchronisation. */
extern unsigned pools_surplus;

/* Ours that stands beside the driver's pool; NULL: that pool's memory is the driver's own. */
struct pool *pools_find(CUmemoryPool handle);

/* Puts one of ours beside the driver's pool; the present one if there is one. NULL: there are too many. */
struct pool *pools_adopt(CUmemoryPool handle, unsigned device, uint64_t max_bytes);

/* The device whose memory it is. */
unsigned pools_device(const struct pool *pool);

/* The driver's pool is gone: ours goes when its last memory is free. */
void pools_destroyed(CUmemoryPool handle);

/* The driver's handle of the pool that a block belongs to: swap_range.tag of kind SWAP_POOLED. NULL: it is gone. */
CUmemoryPool pools_handle_of(uint64_t tag);

/* Memory for work that the stream does from now on. */
CUresult pools_allocate(struct pool *pool, uint64_t bytes, struct stream_identity stream, CUdeviceptr *pointer);

/* Whether the pointer is the base of memory of ours that the program has not freed; its device, and its capture or 0. */
bool pools_owns(CUdeviceptr pointer, unsigned *device, uint64_t *capture);

/* Frees it when the stream comes there. CUDA_ERROR_INVALID_VALUE: not pools_owns(). */
CUresult pools_free(CUdeviceptr pointer, struct stream_identity stream);

/*
 * Waits for all work of the device, as cuMemFree does. CUDA_ERROR_NOT_READY: a stream is being captured, which waiting
 * would break; what is freed then becomes free memory at the next such wait, or when the turn ends.
 */
CUresult pools_quiesce(unsigned device);

/* Frees it now (`idle`: pools_quiesce() succeeded), or with the next wait. */
CUresult pools_free_idle(CUdeviceptr pointer, bool idle);

/* The same with the next wait for an allocation of swap_allocate() that no pool made. */
CUresult pools_free_later(CUdeviceptr pointer, uint64_t bytes, unsigned device);

/* Frees an allocation of swap_allocate() that no pool made (cuMemAlloc) when the stream comes there. */
CUresult pools_free_foreign(CUdeviceptr pointer, uint64_t bytes, unsigned device, struct stream_identity stream);

/* Statistics, and what changes them. False: the attribute is not one of those that are ours. */
bool pools_get_attribute(struct pool *pool, int attribute, uint64_t *value);
void pools_set_attribute(struct pool *pool, int attribute, const void *value);

/* Gives free memory back until the pool holds at most `keep` bytes. */
void pools_trim(struct pool *pool, uint64_t keep);

/* The program has synchronised with something, after captured_collect(): pools give back what is above their threshold. */
void pools_synchronised(void);

/* A number between those of the frees before this call and those of later ones. */
uint64_t pools_moment(void);

/* All work of the device from before the moment is done: what was freed before it is free. What was freed since may have work. */
void pools_quiet(unsigned device, uint64_t moment);

/* Gives back all free memory of the device that no work uses any more. Returns the bytes. */
uint64_t pools_release(unsigned device);

/* The handle may soon mean another stream. */
void pools_stream_destroyed(uintptr_t stream);

/* The context has ended: its work is done, its events are gone. */
void pools_context_ended(const void *context);

/* In the child of a fork. */
void pools_forked(void);

/* For captured_memory.c: the lock, a block's way into the table, and a freed block's way back to memory. */
void pools_hold(void);
void pools_let(void);
void pools_orphan(struct pool_block *block); /* lock held; its mark is set; not in the table */

/* swap_allocate() for a new block, with a context of the device current, whatever is captured. */
CUresult pools_back(struct pool_block *block, unsigned device, unsigned kind, CUcontext context);

#endif
