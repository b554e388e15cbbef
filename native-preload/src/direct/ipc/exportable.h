/*
 * Exportable allocations: allocations of plan swap that other processes may open by legacy IPC. They are fixed, and the
 * driver can export their memory as file descriptors. Ordinary memory is replaced at its first export, at the same
 * addresses; this takes a pause of the device and a copy on the device. Any thread.
 */
#ifndef TESSERA_EXPORTABLE_H
#define TESSERA_EXPORTABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver_types.h"

/* The memory that is exported with an allocation. Small allocations share a chunk, so it may be larger. */
struct exportable_shape {
    unsigned device;
    unsigned chunks;
    uint64_t bytes;  /* of all chunks */
    uint64_t offset; /* of the allocation */
};

/*
 * Makes the allocation with this base and id exportable, and fixes it. Waits until until_ns (CLOCK_MONOTONIC) at most
 * for its memory, for room for another chunk, and for the program's work to end. Without a lock. INVALID_VALUE: the
 * allocation was freed. NOT_SUPPORTED: the device cannot export, or the memory's physical address may be known outside
 * the process. OUT_OF_MEMORY: not in time. STREAM_CAPTURE_UNSUPPORTED: memory has to be replaced, and the caller is
 * capturing. After errors of the driver the contents are unchanged.
 */
CUresult exportable_make(CUdeviceptr base, uint64_t id, uint64_t until_ns);

/*
 * Fixes memory whose physical address becomes known outside the process (program_fix_any()). Before that, makes it
 * exportable if that succeeds within SOON_NS, because it is impossible later: programs whose memory a network card
 * reads (MPI) also open it in other processes.
 */
CUresult exportable_fix(CUdeviceptr inside);

/* The shape of an exportable allocation; false: it was freed. */
bool exportable_shape(CUdeviceptr base, uint64_t id, struct exportable_shape *shape);

/*
 * Makes a descriptor of the allocation's chunk with this number, which the caller closes, and sets its bytes. A context
 * of the device should be current. INVALID_VALUE: the allocation was freed, or has no such chunk.
 */
CUresult exportable_descriptor(CUdeviceptr base, uint64_t id, unsigned number, int *descriptor, uint64_t *bytes);

#endif
