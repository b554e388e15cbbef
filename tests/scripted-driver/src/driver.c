#include "driver.h"

#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t changed_once = PTHREAD_ONCE_INIT;

_Thread_local bool driver_in_callback;

static void changed_init(void)
{
    pthread_condattr_t a;
    pthread_condattr_init(&a);
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &a);
    pthread_condattr_destroy(&a);
}

void driver_lock(void)
{
    pthread_mutex_lock(&lock);
}

void driver_unlock(int *unused)
{
    (void)unused;
    pthread_mutex_unlock(&lock);
}

void driver_changed(void)
{
    pthread_once(&changed_once, changed_init);
    pthread_cond_broadcast(&changed);
}

void driver_wait(uint64_t until_ns)
{
    pthread_once(&changed_once, changed_init);
    if (until_ns == 0) {
        pthread_cond_wait(&changed, &lock);
        return;
    }
    struct timespec t = {(time_t)(until_ns / 1000000000ULL), (long)(until_ns % 1000000000ULL)};
    pthread_cond_timedwait(&changed, &lock, &t);
}

void driver_wait_on(pthread_cond_t *condition)
{
    pthread_cond_wait(condition, &lock);
}

/* Handles are kept in an open-addressed table that grows; destroyed ones leave a mark that later handles reuse. */
struct handle_entry {
    const void *handle;
    int kind;
};
static struct handle_entry *table;
static size_t capacity, taken;
#define REMOVED ((const void *)-1)

static size_t place(const struct handle_entry *entries, size_t size, const void *handle)
{
    size_t i = ((uintptr_t)handle >> 4) * 0x9E3779B97F4A7C15ULL >> 20 & (size - 1);
    while (entries[i].handle && entries[i].handle != handle)
        i = (i + 1) & (size - 1);
    return i;
}

static void grow(void)
{
    size_t size = capacity ? capacity * 2 : 1024;
    struct handle_entry *entries = calloc(size, sizeof *entries);
    if (!entries)
        abort();
    taken = 0;
    for (size_t i = 0; i < capacity; i++)
        if (table[i].handle && table[i].handle != REMOVED) {
            entries[place(entries, size, table[i].handle)] = table[i];
            taken++;
        }
    free(table);
    table = entries;
    capacity = size;
}

void handle_add(enum handle_kind kind, void *handle)
{
    if ((taken + 1) * 2 > capacity)
        grow();
    size_t i = place(table, capacity, handle);
    if (!table[i].handle)
        taken++;
    table[i] = (struct handle_entry){handle, (int)kind};
}

bool handle_is(enum handle_kind kind, const void *handle)
{
    if (!handle || !capacity)
        return false;
    size_t i = place(table, capacity, handle);
    return table[i].handle == handle && table[i].kind == (int)kind;
}

bool handle_drop(enum handle_kind kind, void *handle)
{
    if (!handle_is(kind, handle))
        return false;
    table[place(table, capacity, handle)].handle = REMOVED;
    return true;
}

void driver_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    changed_init();
}
