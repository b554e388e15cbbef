/*
 * Accounting of memory that the process exports or imports, and the message for memory that cannot be exported. Any
 * thread.
 *
 * The driver's checkpoint does not restore a process that has imported memory, and does not keep exported memory shared
 * (tests/gpu/FINDINGS.md, "Checkpoints by kind of memory"). So the segment shows that the process shares memory
 * (client_shares) before the driver is called. A suspended process, or one about to be, does not begin to share.
 */
#ifndef TESSERA_MEMORY_EXPORT_H
#define TESSERA_MEMORY_EXPORT_H

#include "driver/driver_types.h"

/* Before a driver call that exports or imports memory. Waits while the process is suspended. */
void memory_sharing(void);

/* After that call, with its result, which is returned: counts an export, or an import, if it succeeded. */
CUresult memory_exported(CUresult result);
CUresult memory_imported(CUresult result);

/* As memory_exported(), for a call that binds the memory to an object of the driver. */
CUresult memory_bound(CUresult result);

/* Plan swap is about to import handed memory (exchange.h), which it releases when the chunk leaves the device. */
void memory_takes_pieces(void);

#endif
