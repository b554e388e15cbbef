/*
 * Memory of other processes that the program has opened by a handle of ours (handle.h): mapped at an address of its
 * own, whatever the plan here. It is the exporter's: resident there, counted there, and there until the last one closes
 * it. Any thread.
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
 * One count less; the last one waits for the work of the device, and takes the memory away. `ours`: the pointer is that of
 * an opened memory; false: nothing was done.
 */
CUresult ipc_import_close(CUdeviceptr pointer, bool *ours);

/* The opened memory that the address lies in; false: none. Costs one load where nothing is open. */
bool ipc_import_find(CUdeviceptr inside, struct swap_range *range);

/* The context is gone: what was opened in it is closed. */
void ipc_import_context_ended(const void *context);

/* In the child of a fork. */
void ipc_import_forked(void);

#endif
