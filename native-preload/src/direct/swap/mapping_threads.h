/*
 * Threads for the page changes of chunks that move: they create, map and release physical memory while other chunks are
 * copied. These system calls wait for each other and for those of other processes. On an H200 cuMemSetAccess of 64 MiB
 * takes 35 us alone; beside copies it takes 0.5 ms at the median and 1 ms at the 90th percentile.
 */
#ifndef TESSERA_MAPPING_THREADS_H
#define TESSERA_MAPPING_THREADS_H

#include <stdbool.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

/* One page change. The caller owns it, and keeps it until it has ended. */
struct page_change {
    struct page_change *next;
    struct chunk *chunk; /* BUSY */
    bool fill;           /* chunk_fill(), or chunk_empty() */
    bool ended;
    CUresult result;
};

/* Begins a change, whose end calls residency_changed(). Any thread, without residency's lock. */
void mapping_begin(struct page_change *change);

/* Whether the change has ended and its result is valid. */
bool mapping_ended(const struct page_change *change);

/* In the child of a fork. */
void mapping_forked(void);

#endif
