/*
 * Page changes of chunks that move, on threads of their own: creating, mapping and giving back physical memory costs
 * system calls that wait for one another and for those of other processes, while the copies of other chunks go on. On an
 * H200 cuMemSetAccess of 64 MiB takes 35 us alone, and beside copies 0.5 ms at the median, 1 ms at the 90th percentile.
 */
#ifndef TESSERA_MAPPING_THREADS_H
#define TESSERA_MAPPING_THREADS_H

#include <stdbool.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

/* The caller's, until it has ended. */
struct page_change {
    struct page_change *next;
    struct chunk *chunk; /* BUSY */
    bool fill;           /* chunk_fill(), or chunk_empty() */
    bool ended;
    CUresult result;
};

/* Begins a change; its end is told as residency_changed(). Any thread, without residency's lock. */
void mapping_begin(struct page_change *change);

/* Whether it is over, so that its result is there. */
bool mapping_ended(const struct page_change *change);

/* In the child of a fork. */
void mapping_forked(void);

#endif
