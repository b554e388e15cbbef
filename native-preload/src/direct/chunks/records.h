/*
 * Records of fixed size in mapped memory. Allocation hooks may run inside the program's own allocator, so they must not
 * call malloc. Records are reused and their memory is never freed: a late reader reads another record, not an unmapped
 * page.
 */
#ifndef TESSERA_RECORDS_H
#define TESSERA_RECORDS_H

#include <stddef.h>

struct record_pool {
    size_t bytes; /* of a record: a multiple of 8, at least 8 */
    void *free;   /* list through the records' first word */
};

/* A record filled with zeros; NULL: no memory. The caller holds the lock that guards the pool. */
void *record_take(struct record_pool *pool);
void record_give(struct record_pool *pool, void *record);

#endif
