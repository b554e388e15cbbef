/* The table of the library's ranges of device addresses, sorted by address. Guarded by residency's lock. */
#ifndef TESSERA_RANGES_H
#define TESSERA_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver_types.h"

enum range_kind {
    RANGE_BLOCK = 1,   /* struct swap_block */
    RANGE_MAPPING = 2, /* struct program_mapping */
};

struct range {
    CUdeviceptr base;
    uint64_t bytes;
    void *owner;
    enum range_kind kind;
};

/* False: no memory for the table. */
bool ranges_add(struct range range);
void ranges_remove(CUdeviceptr base);

/* The range that contains the address; NULL: none. Valid until the lock is released. */
const struct range *ranges_find(CUdeviceptr address);

/* The first range that begins at or after the address; NULL: none. */
const struct range *ranges_next(CUdeviceptr address);

/* In the child of a fork: the table is empty. */
void ranges_forked(void);

#endif
