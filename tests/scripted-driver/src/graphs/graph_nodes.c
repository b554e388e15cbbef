/* The entries that add nodes to graphs and ask about them. */
#include <stdlib.h>
#include <string.h>

#include "memory/copy.h"
#include "entry.h"
#include "modules/function.h"
#include "graphs/graph.h"
#include "memory/memory.h"

struct list {
    struct graph_node *const *nodes;
    size_t count;
};

static bool valid(struct graph_node **out, struct graph *g, struct list needs)
{
    if (!out || !handle_is(HANDLE_GRAPH, g) || (needs.count && !needs.nodes))
        return false;
    for (size_t i = 0; i < needs.count; i++)
        if (!handle_is(HANDLE_NODE, needs.nodes[i]) || needs.nodes[i]->graph != g)
            return false;
    return true;
}

static CUresult add(struct graph_node **out, struct graph *g, struct list needs, enum node_type type, struct work *work)
{
    *out = graph_add(g, type, work, needs.nodes, needs.count);
    return OK;
}

#define NODE_PARAMETERS struct graph_node **out, struct graph *g, struct graph_node *const *nodes, size_t count
#define NEEDS ((struct list){nodes, count})

static CUresult kernel_work(const struct kernel_node_parameters *p, struct work **w)
{
    return function_work(p->function ? p->function : p->kernel, p->grid[0] * p->grid[1] * p->grid[2], p->parameters,
                         p->extra, w);
}

EXPORT CUresult cuGraphAddKernelNode_v2(NODE_PARAMETERS, const struct kernel_node_parameters *p)
{
    ENTER(cuGraphAddKernelNode_v2);
    LOCKED;
    struct work *w;
    if (!p || !valid(out, g, NEEDS))
        return ERROR_INVALID_VALUE;
    CUresult error = kernel_work(p, &w);
    if (error)
        return error;
    add(out, g, NEEDS, NODE_KERNEL, w);
    memcpy((*out)->launch.grid, p->grid, sizeof p->grid);
    memcpy((*out)->launch.block, p->block, sizeof p->block);
    (*out)->launch.shared_bytes = p->shared_bytes;
    return OK;
}

EXPORT CUresult cuGraphAddMemcpyNode(NODE_PARAMETERS, const struct copy_3d *p, struct context *context)
{
    ENTER(cuGraphAddMemcpyNode);
    LOCKED;
    struct copy_request r;
    struct work *w;
    if (!p || !context_valid(context) || !valid(out, g, NEEDS))
        return ERROR_INVALID_VALUE;
    CUresult error = copy_shape_3d(p, &r);
    if (!error)
        error = copy_work(&r, &w);
    return error ? error : add(out, g, NEEDS, NODE_COPY, w);
}

EXPORT CUresult cuGraphAddMemsetNode(NODE_PARAMETERS, const struct memset_node_parameters *p, struct context *context)
{
    ENTER(cuGraphAddMemsetNode);
    LOCKED;
    struct work *w;
    if (!p || !context_valid(context) || !valid(out, g, NEEDS))
        return ERROR_INVALID_VALUE;
    struct fill_shape shape = {(void *)(uintptr_t)p->target, p->pitch, p->width, p->height, p->element_bytes, p->value};
    CUresult error = fill_work(&shape, &w);
    return error ? error : add(out, g, NEEDS, NODE_FILL, w);
}

EXPORT CUresult cuGraphAddHostNode(NODE_PARAMETERS, const struct host_node_parameters *p)
{
    ENTER(cuGraphAddHostNode);
    LOCKED;
    if (!p || !p->function || !valid(out, g, NEEDS))
        return ERROR_INVALID_VALUE;
    struct work *w = work_new(WORK_HOST);
    w->as.host.function = p->function;
    w->as.host.data = p->data;
    return add(out, g, NEEDS, NODE_HOST, w);
}

