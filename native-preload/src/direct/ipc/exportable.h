/*
 * Allocations of plan swap that other processes may open by legacy IPC. Their memory stays where it is from then on, and is
 * made so that the driver gives file descriptors of it. Memory that was made without that is made again under its
 * addresses at its first export: a pause of the device, and a copy on the device.
 */
#ifndef TESSERA_EXPORTABLE_H
#define TESSERA_EXPORTABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver_types.h"

/* Where an allocation lies in the memory that is given to others with it: small ones share theirs. */
struct exportable_shape {
    unsigned device;
    unsigned chunks;
    uint64_t bytes;  /* of all chunks */
    uint64_t offset; /* of the allocation */
};

/*
 * Makes the allocation that begins at `base` and has this id exportable, and keeps it resident. Waits until until_ns
 * (CLOCK_MONOTONIC) at most for its memory, for room for another chunk, and for the program's work to end. Without a
 * lock. INVALID_VALUE: the allocation is gone. NOT_SUPPORTED: the device cannot export, or the memory's physical
 * address is known to others already. OUT_OF_MEMORY: not in time. STREAM_CAPTURE_UNSUPPORTED: memory has to be made
 * again, and the caller captures. Errors of the driver change nothing.
 */
CUresult exportable_make(CUdeviceptr base, uint64_t id, uint64_t until_ns);

/*
 * As program_fix_any(), for users that learn the memory's physical address. Makes it exportable too, if that is
 * possible soon: it is impossible later, and programs whose memory network cards read (MPI) also open it from other
 * processes.
 */
CUresult exportable_fix(CUdeviceptr inside);

/* The shape of an allocation that was made exportable; false: it is gone. */
bool exportable_shape(CUdeviceptr base, uint64_t id, struct exportable_shape *shape);

/*
 * A new descriptor of the allocation's chunk with this number, which the caller closes, and its bytes. A context of the
 * device should be current. INVALID_VALUE: it is gone, or has no such chunk.
 */
CUresult exportable_descriptor(CUdeviceptr base, uint64_t id, unsigned number, int *descriptor, uint64_t *bytes);

#endif
