/* Which streams there are: created ones, each context's legacy stream, each thread's own. */
#ifndef TESSERA_RELAY_STREAM_TABLE_H
#define TESSERA_RELAY_STREAM_TABLE_H

#include "relay/streams/streams.h"

/* The mark of all streams of a context. */
struct mark *stream_context_mark(struct relay_context *context);

/* Makes a stream, first in the executor, then here. */
CUresult stream_create(struct relay_context *context, unsigned flags, int priority, struct stream **made);

/* Destroys a stream, first here, then in the executor, where its work still runs to its end. */
CUresult stream_destroy(struct stream *stream);

/* Registers what is called for each stream that ends, before its memory is freed. At cuInit. */
void streams_on_end(void (*ending)(const struct stream *stream));

/* Forgets the streams of a context that ends. */
void relay_streams_context_ended(struct relay_context *context);

#endif
