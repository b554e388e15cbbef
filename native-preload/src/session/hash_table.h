/*
 * A table from 64-bit keys (handles, addresses) to structures, read without a lock.
 *
 * The room is reserved once and touched as it fills, so slots never move; writers hold the table's lock. The caller
 * that removes an entry owns the structure, and promises that it is no longer in use, as with the handle itself.
 */
#ifndef TESSERA_HASH_TABLE_H
#define TESSERA_HASH_TABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct table_slot {
    uint64_t key; /* 0: never used; 1: removed, probing goes on behind it */
    void *value;
};

struct table {
    struct table_slot *slots; /* NULL until the first entry */
    pthread_mutex_t lock;
    uint32_t live;
};

#define TABLE_INITIAL                                                                                                  \
    {                                                                                                                  \
        NULL, PTHREAD_MUTEX_INITIALIZER, 0                                                                             \
    }
#define TABLE_SLOTS 262144u /* a power of two; at most three quarters of them are used */
/* A key's first slot: the upper 18 bits of its product with 2^64 divided by the golden ratio. */
#define TABLE_MULTIPLIER 0x9e3779b97f4a7c15ULL
#define TABLE_SHIFT 46

/* The structure of a key; NULL: there is none. Keys 0 and 1 are never there. */
static inline void *table_find(struct table *table, uint64_t key)
{
    struct table_slot *slots = __atomic_load_n(&table->slots, __ATOMIC_ACQUIRE);
    if (!slots || key <= 1)
        return NULL;
    uint32_t i = (uint32_t)(key * TABLE_MULTIPLIER >> TABLE_SHIFT);
    uint64_t found = __atomic_load_n(&slots[i].key, __ATOMIC_ACQUIRE);
    for (uint32_t probes = 1; found != key && found != 0 && probes < TABLE_SLOTS; probes++) {
        i = (i + 1) & (TABLE_SLOTS - 1);
        found = __atomic_load_n(&slots[i].key, __ATOMIC_ACQUIRE);
    }
    return found == key ? __atomic_load_n(&slots[i].value, __ATOMIC_ACQUIRE) : NULL;
}

/* Enters or replaces. False: no room, nothing changed. */
bool table_put(struct table *table, uint64_t key, void *value);

/* Removes: the structure, or NULL. */
void *table_take(struct table *table, uint64_t key);

/*
 * Removes one entry for which `wanted` says yes, from the slot `*at` on; NULL: there is none left. For all of a context: called with
 * `*at` 0 first and then as it was left, until NULL.
 */
void *table_take_where(struct table *table, uint32_t *at, bool (*wanted)(const void *value, const void *of),
                       const void *of);

/* Calls `visit` for every entry, under the table's lock: it must not call the table. */
void table_each(struct table *table, void (*visit)(void *value, void *with), void *with);

#endif
