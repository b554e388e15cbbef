/*
 * Graphs: nodes with dependencies. Launching an executable graph enqueues its nodes, in an order that keeps the
 * dependencies, into one stream; real concurrency between branches is not modelled.
 */
#ifndef SCRIPTED_GRAPH_H
#define SCRIPTED_GRAPH_H

#include "streams/stream.h"
#include "graphs/user_object.h"

enum node_type {
    NODE_KERNEL = CU_GRAPH_NODE_TYPE_KERNEL,
    NODE_COPY = CU_GRAPH_NODE_TYPE_MEMCPY,
    NODE_FILL = CU_GRAPH_NODE_TYPE_MEMSET,
    NODE_HOST = CU_GRAPH_NODE_TYPE_HOST,
    NODE_GRAPH = CU_GRAPH_NODE_TYPE_GRAPH,
    NODE_EMPTY = CU_GRAPH_NODE_TYPE_EMPTY,
    NODE_WAIT_EVENT = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
    NODE_RECORD = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
    NODE_ALLOC = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
    NODE_FREE = CU_GRAPH_NODE_TYPE_MEM_FREE,
    NODE_VALUES = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
};

struct graph_node {
    struct graph *graph;
    enum node_type type;
    struct work *work;   /* NULL: empty, child graph, allocation */
    struct graph *child; /* owned copy */
    struct graph_node **needs;
    size_t need_count;
    CUdeviceptr pointer; /* of an allocation */
    size_t bytes;
    struct launch_config launch; /* of a kernel, as asked back */
};

struct graph {
    struct graph_node **nodes;
    size_t count;
    struct capture *capture;
    struct user_objects objects;
};

struct graph *graph_new(void);
void graph_free(struct graph *graph);
struct graph_node *graph_add(struct graph *graph, enum node_type type, struct work *work,
                             struct graph_node *const *needs, size_t need_count);
enum node_type graph_type_of(const struct work *work);

struct graph_exec {
    struct work **work;
    size_t count;
    uint64_t flags;
    size_t nodes;
    struct user_objects objects; /* of the graph and its child graphs */
};

CUresult graph_clone(const struct graph *graph, struct graph **copy);
CUresult graph_instantiate(const struct graph *graph, uint64_t flags, struct graph_exec **exec);
void graph_exec_free(struct graph_exec *exec);
/* 910 if the two differ in more than parameters. */
CUresult graph_exec_update(struct graph_exec *exec, const struct graph *graph);
CUresult graph_launch(struct graph_exec *exec, struct stream *stream);

#endif
