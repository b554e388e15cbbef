#include "graphs/graph.h"

#include <stdlib.h>
#include <string.h>

#include "streams/capture.h"
#include "entry.h"
#include "memory/memory.h"

struct graph *graph_new(void)
{
    struct graph *g = calloc(1, sizeof *g);
    if (!g)
        abort();
    handle_add(HANDLE_GRAPH, g);
    return g;
}

static void node_free(struct graph_node *n)
{
    if (n->type == NODE_ALLOC)
        memory_graph_free(n->pointer);
    if (n->work)
        work_free(n->work);
    if (n->child)
        graph_free(n->child);
    handle_drop(HANDLE_NODE, n);
    free(n->needs);
    free(n);
}

void graph_free(struct graph *g)
{
    for (size_t i = 0; i < g->count; i++)
        node_free(g->nodes[i]);
    free(g->nodes);
    user_objects_release(&g->objects);
    handle_drop(HANDLE_GRAPH, g);
    free(g);
}

struct graph_node *graph_add(struct graph *g, enum node_type type, struct work *work, struct graph_node *const *needs,
                             size_t need_count)
{
    struct graph_node *n = calloc(1, sizeof *n);
    g->nodes = realloc(g->nodes, (g->count + 1) * sizeof *g->nodes);
    if (!n || !g->nodes || (need_count && !(n->needs = calloc(need_count, sizeof *n->needs))))
        abort();
    n->graph = g;
    n->type = type;
    n->work = work;
    if (need_count)
        memcpy(n->needs, needs, need_count * sizeof *needs);
    n->need_count = need_count;
    g->nodes[g->count++] = n;
    handle_add(HANDLE_NODE, n);
    return n;
}

enum node_type graph_type_of(const struct work *work)
{
    switch (work->kind) {
    case WORK_COPY:
        return NODE_COPY;
    case WORK_FILL:
        return NODE_FILL;
    case WORK_KERNEL:
        return NODE_KERNEL;
    case WORK_HOST:
    case WORK_CALLBACK:
        return NODE_HOST;
    case WORK_RECORD:
        return NODE_RECORD;
    case WORK_WAIT_EVENT:
        return NODE_WAIT_EVENT;
    case WORK_WRITE_VALUE:
    case WORK_WAIT_VALUE:
        return NODE_VALUES;
    case WORK_FREE:
        return NODE_FREE;
    default:
        return NODE_EMPTY;
    }
}

/* Copies nodes and dependencies. A graph with allocations cannot be cloned (the driver refuses it as well). */
static struct graph *copy_of(const struct graph *g)
{
    struct graph *copy = graph_new();
    user_objects_share(&copy->objects, &g->objects);
    for (size_t i = 0; i < g->count; i++) {
        const struct graph_node *n = g->nodes[i];
        struct graph_node *made = graph_add(copy, n->type, n->work ? work_clone(n->work) : NULL, NULL, 0);
        made->launch = n->launch;
        made->child = n->child ? copy_of(n->child) : NULL;
    }
    for (size_t i = 0; i < g->count; i++) {
        const struct graph_node *n = g->nodes[i];
        struct graph_node *made = copy->nodes[i];
        made->need_count = n->need_count;
        made->needs = n->need_count ? calloc(n->need_count, sizeof *made->needs) : NULL;
        for (size_t k = 0; k < n->need_count; k++)
            for (size_t j = 0; j < g->count; j++)
                if (g->nodes[j] == n->needs[k])
                    made->needs[k] = copy->nodes[j];
    }
    return copy;
}

static bool has_allocations(const struct graph *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i]->type == NODE_ALLOC)
            return true;
    return false;
}

CUresult graph_clone(const struct graph *g, struct graph **copy)
{
    if (has_allocations(g))
        return ERROR_NOT_SUPPORTED;
    *copy = copy_of(g);
    return OK;
}

static void append(struct graph_exec *e, const struct graph *g);

static void append_node(struct graph_exec *e, const struct graph_node *n)
{
    e->nodes++;
    if (n->child)
        append(e, n->child);
    if (!n->work)
        return;
    e->work = realloc(e->work, (e->count + 1) * sizeof *e->work);
    if (!e->work)
        abort();
    e->work[e->count++] = work_clone(n->work);
}

/* Kahn's order, stable: the first node, as added, whose needs are all placed. A cycle leaves nodes over. */
static void append(struct graph_exec *e, const struct graph *g)
{
    bool *placed = calloc(g->count + 1, sizeof *placed);
    if (!placed)
        abort();
    user_objects_share(&e->objects, &g->objects);
    for (size_t left = g->count; left > 0;) {
        size_t i = 0;
        for (; i < g->count; i++) {
            bool ready = !placed[i];
            for (size_t k = 0; ready && k < g->nodes[i]->need_count; k++)
                for (size_t j = 0; j < g->count; j++)
                    if (g->nodes[j] == g->nodes[i]->needs[k])
                        ready = ready && placed[j];
            if (ready)
                break;
        }
        if (i == g->count)
            break;
        placed[i] = true;
        left--;
        append_node(e, g->nodes[i]);
    }
    free(placed);
}

CUresult graph_instantiate(const struct graph *g, uint64_t flags, struct graph_exec **exec)
{
    struct graph_exec *e = calloc(1, sizeof *e);
    if (!e)
        return ERROR_OUT_OF_MEMORY;
    e->flags = flags;
    append(e, g);
    handle_add(HANDLE_EXEC, e);
    *exec = e;
    return OK;
}

void graph_exec_free(struct graph_exec *e)
{
    for (size_t i = 0; i < e->count; i++)
        work_free(e->work[i]);
    free(e->work);
    user_objects_release(&e->objects);
    handle_drop(HANDLE_EXEC, e);
    free(e);
}

CUresult graph_exec_update(struct graph_exec *e, const struct graph *g)
{
    struct graph_exec *fresh;
    CUresult error = graph_instantiate(g, e->flags, &fresh);
    if (error)
        return error;
    bool same = fresh->count == e->count && fresh->nodes == e->nodes;
    for (size_t i = 0; same && i < e->count; i++)
        same = fresh->work[i]->kind == e->work[i]->kind;
    if (same)
        for (size_t i = 0; i < e->count; i++) {
            struct work *old = e->work[i];
            e->work[i] = fresh->work[i];
            fresh->work[i] = old;
        }
    graph_exec_free(fresh);
    return same ? OK : 910;
}

CUresult graph_launch(struct graph_exec *e, struct stream *s)
{
    if (s->capture) { /* becomes a part of the graph that is captured */
        CUresult error = OK;
        for (size_t i = 0; i < e->count && !error; i++)
            error = capture_record(s, work_clone(e->work[i]));
        user_objects_share(&s->capture->graph->objects, &e->objects);
        return error;
    }
    CUresult error = OK;
    for (size_t i = 0; i < e->count && !error; i++)
        error = stream_submit(s, work_clone(e->work[i]));
    if (e->objects.count) {
        struct work *end = work_new(WORK_RELEASE);
        user_objects_share(&end->as.objects, &e->objects);
        CUresult held = stream_submit(s, end);
        error = error ? error : held;
    }
    return error;
}
