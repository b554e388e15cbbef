/* The memory behind a handle, mapped in this process. */
#ifndef TESSERA_IPC_MAPPING_H
#define TESSERA_IPC_MAPPING_H

#include "driver/driver_types.h"
#include "direct/ipc/handle.h"

struct ipc_mapping {
    CUdeviceptr base; /* of all chunks */
    uint64_t bytes;   /* of all chunks */
    uint64_t offset;  /* of the allocation */
    uint64_t allocation_bytes;
    int device; /* here */
};

/*
 * Asks the exporter for the memory and maps it. It is inaccessible until ipc_mapping_access(). Waits until until_ns at
 * most. Without a lock; errors as of ipc_import().
 */
CUresult ipc_mapping_make(const struct ipc_handle *handle, uint64_t until_ns, struct ipc_mapping *mapping);

/* Lets a device read and write it. */
CUresult ipc_mapping_access(const struct ipc_mapping *mapping, int device);

/* Takes it away. Nothing uses it any more. */
void ipc_mapping_end(const struct ipc_mapping *mapping);

#endif
