/*
 * Copies chunks between the device and their backing, several at a time, on streams of its own in one of the program's
 * contexts. There is one copier for each device, used by its turns thread alone. moves.c and swap_pipeline.c decide
 * what is copied.
 */
#ifndef TESSERA_CHUNK_COPIER_H
#define TESSERA_CHUNK_COPIER_H

#include <stdbool.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

#define COPIER_DEPTH 16 /* copies at once: enough that the bus does not wait for page changes of small chunks */

/*
 * Enters a context of the device that has not faulted, and creates streams in it. If all have faulted, enters one of them without
 * streams (copier_lost()). False: no context, or no streams.
 */
bool copier_open(unsigned device);
void copier_close(unsigned device);

/* The context that copier_open() entered. */
const void *copier_context(unsigned device);

/*
 * Begins to copy a BUSY chunk that has physical memory: out of the device into its backing if `out`, else into the device.
 * `parts` are those to copy if the chunk has a record of its parts; without one all that is allocated in it is copied. On the
 * way in, the other parts are cleared. For pinned backing the copy is asynchronous; for other tiers it is complete when this
 * returns. After an error, no part of it is under way. At most COPIER_DEPTH copies may be begun and not ended.
 */
CUresult copier_begin(unsigned device, struct chunk *chunk, unit_mask parts, bool out);

/* Ends the oldest copy if it is complete: returns its chunk, direction and result. NULL: not complete, or no copy. */
struct chunk *copier_ended(unsigned device, bool *out, CUresult *result);

/*
 * Whether all contexts of the device had faulted when the copier was opened. Then the program can no longer use its contents, and
 * no copy may be begun. A fault while it is open fails copies, and nothing is lost before it is opened again.
 */
bool copier_lost(unsigned device);

/* The context is about to end, and the copier's streams in it end, too. No copy runs in it any more. Any thread. */
void copier_context_closing(const void *context);

/* In the child of a fork. */
void copier_forked(void);

#endif
