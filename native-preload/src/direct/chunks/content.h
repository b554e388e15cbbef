/*
 * What is known of the contents of a chunk, in parts of 2 MiB: which parts are all zero, and which have an identical
 * copy in host memory. Neither kind has to be copied when the chunk leaves the device, and parts that are zero need
 * no copy when it comes back.
 *
 * Residency's lock guards all records, except that of a BUSY chunk, which belongs to the thread that made it BUSY.
 */
#ifndef TESSERA_CONTENT_H
#define TESSERA_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "direct/turns/residency.h"

#define PART_BYTES CHUNK_UNIT
#define PARTS CHUNK_UNITS
#define HASH_NUMBERS 4 /* numbers in the hash of a part (direct/content/content.cu) */

struct part_hash {
    uint64_t numbers[HASH_NUMBERS];
};

/* The result of the last look at the chunk. One bit for each part, the lowest for the first. */
struct content {
    unit_mask filled; /* parts that were not all zero */
    unit_mask copied; /* of these, the parts that the backing holds as they were */
    struct part_hash hashes[PARTS];
};

/* With the lock: a new record; NULL: no memory. */
struct content *content_new(void);
void content_free(struct content *content);

/* The parts of this many bytes, at most CHUNK_BYTES, as bits. */
unit_mask content_parts(uint64_t bytes);
/* The next run of parts that are set, from *first on: its first part and its length. False: there is none. */
bool content_run(unit_mask parts, unsigned *first, unsigned *count);
/* Bytes of this many parts. */
uint64_t content_bytes(unit_mask parts);

#endif
