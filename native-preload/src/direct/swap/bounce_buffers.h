/*
 * Copies to and from host memory that is not pinned, and files: through two small pinned buffers of the device's, one
 * filled while the other is emptied. For the device's turns thread.
 */
#ifndef TESSERA_BOUNCE_BUFFERS_H
#define TESSERA_BOUNCE_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/chunks/backing.h"
#include "driver/driver_types.h"
#include "tessera_entries.h"

/* Done when it returns. The stream's context is current. CUDA_ERROR_OPERATING_SYSTEM: the file failed. */
CUresult bounce_copy(unsigned device, const struct backing_piece *piece, uint64_t offset, CUdeviceptr address,
                     uint64_t bytes, bool out, CUstream stream);

/* The context is about to end: no copy runs in it any more, and the buffers end with it. */
void bounce_context_closing(const void *context);

/* In the child of a fork. */
void bounce_forked(void);

#endif
