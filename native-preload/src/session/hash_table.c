#include "session/hash_table.h"

#include <stddef.h>
#include <sys/mman.h>

#define REMOVED 1u
#define MASK (TABLE_SLOTS - 1)

_Static_assert(TABLE_SLOTS == 1u << (64 - TABLE_SHIFT), "a key's first slot lies in the table");

static bool reserve(struct table *table)
{
    if (table->slots)
        return true;
    void *memory = mmap(NULL, TABLE_SLOTS * sizeof(struct table_slot), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    __atomic_store_n(&table->slots, memory, __ATOMIC_RELEASE);
    return true;
}

/* The key's slot; else the first slot of its probe sequence that can take it; else NULL. */
static struct table_slot *place(struct table *table, uint64_t key)
{
    struct table_slot *room = NULL;
    uint32_t i = (uint32_t)(key * TABLE_MULTIPLIER >> TABLE_SHIFT);
    for (uint32_t probes = 0; probes < TABLE_SLOTS; probes++, i = (i + 1) & MASK) {
        struct table_slot *slot = &table->slots[i];
        if (slot->key == key)
            return slot;
        if (slot->key == REMOVED && !room)
            room = slot;
        if (slot->key == 0)
            return room ? room : slot;
    }
    return room;
}

bool table_put(struct table *table, uint64_t key, void *value)
{
    bool done = false;
    pthread_mutex_lock(&table->lock);
    struct table_slot *slot = key > REMOVED && reserve(table) ? place(table, key) : NULL;
    if (slot && (slot->key == key || table->live < TABLE_SLOTS / 4 * 3)) {
        table->live += slot->key != key;
        __atomic_store_n(&slot->value, value, __ATOMIC_RELEASE);
        __atomic_store_n(&slot->key, key, __ATOMIC_RELEASE); /* last: a reader that sees the key sees the value */
        done = true;
    }
    pthread_mutex_unlock(&table->lock);
    return done;
}

/* Removes an entry. Removed slots directly before a free one become free again, so that probe sequences stay short. */
static void *erase(struct table *table, struct table_slot *slot)
{
    void *value = slot->value;
    uint32_t i = (uint32_t)(slot - table->slots);
    __atomic_store_n(&slot->key, REMOVED, __ATOMIC_RELEASE);
    table->live--;
    if (table->slots[(i + 1) & MASK].key != 0)
        return value;
    while (table->slots[i].key == REMOVED) {
        __atomic_store_n(&table->slots[i].key, 0, __ATOMIC_RELEASE);
        i = (i - 1) & MASK;
    }
    return value;
}

void *table_take(struct table *table, uint64_t key)
{
    void *value = NULL;
    pthread_mutex_lock(&table->lock);
    struct table_slot *slot = key > REMOVED && table->slots ? place(table, key) : NULL;
    if (slot && slot->key == key)
        value = erase(table, slot);
    pthread_mutex_unlock(&table->lock);
    return value;
}

void *table_take_where(struct table *table, uint32_t *at, bool (*wanted)(const void *value, const void *of),
                       const void *of)
{
    void *value = NULL;
    pthread_mutex_lock(&table->lock);
    while (table->live != 0 && *at < TABLE_SLOTS && !value) {
        struct table_slot *slot = &table->slots[(*at)++];
        if (slot->key > REMOVED && wanted(slot->value, of))
            value = erase(table, slot);
    }
    pthread_mutex_unlock(&table->lock);
    return value;
}

void table_each(struct table *table, void (*visit)(void *value, void *with), void *with)
{
    pthread_mutex_lock(&table->lock);
    uint32_t left = table->live;
    for (uint32_t i = 0; left != 0 && i < TABLE_SLOTS; i++)
        if (table->slots[i].key > REMOVED) {
            visit(table->slots[i].value, with);
            left--;
        }
    pthread_mutex_unlock(&table->lock);
}
