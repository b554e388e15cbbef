/* Copies between pageable memory and the device in a capture. */
#ifndef TESSERA_RELAY_COPY_CAPTURED_H
#define TESSERA_RELAY_COPY_CAPTURED_H

#include "copy.h"
#include "layouts.h"

struct stream;

/*
 * Captures a copy with a pageable side. The program's memory is read or written at each launch of the graph, as the driver
 * does: by a host function before or behind the copy from or to pinned memory, which lives as long as a graph has it.
 */
CUresult copy_captured(struct relay_context *context, struct stream *stream, struct copy_place to,
                       struct copy_place from, size_t bytes);

/* The same in two and three dimensions; the copy is resolved: a side that is HOST is pageable. */
CUresult copy_captured_shaped(struct relay_context *context, struct stream *stream, const struct layout_copy *copy);

#endif
