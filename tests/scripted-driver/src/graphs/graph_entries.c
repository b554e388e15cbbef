/* The entries about graphs as wholes. */
#include <stdio.h>

#include "entry.h"
#include "graphs/graph.h"

EXPORT CUresult cuGraphCreate(struct graph **out, unsigned flags)
{
    ENTER(cuGraphCreate);
    if (!out || flags)
        return ERROR_INVALID_VALUE;
    LOCKED;
    *out = graph_new();
    return OK;
}

EXPORT CUresult cuGraphDestroy(struct graph *g)
{
    ENTER(cuGraphDestroy);
    LOCKED;
    if (!handle_is(HANDLE_GRAPH, g) || g->capture)
        return ERROR_INVALID_VALUE;
    graph_free(g);
    return OK;
}

EXPORT CUresult cuGraphClone(struct graph **out, struct graph *g)
{
    ENTER(cuGraphClone);
    LOCKED;
    return out && handle_is(HANDLE_GRAPH, g) ? graph_clone(g, out) : ERROR_INVALID_VALUE;
}

static CUresult instantiate(struct graph_exec **out, struct graph *g, uint64_t flags)
{
    if (!out)
        return ERROR_INVALID_VALUE;
    LOCKED;
    return handle_is(HANDLE_GRAPH, g) && !g->capture ? graph_instantiate(g, flags, out) : ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGraphInstantiate(struct graph_exec **out, struct graph *g, void **node, char *log, size_t bytes)
{
    ENTER(cuGraphInstantiate);
    (void)node;
    if (log && bytes)
        log[0] = 0;
    return instantiate(out, g, 0);
}

EXPORT CUresult cuGraphInstantiate_v2(struct graph_exec **out, struct graph *g, void **node, char *log, size_t bytes)
{
    ENTER(cuGraphInstantiate_v2);
    (void)node;
    if (log && bytes)
        log[0] = 0;
    return instantiate(out, g, 0);
}

EXPORT CUresult cuGraphInstantiateWithFlags(struct graph_exec **out, struct graph *g, unsigned long long flags)
{
    ENTER(cuGraphInstantiateWithFlags);
    return instantiate(out, g, flags);
}

static CUresult instantiate_with(struct graph_exec **out, struct graph *g, struct instantiate_parameters *p)
{
    if (!p)
        return ERROR_INVALID_VALUE;
    CUresult error = instantiate(out, g, p->flags);
    p->error_node = NULL;
    p->result = error ? 1 : 0;
    return error;
}

EXPORT CUresult cuGraphInstantiateWithParams(struct graph_exec **out, struct graph *g, struct instantiate_parameters *p)
{
    ENTER(cuGraphInstantiateWithParams);
    return instantiate_with(out, g, p);
}

EXPORT CUresult cuGraphInstantiateWithParams_ptsz(struct graph_exec **out, struct graph *g,
                                                  struct instantiate_parameters *p)
{
    ENTER(cuGraphInstantiateWithParams_ptsz);
    return instantiate_with(out, g, p);
}

EXPORT CUresult cuGraphExecDestroy(struct graph_exec *e)
{
    ENTER(cuGraphExecDestroy);
    LOCKED;
    if (!handle_is(HANDLE_EXEC, e))
        return ERROR_INVALID_VALUE;
    graph_exec_free(e); /* what was launched has its own copies */
    return OK;
}

EXPORT CUresult cuGraphExecGetFlags(struct graph_exec *e, uint64_t *flags)
{
    ENTER(cuGraphExecGetFlags);
    LOCKED;
    if (!flags || !handle_is(HANDLE_EXEC, e))
        return ERROR_INVALID_VALUE;
    *flags = e->flags;
    return OK;
}

/* CUgraphExecUpdateResultInfo and the enumeration of the older form: 0 success, 1 error. */
static CUresult update(struct graph_exec *e, struct graph *g, int *result)
{
    LOCKED;
    if (!handle_is(HANDLE_EXEC, e) || !handle_is(HANDLE_GRAPH, g) || !result)
        return ERROR_INVALID_VALUE;
    CUresult error = graph_exec_update(e, g);
    *result = error ? 2 : 0; /* 2: the topology changed */
    return error;
}

EXPORT CUresult cuGraphExecUpdate(struct graph_exec *e, struct graph *g, void **node, int *result)
{
    ENTER(cuGraphExecUpdate);
    if (node)
        *node = NULL;
    return update(e, g, result);
}

EXPORT CUresult cuGraphExecUpdate_v2(struct graph_exec *e, struct graph *g, void *info)
{
    ENTER(cuGraphExecUpdate_v2);
    return update(e, g, info); /* the result is the structure's first field */
}

static CUresult launch(struct graph_exec *e, struct stream *s)
{
    LOCKED;
    return handle_is(HANDLE_EXEC, e) ? graph_launch(e, s) : ERROR_INVALID_VALUE;
}

static CUresult upload(struct graph_exec *e)
{
    LOCKED;
    return handle_is(HANDLE_EXEC, e) ? OK : ERROR_INVALID_VALUE;
}

SUBMISSION_PAIR(cuGraphLaunch, (struct graph_exec * exec, void *stream), launch(exec, target))
STREAM_PAIR(cuGraphUpload, (struct graph_exec * exec, void *stream), upload(exec))

static CUresult list(struct graph *g, struct graph_node **out, size_t *count, bool roots)
{
    LOCKED;
    if (!count || !handle_is(HANDLE_GRAPH, g))
        return ERROR_INVALID_VALUE;
    size_t found = 0, room = *count;
    for (size_t i = 0; i < g->count; i++) {
        if (roots && g->nodes[i]->need_count)
            continue;
        if (out && found < room)
            out[found] = g->nodes[i];
        found++;
    }
    *count = found;
    return OK;
}

EXPORT CUresult cuGraphGetNodes(struct graph *g, struct graph_node **out, size_t *count)
{
    ENTER(cuGraphGetNodes);
    return list(g, out, count, false);
}

EXPORT CUresult cuGraphGetRootNodes(struct graph *g, struct graph_node **out, size_t *count)
{
    ENTER(cuGraphGetRootNodes);
    return list(g, out, count, true);
}

EXPORT CUresult cuGraphDebugDotPrint(struct graph *g, const char *path, unsigned flags)
{
    ENTER(cuGraphDebugDotPrint);
    (void)flags;
    LOCKED;
    if (!path || !handle_is(HANDLE_GRAPH, g))
        return ERROR_INVALID_VALUE;
    FILE *f = fopen(path, "we");
    if (!f)
        return ERROR_OPERATING_SYSTEM;
    fprintf(f, "digraph {\n");
    for (size_t i = 0; i < g->count; i++) {
        fprintf(f, "  n%p [label=\"%d\"]\n", (void *)g->nodes[i], g->nodes[i]->type);
        for (size_t k = 0; k < g->nodes[i]->need_count; k++)
            fprintf(f, "  n%p -> n%p\n", (void *)g->nodes[i]->needs[k], (void *)g->nodes[i]);
    }
    fprintf(f, "}\n");
    return fclose(f) == 0 ? OK : ERROR_OPERATING_SYSTEM;
}
