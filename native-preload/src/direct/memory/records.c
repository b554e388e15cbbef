#include "direct/memory/records.h"

#include <string.h>
#include <sys/mman.h>

#define SLAB_BYTES 65536u

static void refill(struct record_pool *pool)
{
    char *slab = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slab == MAP_FAILED)
        return;
    for (size_t at = 0; at + pool->bytes <= SLAB_BYTES; at += pool->bytes)
        record_give(pool, slab + at);
}

void *record_take(struct record_pool *pool)
{
    if (!pool->free)
        refill(pool);
    void *record = pool->free;
    if (record) {
        memcpy(&pool->free, record, sizeof pool->free);
        memset(record, 0, pool->bytes);
    }
    return record;
}

void record_give(struct record_pool *pool, void *record)
{
    memcpy(record, &pool->free, sizeof pool->free);
    pool->free = record;
}
