/*
 * cuMemAllocAsync in a stream capture under plan swap. The driver would make an allocation node, whose memory it maps
 * itself and never releases for other clients. The library makes an allocation with a fixed address instead, which
 * moves like any other. The graph owns it by a user object, so it lives until the graph, its executables and their
 * launches are gone. Memory that a stream frees in a capture is reused by the stream's next allocation in that capture,
 * because its nodes are ordered behind the free.
 *
 * Unlike memory of the driver's nodes, it keeps its contents between launches, and two executables share it. Any thread
 * may call these functions.
 */
#ifndef TESSERA_CAPTURED_MEMORY_H
#define TESSERA_CAPTURED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera_entries.h"

/* Blocks whose graphs are gone, for captured_collect(); NULL: none. Every synchronisation reads it. */
extern struct pool_block *captured_gone;

/* The capture that a stream is in. */
struct capture_place {
    bool capturing, valid; /* valid: not invalidated */
    uint64_t id;
    CUgraph graph;
};

/* Finds the capture that the stream is in. False: the driver cannot name its graph (before CUDA 11.3). */
bool captured_place(CUstream stream, bool per_thread, struct capture_place *place);

/* Allocates memory for nodes that the stream captures from now on; takes the bytes from the quota and records them. */
CUresult captured_allocate(unsigned device, uint64_t bytes, CUstream stream, uintptr_t otherwise,
                           struct capture_place place, CUdeviceptr *pointer);

/*
 * Frees memory of a capture, in a capture or after it. CUDA_ERROR_NOT_FOUND: its graphs are gone, and it is an ordinary
 * allocation of the program by now.
 */
CUresult captured_free(CUdeviceptr pointer, CUstream stream, uintptr_t otherwise, struct capture_place place);

/* As captured_free(), for cuMemFree, which waits for the device. */
CUresult captured_free_idle(CUdeviceptr pointer, unsigned device);

/* The graph's capture has ended without error: memory that it did not free is the program's once the graph is gone. */
void captured_ended(CUgraph graph);

/* The program has changed the dependencies of a captured stream's next node: freed memory is no longer reused. */
void captured_order_changed(void);

/* Frees memory of graphs that are gone. Cheap if there is none. */
void captured_collect(void);

/* Whether the graph owns such memory. If so, an executable of another graph must not be updated with it. */
bool captured_in(CUgraph graph);

/* A context has ended, and its events with it. */
void captured_context_ended(const void *context);

/* In the child of a fork. */
void captured_forked(void);

#endif
