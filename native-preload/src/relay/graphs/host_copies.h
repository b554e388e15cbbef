/*
 * Copy nodes with a side in pageable memory, which the executor does not reach. For the executor each is a child graph: a
 * host function here that moves the rows from or to pinned memory, and a copy. For the program it is one copy node.
 */
#ifndef TESSERA_RELAY_GRAPH_HOST_COPIES_H
#define TESSERA_RELAY_GRAPH_HOST_COPIES_H

#include "relay/graphs/nodes.h"

/* Whether a copy (CUDA_MEMCPY3D, may be NULL) has a side that the executor does not reach. */
bool host_copy_needed(const struct relay_context *context, const struct layout_copy *copy);

/* Adds a node. */
CUresult host_copy_add(const struct node_place *place, const struct layout_copy *copy);

/*
 * Whether a node is a copy node of this kind. `copy` (may be NULL) gets its parameters, with the program's addresses.
 */
bool host_copy_is(CUgraphNode node, struct layout_copy *copy);

/*
 * Sets the copy of such a node, in its graph (exec NULL) or in an instantiated graph. NOT_SUPPORTED, counted by name: the
 * pageable side is not the same as before, or a side is another device's memory.
 */
CUresult host_copy_set(CUgraphExec exec, CUgraphNode node, const struct layout_copy *copy);

#endif
