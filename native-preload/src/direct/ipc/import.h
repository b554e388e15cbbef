/*
 * Memory of other processes that the program has opened by a handle of this library (handle.h). It is mapped at an
 * address of its own, under every plan. The exporter keeps it resident and counts it, until the last opener closes it.
 * Any thread.
 */
#ifndef TESSERA_IPC_IMPORT_H
#define TESSERA_IPC_IMPORT_H

#include <stdbool.h>

#include "direct/ipc/handle.h"
#include "direct/swap/swap.h"

/*
 * Opens it for the current context's device; opened already, it counts once more and has the same address. Waits, at most
 * TESSERA_MEMORY_WAIT_MS, for the exporter's answer. INVALID_CONTEXT: the exporter's own process, or no context; INVALID_HANDLE:
 * the exporter or the memory is gone, or the handle is not what it made; INVALID_DEVICE: the process does not see the
 * memory's device; PEER_ACCESS_UNSUPPORTED: its device cannot be reached; else the driver's errors.
 */
CUresult ipc_import(CUdeviceptr *pointer, const struct ipc_handle *handle, unsigned flags);

/*
 * Closes the memory once; the last close waits for the work of the device and unmaps the memory. `ours`: the pointer
 * belongs to opened memory; false: nothing was done.
 */
CUresult ipc_import_close(CUdeviceptr pointer, bool *ours);

/* The opened memory that the address lies in; false: none. Costs one load where nothing is open. */
bool ipc_import_find(CUdeviceptr inside, struct swap_range *range);

/* The context is gone: what was opened in it is closed. */
void ipc_import_context_ended(const void *context);

/* In the child of a fork. */
void ipc_import_forked(void);

#endif
