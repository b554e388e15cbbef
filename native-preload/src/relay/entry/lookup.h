/* The names of cuGetProcAddress, which autotalk writes (target/generated/relay_lookup.c). */
#ifndef TESSERA_RELAY_LOOKUP_H
#define TESSERA_RELAY_LOOKUP_H

#include <stdint.h>

/*
 * The entry that a name means in cuGetProcAddress, since a CUDA version (cudaTypedefs.h). Rows are sorted by name, plain
 * before per-thread, then by version. The answer is the last row that is not newer than the version asked for. If no row is
 * per-thread, the plain one answers for both. Entries without a known version have no row. The address to return is
 * tessera_exported[entry].
 */
struct relay_lookup {
    const char *name;
    uint16_t entry;
    uint16_t per_thread;
    int32_t since;
};
extern const struct relay_lookup relay_lookups[];
extern const unsigned relay_lookup_count;

#endif
