/* Copies in two and three dimensions. Who uses them includes relay.h and layouts.h. */
#ifndef TESSERA_RELAY_COPY_SHAPED_H
#define TESSERA_RELAY_COPY_SHAPED_H

#include "relay/copies/copy.h"
#include "relay/copies/copy_shaped_submit.h"

/*
 * Copies in the order of the stream that travels as `wire`. Sides in pageable memory go through staging a row, or as
 * many rows as fit, at a time. Memory of another device than the stream's is done on return; arrays beside such are refused.
 */
CUresult copy_shaped(struct relay_context *context, uint64_t wire, const struct layout_copy *copy, enum copy_end end);

/* Whether a side is memory of another device than the context's. */
bool copy_leads_elsewhere(const struct relay_context *context, const struct layout_copy *copy);

#endif
