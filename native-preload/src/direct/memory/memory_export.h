/*
 * Memory that the process exports or imports: how it is counted, and the message for memory that cannot be exported.
 * Any thread.
 *
 * The driver's checkpoint does not bring a process back that has imported memory, nor does it keep exported memory
 * shared (tests/gpu/FINDINGS.md, «Checkpoints by kind of memory»). So the segment shows that the process shares memory
 * (client_shares) before the driver is asked. A process that is away, or about to be, does not begin to share.
 */
#ifndef TESSERA_MEMORY_EXPORT_H
#define TESSERA_MEMORY_EXPORT_H

#include "driver/driver_types.h"

/* The driver is about to be asked for an export or an import. Waits while it has taken the process off its devices. */
void memory_sharing(void);

/* Ends memory_sharing(): counts an export, or an import, if it succeeded; returns the result. */
CUresult memory_exported(CUresult result);
CUresult memory_imported(CUresult result);

/* Ends memory_sharing() of a call after which an object of the driver's stands over the memory. */
CUresult memory_bound(CUresult result);

/* Plan swap is about to take physical memory of another client's, and lets go of it whenever it moves out. */
void memory_takes_pieces(void);

#endif
