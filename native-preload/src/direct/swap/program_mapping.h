/* Where the program maps its own memory under plan swap, and who may use it there (program_memory.h). */
#ifndef TESSERA_PROGRAM_MAPPING_H
#define TESSERA_PROGRAM_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/driver_types.h"

/* All of a memory of ours, as cuMemMap allows it: whole, from its beginning. Waits for the memory to be resident. */
CUresult program_map(CUdeviceptr pointer, uint64_t bytes, uint64_t offset, unsigned long long handle,
                     unsigned long long flags);

/* Whether something of ours is mapped at the very address; its bytes. */
bool program_mapped(CUdeviceptr pointer, uint64_t *bytes);
/* Whether anything of ours is mapped in the range. */
bool program_maps_in(CUdeviceptr pointer, uint64_t bytes);

/* Takes out what begins there. */
CUresult program_unmap(CUdeviceptr pointer);

/* For what is mapped at the very address: whole. The rights hold for the memory that comes there later, too. */
CUresult program_set_access(CUdeviceptr pointer, const struct driver_access *access, size_t count);
/* False: nothing of ours is there. */
bool program_get_access(CUdeviceptr address, const struct driver_mem_location *location, unsigned long long *flags);

#endif
