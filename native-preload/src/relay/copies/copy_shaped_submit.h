/* One copy in two or three dimensions as it goes to the executor, and where its rows lie. */
#ifndef TESSERA_RELAY_COPY_SHAPED_SUBMIT_H
#define TESSERA_RELAY_COPY_SHAPED_SUBMIT_H

#include "relay/wire/layouts.h"
#include "relay/wire/relay.h"

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

/* The side with the pitch and height that it has by default, so that a part of the copy finds its rows. */
struct layout_copy_side copy_whole_side(struct layout_copy_side side, const struct layout_copy *copy);

#endif
