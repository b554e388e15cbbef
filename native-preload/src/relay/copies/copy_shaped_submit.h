/* One copy in two or three dimensions as it goes to the executor, and where its rows lie. */
#ifndef TESSERA_RELAY_COPY_SHAPED_SUBMIT_H
#define TESSERA_RELAY_COPY_SHAPED_SUBMIT_H

#include "relay/wire/layouts.h"
#include "relay/wire/relay.h"

/*
 * Moves the rows of a resolved copy, in order, before it returns. Both sides are linear memory that this process
 * reaches.
 */
void copy_rows(const struct layout_copy *copy);

/* Sends a copy whose two sides the executor reaches. */
CUresult copy_submit_shaped(struct relay_context *context, uint64_t wire, const struct layout_copy *copy);

/* CUDA_MEMCPY2D, as a copy of one slice. */
struct layout_copy copy_of_plane(const void *plane);

/*
 * Resolves the kind of UVA addresses, and turns host memory that the executor reaches into a device address. Returns
 * whether the executor cannot reach one of the sides.
 */
bool copy_resolve(const struct relay_context *context, struct layout_copy *copy);

/* Address of a row of a side that is linear memory. */
uint64_t copy_row(const struct layout_copy_side *side, const struct layout_copy *copy, uint64_t y, uint64_t z);

/* The side with the pitch and height that it has by default, so that a part of the copy finds its rows. */
struct layout_copy_side copy_whole_side(struct layout_copy_side side, const struct layout_copy *copy);

#endif
