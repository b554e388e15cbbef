/*
 * The opener's side of legacy IPC: memory of other processes that was opened by a handle of this library (handle.h),
 * under every plan. The exporter keeps it resident and counts it, until the last opener closes it. Any thread.
 */
#ifndef TESSERA_IPC_IMPORT_H
#define TESSERA_IPC_IMPORT_H

#include <stdbool.h>

#include "direct/ipc/handle.h"
#include "direct/swap/swap.h"

/*
 * Opens the memory for the current context's device. Memory that is open already has the same address, and one more
 * reference. Waits for the exporter, at most TESSERA_MEMORY_WAIT_MS. INVALID_CONTEXT: this process is the exporter, or
 * has no context. INVALID_HANDLE: the exporter or the memory is gone, or the exporter did not make the handle.
 * INVALID_DEVICE: the process does not see the memory's device. PEER_ACCESS_UNSUPPORTED: the current device cannot
 * reach it. Other errors are the driver's.
 */
CUresult ipc_import(CUdeviceptr *pointer, const struct ipc_handle *handle, unsigned flags);

/*
 * Closes the memory once. The last close waits for work of the devices with access, and unmaps the memory. `ours` is
 * set to false, and nothing is done, if the pointer is not one of ipc_import().
 */
CUresult ipc_import_close(CUdeviceptr pointer, bool *ours);

/* The opened memory that contains the address; false: none. Costs one load if nothing is open. */
bool ipc_import_find(CUdeviceptr inside, struct swap_range *range);

/* The context has ended: unmaps memory that was opened in it. */
void ipc_import_context_ended(const void *context);

/* In the child of a fork. */
void ipc_import_forked(void);

#endif
