/*
 * Copies chunks between the device and their backing, some at a time, on streams of its own in a context of the program's.
 * One copier per device, used by its turns thread alone. It decides nothing: moves.c does.
 */
#ifndef TESSERA_CHUNK_COPIER_H
#define TESSERA_CHUNK_COPIER_H

#include <stdbool.h>

#include "direct/chunks/chunks.h"
#include "driver/driver_types.h"

#define COPIER_DEPTH 16 /* chunks under way at once, so that the bus does not wait for page changes of small ones */

/* Makes a context of the device current, with streams in it unless it is lost. False: the device has none now. */
bool copier_open(unsigned device);
void copier_close(unsigned device);

/*
 * Begins to copy a BUSY chunk that has physical memory and a backing, out of the device or into it; its parts without
 * contents are left out. The backing may be any tier: of others than pinned the copy is done when this returns. An error
 * means that nothing of it is under way any more. At most COPIER_DEPTH copies may be begun and not ended.
 */
CUresult copier_begin(unsigned device, struct chunk *chunk, bool out);

/* Whether the oldest copy begun is over: its chunk and direction. NULL: it is not, or none is under way. */
struct chunk *copier_ended(unsigned device, bool *out, CUresult *result);

/*
 * Whether the open context has faulted: contents are lost, the program cannot use them any more, and no copy must be
 * begun.
 */
bool copier_lost(unsigned device);

/* The context is about to end: no copy runs in it any more, and its streams end with it. Any thread. */
void copier_context_closing(const void *context);

/* In the child of a fork. */
void copier_forked(void);

#endif
