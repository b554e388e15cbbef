/* Memory of plan swap's that the program has made handles of for other processes. Any thread. */
#ifndef TESSERA_IPC_EXPORT_H
#define TESSERA_IPC_EXPORT_H

#include "driver/driver_types.h"
#include "direct/ipc/handle.h"
#include "direct/swap/swap.h"

/*
 * The handle of an allocation: the same one as long as it lives. Makes it exportable first (exportable.h), and may wait as
 * that does. NOT_SUPPORTED: it cannot be exported so. OPERATING_SYSTEM: there is no socket or no thread to serve it.
 */
CUresult ipc_export(const struct swap_range *range, struct ipc_handle *handle);

/* Whether the handle is one of this process's own. */
bool ipc_exported_here(const struct ipc_handle *handle);

/* In the child of a fork: it has exported nothing. */
void ipc_export_forked(void);

#endif
