/* Copies between pageable memory and the device in graphs. */
#ifndef TESSERA_RELAY_COPY_CAPTURED_H
#define TESSERA_RELAY_COPY_CAPTURED_H

#include "relay/wire/callbacks.h"
#include "relay/copies/copy_submit.h"
#include "relay/wire/layouts.h"

struct stream;

/*
 * Captures a copy with a pageable side. The program's memory is read or written at each launch of the graph, as the driver
 * does: by a host function before or behind the copy from or to pinned memory, which lives as long as a graph has it.
 */
CUresult copy_captured(struct relay_context *context, struct stream *stream, struct copy_place to,
                       struct copy_place from, size_t bytes);

/* The same in two and three dimensions; the copy is resolved: a side that is HOST is pageable. */
CUresult copy_captured_shaped(struct relay_context *context, struct stream *stream, const struct layout_copy *copy);

/* When the host function of such a copy runs, seen from the copy that the executor makes. */
enum captured_order { CAPTURED_BEFORE, CAPTURED_BEHIND, CAPTURED_ALONE /* there is no other */ };

struct captured_copy;

/*
 * What a graph needs for a resolved copy with a pageable side: a host function, and `device`, the copy that the executor
 * makes. 0 or OUT_OF_MEMORY. Whose the copy is goes with its callback, whose `released` ends it.
 */
CUresult captured_copy_make(struct relay_context *context, const struct layout_copy *shape, struct captured_copy **made,
                            struct layout_copy *device, enum captured_order *order);
struct callback captured_copy_callback(struct captured_copy *copy);

/* What the host function of such a copy moves; NULL: the callback is none of them. */
const struct layout_copy *captured_copy_rows(const struct callback *callback);

#endif
