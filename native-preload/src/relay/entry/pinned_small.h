/* Small pinned allocations, several in one chunk of memory that client and executor map. */
#ifndef TESSERA_RELAY_PINNED_SMALL_H
#define TESSERA_RELAY_PINNED_SMALL_H

#include "relay/memory/range.h"
#include "relay/wire/relay.h"

/* A larger request gets memory of its own: it would fill an eighth of a chunk. */
#define PINNED_SMALL_MOST (256u << 10)

/* Memory of the context, zeroed, at a multiple of 512 bytes; bytes: 1 to PINNED_SMALL_MOST. */
CUresult pinned_small_take(struct relay_context *context, size_t bytes, void **memory);

/*
 * Gives memory back. Waits, like the driver, until the work that was submitted before is done. While a stream is captured no
 * call waits; the memory is then reused only after a later call has waited. The caller must hold no lock.
 */
void pinned_small_give(void *memory, size_t bytes);

/* Gives back all chunks of a context, with what is in them. */
void pinned_small_context_ended(struct relay_context *context);

void pinned_small_forked(void);

#endif
