/* Copies in two and three dimensions. Who uses them includes relay.h and layouts.h. */
#ifndef TESSERA_RELAY_COPY_SHAPED_H
#define TESSERA_RELAY_COPY_SHAPED_H

#include "relay/copies/copy.h"
#include "relay/wire/layouts.h"

/*
 * Copies in the order of the stream that travels as `wire`. Sides in pageable memory go through staging a row, or as
 * many rows as fit, at a time.
 */
CUresult copy_shaped(struct relay_context *context, uint64_t wire, const struct layout_copy *copy, enum copy_end end);

/* CUmemorytype */
enum { COPY_TYPE_HOST = 1, COPY_TYPE_DEVICE = 2, COPY_TYPE_ARRAY = 3, COPY_TYPE_UNIFIED = 4 };

/* Moves the rows of a resolved copy whose sides this process reaches, both linear; in order, now. */
void copy_rows(const struct layout_copy *copy);

/* Sends a copy between what the executor reaches. */
CUresult copy_submit_shaped(struct relay_context *context, uint64_t wire, const struct layout_copy *copy);

/* CUDA_MEMCPY2D, as a copy of one slice. */
struct layout_copy copy_of_plane(const void *plane);

/*
 * Turns memory of which nothing is said (UVA) into what it is, and host memory that the executor reaches into an address
 * of the device. Whether a side is left that it does not reach.
 */
bool copy_resolve(const struct relay_context *context, struct layout_copy *copy);

/* Address of a row of a side that is linear memory. */
uint64_t copy_row(const struct layout_copy_side *side, const struct layout_copy *copy, uint64_t y, uint64_t z);

/* Whether a side is memory of another device than the context's. */
bool copy_leads_elsewhere(const struct relay_context *context, const struct layout_copy *copy);

/* Whether an address is that of memory that another device has pinned: to this one it is as any page of the program's. */
bool copy_pinned_elsewhere(const struct relay_context *context, uint64_t address);

/* A copy that leads elsewhere, in the order of the stream; done on return. Arrays are refused. */
CUresult copy_shaped_across(struct relay_context *context, uint64_t wire, const struct layout_copy *copy);

#endif
