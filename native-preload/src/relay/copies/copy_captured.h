/* Copies between pageable memory and the device in graphs. */
#ifndef TESSERA_RELAY_COPY_CAPTURED_H
#define TESSERA_RELAY_COPY_CAPTURED_H

#include "relay/wire/callbacks.h"
#include "relay/copies/copy_submit.h"
#include "relay/wire/layouts.h"

struct stream;

/*
 * Captures a copy with a pageable side. Each launch of the graph reads or writes the program's memory, as the driver
 * does. A host function does this, before a copy from pinned memory or behind a copy to it. The pinned memory lives as
 * long as a graph owns the copy.
 */
CUresult copy_captured(struct relay_context *context, struct stream *stream, struct copy_place to,
                       struct copy_place from, size_t bytes);

/* As copy_captured(), in two and three dimensions. The copy is resolved: a side that is HOST is pageable. */
CUresult copy_captured_shaped(struct relay_context *context, struct stream *stream, const struct layout_copy *copy);

/* When the host function of such a copy runs, seen from the copy that the executor makes. */
enum captured_order { CAPTURED_BEFORE, CAPTURED_BEHIND, CAPTURED_ALONE /* there is no other */ };

struct captured_copy;

/*
 * Prepares a resolved copy with a pageable side for a graph: a host function, and `device`, the copy that the executor
 * makes. Returns 0 or OUT_OF_MEMORY. The owner of the callback owns the copy; the callback's `released` frees it.
 */
CUresult captured_copy_make(struct relay_context *context, const struct layout_copy *shape, struct captured_copy **made,
                            struct layout_copy *device, enum captured_order *order);
struct callback captured_copy_callback(struct captured_copy *copy);

/* The copy that the host function moves; NULL: the callback belongs to no such copy. */
const struct layout_copy *captured_copy_rows(const struct callback *callback);

#endif
