/* What lies at which address: the device and pinned memory that the program has. Any thread. */
#ifndef TESSERA_RELAY_RANGE_H
#define TESSERA_RELAY_RANGE_H

#include "relay/wire/relay.h"

enum relay_range_kind {
    RELAY_RANGE_NONE = 0,
    RELAY_RANGE_DEVICE = 1,     /* cuMemAlloc and its like */
    RELAY_RANGE_POOL = 2,       /* cuMemAllocAsync, cuMemAllocFromPoolAsync */
    RELAY_RANGE_RESERVED = 3,   /* cuMemAddressReserve: mappings lie inside */
    RELAY_RANGE_MAPPED = 4,     /* cuMemMap */
    RELAY_RANGE_PINNED = 5,     /* host memory that both sides map */
    RELAY_RANGE_REGISTERED = 6, /* cuMemHostRegister: host memory that the executor does not see */
    RELAY_RANGE_GLOBAL = 7,     /* a module's variable: cuModuleGetGlobal, cuLibraryGetGlobal */
    RELAY_RANGE_OPENED = 8,     /* another process's: cuIpcOpenMemHandle */
    RELAY_RANGE_GRAPH = 9,      /* a graph's allocation node: may be freed once for each launch */
};

struct relay_range {
    uint64_t start;
    uint64_t bytes;
    enum relay_range_kind kind;
    unsigned flags; /* of the call that made it (cuMemHostAlloc, cuMemHostRegister) */
    struct relay_link *link;
    struct relay_context *context; /* NULL: of none (pools, mappings) */
    uint64_t id; /* PINNED: the executor's id, or RELAY_PINNED_SMALL; MAPPED: the allocation handle; POOL: the pool */
    uint64_t serial; /* BUFFER_ID */
};

/* Not an id of the executor's: the memory is a part of a chunk (pinned_small.c). */
#define RELAY_PINNED_SMALL 0

/* Adds a range. It replaces one with the same start, but a mapping does not replace its reservation. False: no memory. */
bool relay_range_add(const struct relay_range *range);

/* Whether a known range of another device's executor overlaps these bytes. */
bool relay_range_foreign(const struct relay_link *link, uint64_t start, uint64_t bytes);

/* Takes out the range that starts there; false: there is none of this kind. `removed` may be NULL. */
bool relay_range_remove(uint64_t start, enum relay_range_kind kind, struct relay_range *removed);

/* Finds the innermost range that holds the address (a mapping before its reservation). False: none. */
bool relay_range_find(uint64_t address, struct relay_range *found);

/* Whether a known range overlaps the `bytes` bytes from `start`. */
bool relay_range_overlaps(uint64_t start, uint64_t bytes);

/* Forgets all ranges of a context; what was pinned in it is given back. */
void relay_range_context_ended(struct relay_context *context);

/* In the child of a fork. */
void range_forked(void);

/* Whether the range is the device's own memory, not the host's. */
static inline bool relay_range_device_side(const struct relay_range *range)
{
    return range->kind != RELAY_RANGE_PINNED && range->kind != RELAY_RANGE_REGISTERED;
}

#endif
