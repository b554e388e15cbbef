/*
 * What lies at which address: the ranges of device and pinned memory that this program has. Sorted arrays under a lock
 * for many readers; programs that allocate much keep a few hundred ranges, since they have allocators of their own.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "relay/memory/pinned.h"
#include "relay/memory/range.h"

#define FIRST_ROOM 64u

struct map {
    struct relay_range *ranges; /* by start; no two overlap */
    size_t count, room;
};

/* Reservations contain mappings, so they have a map of their own (outer), which is searched second. */
static struct map inner, outer;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t serial;

static struct map *map_of(enum relay_range_kind kind)
{
    return kind == RELAY_RANGE_RESERVED ? &outer : &inner;
}

/* Index of the first range that starts behind the address. */
static size_t above(const struct map *map, uint64_t address)
{
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (map->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_out(struct map *map, size_t at)
{
    map->count--;
    memmove(&map->ranges[at], &map->ranges[at + 1], (map->count - at) * sizeof *map->ranges);
}

static bool insert(struct map *map, const struct relay_range *range)
{
    size_t at = above(map, range->start);
    if (at > 0 && map->ranges[at - 1].start == range->start) {
        uint64_t kept = map->ranges[at - 1].serial;
        map->ranges[at - 1] = *range;
        map->ranges[at - 1].serial = kept;
        return true;
    }
    if (map->count == map->room) {
        size_t room = map->room ? map->room * 2 : FIRST_ROOM;
        struct relay_range *grown = realloc(map->ranges, room * sizeof *grown);
        if (!grown)
            return false;
        map->ranges = grown;
        map->room = room;
    }
    memmove(&map->ranges[at + 1], &map->ranges[at], (map->count - at) * sizeof *map->ranges);
    map->ranges[at] = *range;
    map->ranges[at].serial = ++serial;
    map->count++;
    return true;
}

/* A graph's memory ends with its graphs, which only the executor counts. A new range at its addresses shows that it has ended. */
static void drop_gone(struct map *map, const struct relay_range *fresh)
{
    size_t at = above(map, fresh->start);
    while (at < map->count && map->ranges[at].kind == RELAY_RANGE_GRAPH &&
           map->ranges[at].start - fresh->start < fresh->bytes)
        take_out(map, at);
    if (at > 0 && map->ranges[at - 1].kind == RELAY_RANGE_GRAPH &&
        fresh->start - map->ranges[at - 1].start < map->ranges[at - 1].bytes)
        take_out(map, at - 1);
}

bool relay_range_add(const struct relay_range *range)
{
    pthread_rwlock_wrlock(&lock);
    drop_gone(map_of(range->kind), range);
    bool added = insert(map_of(range->kind), range);
    pthread_rwlock_unlock(&lock);
    return added;
}

bool relay_range_foreign(const struct relay_link *link, uint64_t start, uint64_t bytes)
{
    bool foreign = false;
    if (relay_link_count == 1)
        return false;
    pthread_rwlock_rdlock(&lock);
    size_t at = above(&inner, start);
    for (size_t i = at > 0 ? at - 1 : 0; i < inner.count && inner.ranges[i].start < start + bytes && !foreign; i++)
        foreign = inner.ranges[i].link != link && inner.ranges[i].start + inner.ranges[i].bytes > start;
    pthread_rwlock_unlock(&lock);
    return foreign;
}

bool relay_range_remove(uint64_t start, enum relay_range_kind kind, struct relay_range *removed)
{
    struct map *map = map_of(kind);
    pthread_rwlock_wrlock(&lock);
    size_t at = above(map, start);
    bool found = at > 0 && map->ranges[at - 1].start == start && map->ranges[at - 1].kind == kind;
    if (found && removed)
        *removed = map->ranges[at - 1];
    if (found)
        take_out(map, at - 1);
    pthread_rwlock_unlock(&lock);
    return found;
}

static bool look(const struct map *map, uint64_t address, struct relay_range *found)
{
    size_t at = above(map, address);
    if (at == 0 || address - map->ranges[at - 1].start >= map->ranges[at - 1].bytes)
        return false;
    *found = map->ranges[at - 1];
    return true;
}

bool relay_range_find(uint64_t address, struct relay_range *found)
{
    pthread_rwlock_rdlock(&lock);
    bool known = look(&inner, address, found) || look(&outer, address, found);
    pthread_rwlock_unlock(&lock);
    return known;
}

static bool overlaps(const struct map *map, uint64_t start, uint64_t bytes)
{
    size_t at = above(map, start);
    return (at > 0 && start - map->ranges[at - 1].start < map->ranges[at - 1].bytes) ||
           (at < map->count && map->ranges[at].start - start < bytes);
}

bool relay_range_overlaps(uint64_t start, uint64_t bytes)
{
    pthread_rwlock_rdlock(&lock);
    bool any = overlaps(&inner, start, bytes) || overlaps(&outer, start, bytes);
    pthread_rwlock_unlock(&lock);
    return any;
}

/* Takes out one range of the context; false: there is none left. */
static bool take_one(struct map *map, const struct relay_context *context, struct relay_range *taken)
{
    bool found = false;
    pthread_rwlock_wrlock(&lock);
    for (size_t i = map->count; i > 0 && !found; i--) {
        found = map->ranges[i - 1].context == context;
        if (found) {
            *taken = map->ranges[i - 1];
            take_out(map, i - 1);
        }
    }
    pthread_rwlock_unlock(&lock);
    return found;
}

void relay_range_context_ended(struct relay_context *context)
{
    struct relay_range range;
    while (take_one(&inner, context, &range)) {
        struct relay_pinned pinned = {range.id, (void *)(uintptr_t)range.start, range.bytes};
        if (range.kind == RELAY_RANGE_PINNED && range.id != RELAY_PINNED_SMALL)
            relay_unpin(context->link, &pinned);
    }
    while (take_one(&outer, context, &range))
        ;
}

void range_forked(void)
{
    pthread_rwlock_init(&lock, NULL);
}
