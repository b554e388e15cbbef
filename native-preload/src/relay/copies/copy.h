/* Copies in one dimension. Who uses them includes relay.h. */
#ifndef TESSERA_RELAY_COPY_H
#define TESSERA_RELAY_COPY_H

#include "relay/copies/copy_submit.h"

/* Copies into the program's memory, which is written when this returns. Takes the link's sticky error. */
CUresult copy_to_pageable(struct relay_context *context, uint64_t wire, unsigned char *to, struct copy_place from,
                          size_t bytes);

enum copy_end {
    COPY_RETURNS_EARLY, /* the asynchronous forms: pageable sources are read, pageable targets written on return */
    COPY_WAITS,         /* the synchronous forms: done on return, but within the device, as with the driver */
};

/*
 * Copies in the order of the stream that travels as `wire`. Pageable memory in a stream that is captured is
 * STREAM_CAPTURE_UNSUPPORTED.
 */
CUresult copy_linear(struct relay_context *context, uint64_t wire, struct copy_place to, struct copy_place from,
                     size_t bytes, enum copy_end end);

/* Copies between two contexts, which may be on different devices; waits where they are. */
CUresult copy_between(struct relay_context *to_context, CUdeviceptr to, struct relay_context *from_context,
                      CUdeviceptr from, size_t bytes, struct relay_context *context, uint64_t wire);

#endif
