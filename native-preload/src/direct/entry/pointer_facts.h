/*
 * Attributes of pointers into memory of plan swap, whether it is resident or not, and into memory of other processes
 * that was opened by a handle of the library. Any thread.
 */
#ifndef TESSERA_POINTER_FACTS_H
#define TESSERA_POINTER_FACTS_H

#include "driver/driver_types.h"
#include "direct/swap/swap.h"

/* The attribute as the driver answers it for memory of cuMemAlloc, or for opened memory of another process. */
CUresult pointer_fact(const struct swap_range *range, CUdeviceptr pointer, int attribute, void *data);

/* The size of the attribute's value. */
size_t pointer_fact_bytes(int attribute);

#endif
