/*
 * Pinned memory, in chunks, through which copies of pageable memory go: the program's thread copies one chunk while the
 * device moves others. Each device has one set, made at the first use. Include relay.h first.
 */
#ifndef TESSERA_RELAY_STAGING_H
#define TESSERA_RELAY_STAGING_H

#include "relay/wire/relay.h"

#define STAGING_CHUNK (1u << 20)   /* copying it on the host takes longer than a record; it fits a cache */
#define STAGING_PIECE (128u << 10) /* filling it takes longer than a record costs the executor and the device */
#define STAGING_CHUNKS 16u

struct staging_chunk {
    unsigned char *memory; /* the same address on the device */
    int word;
    uint64_t value; /* the word's value when the device no longer uses the chunk; even (completion.h) */
    uint32_t taken;
};

/* Takes a chunk that the device no longer uses; waits for one. 0, OUT_OF_MEMORY, or the link's state. */
CUresult staging_take(struct relay_link *link, struct staging_chunk **chunk);

/* As staging_take(), without waiting. NULL: all are in use. Only after a staging_take(). */
struct staging_chunk *staging_try(struct relay_link *link);

/* Sends the MARK that shows when the device no longer uses the chunk. To be called after the copy's record. */
CUresult staging_mark(struct relay_context *context, uint64_t wire, struct staging_chunk *chunk);

/* As staging_mark(), if the caller waits for the mark next. */
CUresult staging_awaited_mark(struct relay_context *context, uint64_t wire, struct staging_chunk *chunk);

/* Waits for the last mark. */
CUresult staging_wait(struct relay_link *link, const struct staging_chunk *chunk);

/* Gives a chunk back. The device may still use it: staging_try() checks its word. */
void staging_give(struct staging_chunk *chunk);

void staging_forked(void);

#endif
