/*
 * Copies between a device and backing that is not pinned (pageable memory, a file). They go through two small pinned
 * buffers of the device: one is filled while the other is emptied. Turns thread of the device only.
 */
#ifndef TESSERA_BOUNCE_BUFFERS_H
#define TESSERA_BOUNCE_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/backing.h"
#include "driver/driver_types.h"
#include "tessera_entries.h"

/* Copies, and returns when the copy is complete. The stream's context is current. OPERATING_SYSTEM: file I/O failed. */
CUresult bounce_copy(unsigned device, const struct backing_piece *piece, uint64_t offset, CUdeviceptr address,
                     uint64_t bytes, bool out, CUstream stream);

/* The context is about to end. Waits for a copy in it; the buffers end with the context. Any thread. */
void bounce_context_closing(const void *context);

/* In the child of a fork. */
void bounce_forked(void);

#endif
