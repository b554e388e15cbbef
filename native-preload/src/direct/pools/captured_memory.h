/*
 * cuMemAllocAsync in a stream capture under plan swap. The driver would make an allocation node, whose memory it maps
 * itself and never gives up. The library makes an allocation with a fixed address, which can move like any other. The
 * graph holds it by a user object, so it lives until the graph, its executables and their launches are gone. Memory
 * that is freed in the same capture by the same stream goes to the stream's next allocation there, whose nodes are
 * behind it.
 *
 * Differences from the driver's nodes: contents stay from launch to launch, and two executables share the memory.
 */
#ifndef TESSERA_CAPTURED_MEMORY_H
#define TESSERA_CAPTURED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera_entries.h"

/* Not NULL: memory whose graphs are gone, for captured_collect(). Read by every synchronisation. */
extern struct pool_block *captured_gone;

/* The capture that a stream is in. */
struct capture_place {
    bool capturing, valid; /* valid: not invalidated */
    uint64_t id;
    CUgraph graph;
};

/* False: the driver cannot say which graph is captured (before 11.3): memory stays with its nodes. */
bool captured_place(CUstream stream, bool per_thread, struct capture_place *place);

/* Memory for the nodes that the stream captures from now on. The bytes were taken from the quota; recorded here. */
CUresult captured_allocate(unsigned device, uint64_t bytes, CUstream stream, uintptr_t otherwise,
                           struct capture_place place, CUdeviceptr *pointer);

/*
 * The program frees memory of a capture, in a capture or after it. CUDA_ERROR_NOT_FOUND: its graphs are gone, and it is
 * the program's like any other.
 */
CUresult captured_free(CUdeviceptr pointer, CUstream stream, uintptr_t otherwise, struct capture_place place);

/* The same by cuMemFree, which waits for the device. */
CUresult captured_free_idle(CUdeviceptr pointer, unsigned device);

/* The capture that made the graph has ended well: what it has not freed is the program's once the graph is gone. */
void captured_ended(CUgraph graph);

/* The program has changed what a captured stream's next node depends on: nothing is given again by its order. */
void captured_order_changed(void);

/* Gives back what graphs that are gone have held. Cheap where there is none. */
void captured_collect(void);

/* Whether nodes of the graph use memory of ours: an executable made of another graph must not be updated with it. */
bool captured_in(CUgraph graph);

/* A context has ended. */
void captured_context_ended(const void *context);

/* In the child of a fork. */
void captured_forked(void);

#endif
