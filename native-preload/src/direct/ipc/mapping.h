/* Memory of another process, mapped in this one. Any thread. */
#ifndef TESSERA_IPC_MAPPING_H
#define TESSERA_IPC_MAPPING_H

#include "driver/driver_types.h"
#include "direct/ipc/handle.h"

struct ipc_mapping {
    CUdeviceptr base; /* of all chunks */
    uint64_t bytes;   /* of all chunks */
    uint64_t offset;  /* of the allocation */
    uint64_t allocation_bytes;
    int device; /* its ordinal in this process */
};

/*
 * Requests the memory from the exporter and maps it, without access for any device. Waits until until_ns at most.
 * Without a lock. Errors: as ipc_import().
 */
CUresult ipc_mapping_make(const struct ipc_handle *handle, uint64_t until_ns, struct ipc_mapping *mapping);

/* Gives a device read and write access. */
CUresult ipc_mapping_access(const struct ipc_mapping *mapping, int device);

/* Unmaps the memory, which no work uses any more, and frees its addresses. */
void ipc_mapping_end(const struct ipc_mapping *mapping);

#endif
