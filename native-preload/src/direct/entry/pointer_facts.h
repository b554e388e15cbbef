/*
 * What a program is told of a pointer into plan swap's memory, the same whether it is on the device or not; and into memory
 * of other processes that is opened by a handle of ours.
 */
#ifndef TESSERA_POINTER_FACTS_H
#define TESSERA_POINTER_FACTS_H

#include "driver/driver_types.h"
#include "direct/swap/swap.h"

/* The attribute as the driver would answer it for memory of cuMemAlloc, or for such memory of another process. */
CUresult pointer_fact(const struct swap_range *range, CUdeviceptr pointer, int attribute, void *data);

/* Bytes of the attribute's value. */
size_t pointer_fact_bytes(int attribute);

#endif
