/* Copies in two and three dimensions. Users include relay.h and layouts.h first. */
#ifndef TESSERA_RELAY_COPY_SHAPED_H
#define TESSERA_RELAY_COPY_SHAPED_H

#include "relay/copies/copy.h"
#include "relay/copies/copy_shaped_submit.h"

/*
 * Copies in the order of the stream with the wire handle `wire`. Sides in pageable memory go through staging memory, as
 * many rows at a time as fit. A copy with memory of another device is complete on return; such a copy must have no
 * array.
 */
CUresult copy_shaped(struct relay_context *context, uint64_t wire, const struct layout_copy *copy, enum copy_end end);

/* Whether a side is memory of another device than the context's. */
bool copy_leads_elsewhere(const struct relay_context *context, const struct layout_copy *copy);

#endif
