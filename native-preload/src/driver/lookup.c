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

/* Two names of one entry: what is hooked comes first, and the hooks are the same. */
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
 * Entries that are not hooked are ours too, a jump through the port table, so that the table says at any time where
 * calls go (checkpoint_stubs.c, trace.c). No dlsym here: it waits for glibc's lock of loaded libraries, and a thread
 * that has that lock may be waiting for this to end.
 */
static void build(void)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
            if (tessera_entry_hooked[i] == (pass == 0))
                put(__atomic_load_n(&tessera_real[i], __ATOMIC_ACQUIRE),
                    tessera_exported[i]); /* as dlsym on us answers */
}

/* The driver is open already: the caller has just been answered by it. */
void *lookup_substitute(void *address)
{
    driver_look_up_all();
    pthread_once(&once, build);
    for (unsigned b = bucket_of(address); table[b].address; b = (b + 1) & (BUCKETS - 1))
        if (table[b].address == address)
            return table[b].ours;
    return address;
}
