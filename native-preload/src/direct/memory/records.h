/*
 * Pools of records of fixed size, allocated with mmap: hooks may run inside the program's own allocator, so they must
 * not call malloc. Records are reused and their memory is never unmapped, so a late reader reads another record and
 * does not fault.
 */
#ifndef TESSERA_RECORDS_H
#define TESSERA_RECORDS_H

#include <stddef.h>

struct record_pool {
    size_t bytes; /* size of a record: a multiple of 8, at least 8 */
    void *free;   /* free records, linked by their first word */
};

/* Takes a zeroed record; NULL: no memory. The caller holds the lock that guards the pool. */
void *record_take(struct record_pool *pool);
void record_give(struct record_pool *pool, void *record);

#endif
