/* Mappings and access rights of the program's own physical memory (program_memory.h) under plan swap. Any thread. */
#ifndef TESSERA_PROGRAM_MAPPING_H
#define TESSERA_PROGRAM_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/driver_types.h"

/* cuMemMap of a handle of plan swap: the whole memory, from offset 0. Waits, bounded, until it is resident. */
CUresult program_map(CUdeviceptr pointer, uint64_t bytes, uint64_t offset, unsigned long long handle,
                     unsigned long long flags);

/* Whether a mapping begins at exactly this address; its bytes. */
bool program_mapped(CUdeviceptr pointer, uint64_t *bytes);
/* Whether any mapping begins in the range. */
bool program_maps_in(CUdeviceptr pointer, uint64_t bytes);

/* cuMemUnmap of the whole mapping that begins there. */
CUresult program_unmap(CUdeviceptr pointer);

/* cuMemSetAccess of the whole mapping that begins there. The rights stay when its memory moves. */
CUresult program_set_access(CUdeviceptr pointer, const struct driver_access *access, size_t count);
/* cuMemGetAccess; false: the address is in no mapping of plan swap. */
bool program_get_access(CUdeviceptr address, const struct driver_mem_location *location, unsigned long long *flags);

#endif
