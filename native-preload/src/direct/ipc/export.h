/* The exporter's side of legacy IPC of plan swap's memory. Any thread. */
#ifndef TESSERA_IPC_EXPORT_H
#define TESSERA_IPC_EXPORT_H

#include "driver/driver_types.h"
#include "direct/ipc/handle.h"
#include "direct/swap/swap.h"

/*
 * Returns the handle of an allocation, which stays the same until it is freed. Makes the allocation exportable first,
 * and may wait for that (exportable.h). NOT_SUPPORTED: it cannot be exported. OPERATING_SYSTEM: the server has no
 * socket or no thread.
 */
CUresult ipc_export(const struct swap_range *range, struct ipc_handle *handle);

/* Whether the handle is one of this process's own. */
bool ipc_exported_here(const struct ipc_handle *handle);

/* In the child of a fork: it has exported nothing. */
void ipc_export_forked(void);

#endif
