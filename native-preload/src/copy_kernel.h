/*
 * A kernel that brings pinned host memory into the device (copy_in.ptx), in place of a copy engine: on an H200 copies in fall
 * from 50 to 42 GB/s beside physical memory that is released, whose pages the driver clears, it seems, with the same engine
 * (tests/gpu/programs/duplex.c). It belongs to one context, and goes with it. Whether it helps has not been measured yet.
 */
#ifndef TESSERA_COPY_KERNEL_H
#define TESSERA_COPY_KERNEL_H

#include <stdint.h>

#include "driver_types.h"
#include "tessera_entries.h"

struct copy_kernel {
    CUmodule module;
    CUfunction function; /* NULL: there is none, and nothing is copied */
};

/* Loads it into the current context, which takes milliseconds. What fails is reported, and leaves it without a function. */
void copy_kernel_load(struct copy_kernel *kernel);

/* Unloads it from its context, which lives, and need not be current. */
void copy_kernel_unload(struct copy_kernel *kernel, void *context);

/*
 * Begins to copy in a stream of its context, which is current; how many bytes, from the first on: as many as are whole units of
 * 16. 0: none, as addresses are not multiples of 16, or since the driver refuses, which is reported and gives the kernel up.
 * `from` is pinned memory's address on the device (backing_address()).
 */
uint64_t copy_kernel_begin(struct copy_kernel *kernel, CUdeviceptr to, CUdeviceptr from, uint64_t bytes, CUstream stream);

#endif
