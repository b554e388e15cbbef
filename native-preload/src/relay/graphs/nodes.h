/* How parameters of graph nodes are sent: the structure, then the data behind its pointers (RELAY.md, section 8). */
#ifndef TESSERA_RELAY_GRAPH_NODES_H
#define TESSERA_RELAY_GRAPH_NODES_H

#include "relay/graphs/graphs.h"
#include "relay/wire/layouts.h"
#include "relay/wire/message.h"

struct packed {
    unsigned char *data; /* packed_release() frees it */
    size_t bytes;
    int word; /* of a host node, prepared and not yet held; -1: none */
    struct relay_link *link;
};

/*
 * Checks the parameters as the driver does at once, and copies all of them. Returns 0 or the error; the caller releases
 * the copy in either case.
 */
typedef CUresult (*packer)(struct relay_context *context, const void *parameters, struct packed *packed);

CUresult pack_kernel(struct relay_context *context, const void *parameters, struct packed *packed);
CUresult pack_copy(struct relay_context *context, const void *parameters, struct packed *packed);
CUresult pack_memset(struct relay_context *context, const void *parameters, struct packed *packed);
CUresult pack_host(struct relay_context *context, const void *parameters, struct packed *packed);
CUresult pack_operations(struct relay_context *context, const void *parameters, struct packed *packed);
CUresult pack_alloc(struct relay_context *context, const void *parameters, struct packed *packed);
/* A host node, from a struct callback. */
CUresult pack_callback(struct relay_context *context, const void *callback, struct packed *packed);
/* A node of any type: CUgraphNodeParams, with room for the results behind it. */
CUresult pack_node(struct relay_context *context, const void *parameters, struct packed *packed);

/*
 * Gives the word of a host node, if there is one, to `holder`. Without memory the word is kept until the process ends.
 */
void packed_held(struct packed *packed, uint64_t holder);

void packed_release(struct packed *packed);

/* The arguments that all cuGraphAdd...Node have. */
struct node_place {
    CUgraphNode *node;
    CUgraph graph;
    const CUgraphNode *dependencies;
    size_t count;
};

#define PLACE_ARGUMENTS(place, made)                                                                                   \
    OUT(made, 8), VALUE((uintptr_t)(place)->graph), IN_OR_NOTHING((place)->dependencies, (place)->count * 8),          \
        VALUE((place)->count)

/*
 * One call that packs and sends a node's parameters. `out` (or NULL) receives `out_bytes` of the structure that comes back.
 * `with_context`: the entry's last parameter is a context; 0 is sent for it.
 */
struct node_call {
    unsigned entry;
    packer pack;
    const void *parameters;
    bool with_context;
    void *out;
    size_t out_bytes;
};
CUresult node_add(const struct node_place *place, const struct node_call *call);

/* Sets the parameters of a node, in an instantiated graph (exec) or in its graph (exec NULL). */
CUresult node_set(CUgraphExec exec, CUgraphNode node, const struct node_call *call);

#endif
