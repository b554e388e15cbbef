/* Memory that leaves or enters the process: what is counted, and what is said of memory that cannot. Any thread. */
#ifndef TESSERA_MEMORY_EXPORT_H
#define TESSERA_MEMORY_EXPORT_H

#include "driver_types.h"

/* Counts an export, or an import, if it succeeded; returns the result. */
CUresult memory_exported(CUresult result);
CUresult memory_imported(CUresult result);

/*
 * The memory is about to be exported by the driver, which cannot do that for what a plan has put in the place of its own:
 * says so, and has what the program allocates from now on stay plain, since who shares memory once will do so again.
 */
void memory_export_refused(CUdeviceptr pointer);

#endif
