/*
 * Graphs: nodes with dependencies. Launching an executable graph enqueues its nodes, in an order that keeps the
 * dependencies, into one stream; real concurrency between branches is not modelled.
 */
#ifndef SCRIPTED_GRAPH_H
#define SCRIPTED_GRAPH_H

#include "streams/stream.h"
#include "graphs/user_object.h"

enum node_type {
    NODE_KERNEL = 0,
    NODE_COPY = 1,
    NODE_FILL = 2,
    NODE_HOST = 3,
    NODE_GRAPH = 4,
    NODE_EMPTY = 5,
    NODE_WAIT_EVENT = 6,
    NODE_RECORD = 7,
    NODE_ALLOC = 10,
    NODE_FREE = 11,
    NODE_VALUES = 12,
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
