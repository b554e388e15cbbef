/* The victim's memory, one region of every kind there is, each full of its secret. */
#ifndef ATTACKS_REGIONS_H
#define ATTACKS_REGIONS_H

#include "driver.h"

enum {
    REGION_DEVICE, /* cuMemAlloc */
    REGION_POOL,   /* cuMemAllocAsync */
    REGION_PINNED, /* cuMemHostAlloc */
    REGION_GLOBAL, /* a variable of a module */
    REGION_MAPPED, /* cuMemCreate and cuMemMap */
    REGION_ARRAY,  /* an array, which has no address */
    REGIONS,
    REGION_MOST_BYTES = 1 << 20
};

/* Makes what this device has; what it has not stays without an address. */
void regions_make(handle module, handle stream);
/* Prints addresses, sizes and handles as facts. */
void regions_tell(void);
const char *region_name(int region);
CUdeviceptr region_address(int region);
void region_fill(int region, uint64_t seed, uint64_t *staging);
/* Counts words that are not the secret's. */
CUresult region_compare(int region, uint64_t seed, uint64_t *staging, unsigned *words);

#endif