EXPORT CUresult cuGraphAddEmptyNode(NODE_PARAMETERS)
{
    ENTER(cuGraphAddEmptyNode);
    LOCKED;
    return valid(out, g, NEEDS) ? add(out, g, NEEDS, NODE_EMPTY, NULL) : ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGraphAddChildGraphNode(NODE_PARAMETERS, struct graph *child)
{
    ENTER(cuGraphAddChildGraphNode);
    LOCKED;
    struct graph *copy;
    if (!valid(out, g, NEEDS) || !handle_is(HANDLE_GRAPH, child) || child == g)
        return ERROR_INVALID_VALUE;
    CUresult error = graph_clone(child, &copy);
    if (error)
        return error;
    add(out, g, NEEDS, NODE_GRAPH, NULL);
    (*out)->child = copy;
    return OK;
}

EXPORT CUresult cuGraphAddMemAllocNode(NODE_PARAMETERS, struct alloc_node_parameters *p)
{
    ENTER(cuGraphAddMemAllocNode);
    LOCKED;
    if (!p || p->bytes == 0 || p->pool.location.type != CU_MEM_LOCATION_TYPE_DEVICE || !valid(out, g, NEEDS))
        return ERROR_INVALID_VALUE;
    int device = p->pool.location.id;
    struct context *c = device_valid(device) ? context_first(device) : NULL;
    while (c && !context_valid(c))
        c = context_next(c);
    if (!c)
        return ERROR_INVALID_CONTEXT;
    struct allocation *a;
    CUresult error = memory_allocate(p->bytes, ALLOCATION_GRAPH, false, c, &a);
    if (error)
        return error;
    add(out, g, NEEDS, NODE_ALLOC, NULL);
    (*out)->pointer = p->pointer = a->base;
    (*out)->bytes = p->bytes;
    struct device *d = &devices[device];
    d->graph_bytes += a->extent;
    if (d->graph_bytes > d->graph_bytes_high)
        d->graph_bytes_high = d->graph_bytes;
    return OK;
}

EXPORT CUresult cuGraphAddMemFreeNode(NODE_PARAMETERS, CUdeviceptr pointer)
{
    ENTER(cuGraphAddMemFreeNode);
    LOCKED;
    const struct allocation *a = allocation_at(pointer);
    if (!valid(out, g, NEEDS) || !a || a->kind != ALLOCATION_GRAPH)
        return ERROR_INVALID_VALUE;
    add(out, g, NEEDS, NODE_FREE, NULL); /* the memory stays with the graph for its next launch */
    (*out)->pointer = pointer;
    return OK;
}

EXPORT CUresult cuGraphMemAllocNodeGetParams(struct graph_node *n, struct alloc_node_parameters *p)
{
    ENTER(cuGraphMemAllocNodeGetParams);
    LOCKED;
    if (!p || !handle_is(HANDLE_NODE, n) || n->type != NODE_ALLOC)
        return ERROR_INVALID_VALUE;
    *p = (struct alloc_node_parameters){.bytes = n->bytes, .pointer = n->pointer};
    return OK;
}

EXPORT CUresult cuGraphNodeGetType(struct graph_node *n, int *type)
{
    ENTER(cuGraphNodeGetType);
    LOCKED;
    if (!type || !handle_is(HANDLE_NODE, n))
        return ERROR_INVALID_VALUE;
    *type = (int)n->type;
    return OK;
}

EXPORT CUresult cuGraphKernelNodeGetParams_v2(struct graph_node *n, struct kernel_node_parameters *p)
{
    ENTER(cuGraphKernelNodeGetParams_v2);
    LOCKED;
    if (!p || !handle_is(HANDLE_NODE, n) || n->type != NODE_KERNEL)
        return ERROR_INVALID_VALUE;
    *p = (struct kernel_node_parameters){.function = n->work->as.kernel.function,
                                         .shared_bytes = n->launch.shared_bytes};
    memcpy(p->grid, n->launch.grid, sizeof p->grid);
    memcpy(p->block, n->launch.block, sizeof p->block);
    return OK;
}

EXPORT CUresult cuGraphKernelNodeSetParams_v2(struct graph_node *n, const struct kernel_node_parameters *p)
{
    ENTER(cuGraphKernelNodeSetParams_v2);
    LOCKED;
    struct work *w;
    if (!p || !handle_is(HANDLE_NODE, n) || n->type != NODE_KERNEL)
        return ERROR_INVALID_VALUE;
    CUresult error = kernel_work(p, &w);
    if (error)
        return error;
    work_free(n->work);
    n->work = w;
    return OK;
}

static CUresult depend(struct graph *g, struct graph_node *const *from, struct graph_node *const *to, size_t count)
{
    LOCKED;
    if (!handle_is(HANDLE_GRAPH, g))
        return ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        struct graph_node *n = to[i];
        if (!handle_is(HANDLE_NODE, from[i]) || !handle_is(HANDLE_NODE, n) || from[i] == n)
            return ERROR_INVALID_VALUE;
        struct graph_node **needs = realloc(n->needs, (n->need_count + 1) * sizeof(struct graph_node *));
        if (!needs)
            return ERROR_OUT_OF_MEMORY;
        n->needs = needs;
        n->needs[n->need_count++] = from[i];
    }
    return OK;
}

EXPORT CUresult cuGraphAddDependencies(struct graph *g, struct graph_node *const *from, struct graph_node *const *to,
                                       size_t count)
{
    ENTER(cuGraphAddDependencies);
    return depend(g, from, to, count);
}

EXPORT CUresult cuGraphAddDependencies_v2(struct graph *g, struct graph_node *const *from, struct graph_node *const *to,
                                          const void *edges, size_t count)
{
    ENTER(cuGraphAddDependencies_v2);
    (void)edges;
    return depend(g, from, to, count);
}
