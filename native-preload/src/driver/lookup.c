#include "driver/lookup.h"

#include <pthread.h>
#include <stdint.h>

#include "driver/driver.h"
#include "tessera_entries.h"

/* A power of two, several times the number of entries (some 670): probes stay short. */
#define BUCKETS 2048u
_Static_assert(TESSERA_ENTRY_COUNT < BUCKETS / 2, "room for all entries");

static struct {
    void *address, *ours;
} table[BUCKETS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static unsigned bucket_of(const void *address)
{
    return (unsigned)(((uintptr_t)address >> 4) * 0x9e3779b97f4a7c15ULL >> 32) & (BUCKETS - 1);
}

/* If two names have one address, the first one stays. Hooked entries come first, and both names have the same hook. */
static void put(void *address, void *ours)
{
    unsigned b = bucket_of(address);
    while (table[b].address && table[b].address != address)
        b = (b + 1) & (BUCKETS - 1);
    if (!table[b].address) {
        table[b].address = address;
        table[b].ours = ours;
    }
}

/*
 * Entries without a hook are replaced, too, by our exported symbols, which jump through the port table. So a change of
 * the table affects these calls as well (checkpoint_stubs.c, trace.c). No dlsym here: it waits for glibc's loader lock,
 * and the thread that holds this lock may be waiting for this function.
 */
static void build(void)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
            if (tessera_entry_hooked[i] == (pass == 0))
                put(__atomic_load_n(&tessera_real[i], __ATOMIC_ACQUIRE),
                    tessera_exported[i]); /* what dlsym on our library returns */
}

/* The driver is open already: it has just returned `address` to the caller. */
void *lookup_substitute(void *address)
{
    driver_look_up_all();
    pthread_once(&once, build);
    for (unsigned b = bucket_of(address); table[b].address; b = (b + 1) & (BUCKETS - 1))
        if (table[b].address == address)
            return table[b].ours;
    return address;
}
