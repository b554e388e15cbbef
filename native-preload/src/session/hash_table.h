/*
 * A hash table from 64-bit keys (handles, addresses) to structures, which is read without a lock. Any thread.
 *
 * Address space for all slots is reserved once and gets memory as it fills, so slots never move. Writers take the table's
 * lock. The caller that removes an entry owns its structure, and promises that no thread still uses it or its handle.
 */
#ifndef TESSERA_HASH_TABLE_H
#define TESSERA_HASH_TABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct table_slot {
    uint64_t key; /* 0: free, ends a probe sequence; 1: removed, probing continues behind it */
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
/* A key's first slot: the upper 18 bits of key * (2^64 / golden ratio), modulo 2^64. */
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

/* Adds an entry, or replaces the one with this key. False: no room, or key is 0 or 1; nothing changed. */
bool table_put(struct table *table, uint64_t key, void *value);

/* Removes the entry. Returns its structure; NULL: there was none. */
void *table_take(struct table *table, uint64_t key);

/*
 * Removes one entry for which `wanted` returns true; `of` is passed to it. The search begins at slot *at and advances *at. NULL:
 * there is none left. To remove all such entries, set *at to 0 and repeat the call until it returns NULL.
 */
void *table_take_where(struct table *table, uint32_t *at, bool (*wanted)(const void *value, const void *of),
                       const void *of);

/* Calls `visit` for every entry, under the table's lock: it must not call the table. */
void table_each(struct table *table, void (*visit)(void *value, void *with), void *with);

#endif
