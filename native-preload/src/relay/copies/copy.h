/* Copies in one dimension. Users include relay.h first. */
#ifndef TESSERA_RELAY_COPY_H
#define TESSERA_RELAY_COPY_H

#include "relay/copies/copy_submit.h"

/*
 * Copies into the program's memory, which has been written when this returns. Returns the link's sticky error, if any.
 */
CUresult copy_to_pageable(struct relay_context *context, uint64_t wire, unsigned char *to, struct copy_place from,
                          size_t bytes);

enum copy_end {
    COPY_RETURNS_EARLY, /* the asynchronous forms: pageable sources are read, pageable targets written on return */
    COPY_WAITS,         /* the synchronous forms: done on return, except copies within the device, as with the driver */
};

/*
 * Copies in the order of the stream with the wire handle `wire`. Returns STREAM_CAPTURE_UNSUPPORTED for a synchronous copy
 * of pageable memory, or a copy with another device, in a captured stream.
 */
CUresult copy_linear(struct relay_context *context, uint64_t wire, struct copy_place to, struct copy_place from,
                     size_t bytes, enum copy_end end);

/* Copies between two contexts. Waits for the copy if their devices differ. */
CUresult copy_between(struct relay_context *to_context, CUdeviceptr to, struct relay_context *from_context,
                      CUdeviceptr from, size_t bytes, struct relay_context *context, uint64_t wire);

#endif
