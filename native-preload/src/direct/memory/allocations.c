#include "direct/memory/allocations.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_CAPACITY 4096u /* entries, a power of two */
#define TOMBSTONE 0xff       /* in `space`: a deleted entry; probing continues behind it */

/* Open addressing, in mapped memory: hooks may run inside the program's allocator, so they must not call malloc. */
static struct allocation *table;
static size_t capacity, used, live; /* used: live entries and tombstones */
static uint64_t backings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t start_of(uint8_t space, uint64_t key)
{
    return (size_t)(((key ^ (uint64_t)space << 56) * 0x9e3779b97f4a7c15ULL) >> 20) & (capacity - 1);
}

static struct allocation *find(uint8_t space, uint64_t key)
{
    if (!table)
        return NULL;
    for (size_t i = start_of(space, key); table[i].space; i = (i + 1) & (capacity - 1))
        if (table[i].space == space && table[i].key == key)
            return &table[i];
    return NULL;
}

static void put(struct allocation allocation)
{
    size_t i = start_of(allocation.space, allocation.key);
    while (table[i].space)
        i = (i + 1) & (capacity - 1);
    table[i] = allocation;
    used++;
    live++;
}

/* Makes room for one more entry, so that the table is at most half full; a new table has no tombstones. */
static bool reserve(void)
{
    if (table && (used + 1) * 2 <= capacity)
        return true;
    size_t old_capacity = capacity;
    struct allocation *old = table;
    size_t wanted = capacity ? capacity : FIRST_CAPACITY;
    while ((live + 1) * 4 > wanted)
        wanted *= 2;
    void *memory = mmap(NULL, wanted * sizeof *table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return old && used + 1 < capacity;
    table = memory;
    capacity = wanted;
    used = live = 0;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].space && old[i].space != TOMBSTONE)
            put(old[i]);
    if (old)
        munmap(old, old_capacity * sizeof *old);
    return true;
}

static void erase(struct allocation *allocation, struct allocation *removed)
{
    if (removed)
        *removed = *allocation;
    allocation->space = TOMBSTONE;
    live--;
}

bool allocations_add(struct allocation allocation)
{
    pthread_mutex_lock(&lock);
    struct allocation *same = find(allocation.space, allocation.key);
    bool room = same || reserve();
    if (same)
        *same = allocation;
    else if (room)
        put(allocation);
    pthread_mutex_unlock(&lock);
    return room;
}

bool allocations_remove(enum allocation_space space, uint64_t key, struct allocation *removed)
{
    pthread_mutex_lock(&lock);
    struct allocation *known = find((uint8_t)space, key);
    if (known)
        erase(known, removed);
    pthread_mutex_unlock(&lock);
    return known != NULL;
}

bool allocations_find(enum allocation_space space, uint64_t key, struct allocation *found)
{
    pthread_mutex_lock(&lock);
    struct allocation *known = find((uint8_t)space, key);
    if (known)
        *found = *known;
    pthread_mutex_unlock(&lock);
    return known != NULL;
}

uint32_t allocations_refer(enum allocation_space space, uint64_t key, int by, struct allocation *changed)
{
    uint32_t left = UINT32_MAX;
    pthread_mutex_lock(&lock);
    struct allocation *known = find((uint8_t)space, key);
    if (known) {
        left = known->references += (uint32_t)by;
        if (changed)
            *changed = *known;
        if (left == 0)
            erase(known, NULL);
    }
    pthread_mutex_unlock(&lock);
    return left;
}

bool allocations_remove_of_context(uint64_t context, struct allocation *removed)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < capacity && !found; i++)
        if (table[i].space && table[i].space != TOMBSTONE && table[i].context == context) {
            erase(&table[i], removed);
            found = true;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

void allocations_each(void (*visit)(const struct allocation *allocation, void *state), void *state)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < capacity; i++)
        if (table[i].space && table[i].space != TOMBSTONE)
            visit(&table[i], state);
    pthread_mutex_unlock(&lock);
}

uint64_t allocations_new_backing(void)
{
    return __atomic_add_fetch(&backings, 1, __ATOMIC_RELAXED);
}

void allocations_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    if (table)
        munmap(table, capacity * sizeof *table);
    table = NULL;
    capacity = used = live = 0;
}
