/* Memory pools and allocations in the order of streams. */
#include <stdlib.h>
#include <string.h>

#include "streams/capture.h"
#include "entry.h"
#include "graphs/graph.h"
#include "memory/memory.h"
#include "streams/stream.h"
#include "script/witness.h"

CUresult pool_new(const struct pool_properties *properties, struct pool **pool)
{
    bool managed = properties->allocation_type == 2;
    bool on_device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (properties->allocation_type != CU_MEM_ALLOCATION_TYPE_PINNED && !managed)
        return ERROR_INVALID_VALUE;
    if (!managed && !on_device)
        return ERROR_NOT_SUPPORTED; /* pools of host memory */
    if (on_device && !device_valid(properties->location.id))
        return ERROR_INVALID_DEVICE;
    if (managed && properties->handle_types)
        return ERROR_INVALID_VALUE; /* managed memory cannot be exported */
    struct pool *p = calloc(1, sizeof *p);
    if (!p)
        return ERROR_OUT_OF_MEMORY;
    p->device = on_device ? properties->location.id : 0;
    p->managed = managed;
    p->max_bytes = properties->max_bytes;
    p->properties = *properties;
    p->flags[1] = p->flags[2] = p->flags[3] = 1;
    p->access[p->device] = (struct access_descriptor){{1, p->device}, 3};
    handle_add(HANDLE_POOL, p);
    *pool = p;
    return OK;
}

void pool_free(struct pool *p)
{
    if (p->reserved > p->used && !p->managed)
        witness_give(p->device, p->reserved - p->used);
    handle_drop(HANDLE_POOL, p);
    free(p);
}

static void trim(struct pool *p, uint64_t keep)
{
    uint64_t floor = keep > p->used ? keep : p->used;
    if (p->reserved <= floor)
        return;
    if (!p->managed)
        witness_give(p->device, p->reserved - floor);
    p->reserved = floor;
}

CUresult pool_allocate(struct pool *p, size_t bytes, struct context *context, CUdeviceptr *pointer)
{
    size_t extent = page_round(bytes);
    if (p->max_bytes && p->used + extent > p->max_bytes)
        return ERROR_OUT_OF_MEMORY;
    uint64_t cached = p->reserved - p->used;
    uint64_t reuse = cached < extent ? cached : extent;
    if (!p->managed)
        witness_give(p->device, reuse);
    struct allocation *a;
    CUresult error = memory_allocate(bytes, ALLOCATION_POOL, p->managed, context, &a);
    if (error) {
        if (!p->managed)
            witness_take(p->device, reuse, UINT64_MAX);
        return error;
    }
    a->pool = p;
    p->used += extent;
    p->reserved += extent - reuse;
    if (p->used > p->used_high)
        p->used_high = p->used;
    if (p->reserved > p->reserved_high)
        p->reserved_high = p->reserved;
    *pointer = a->base;
    return OK;
}

void pool_release(struct allocation *a)
{
    struct pool *p = a->pool;
    size_t extent = a->extent;
    memory_free(a);
    p->used -= extent;
    if (!p->managed)
        witness_take(p->device, extent, UINT64_MAX); /* it stays reserved until trimmed */
    trim(p, p->threshold);
}

/* The default pool of a device, made at its first use. */
static CUresult default_pool(int device, struct pool **out)
{
    struct device *d = &devices[device];
    if (!d->default_pool) {
        struct pool_properties properties = {.allocation_type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                             .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
        CUresult error = pool_new(&properties, &d->default_pool);
        if (error)
            return error;
        d->default_pool->is_default = true;
        if (!d->current_pool)
            d->current_pool = d->default_pool;
    }
    *out = d->default_pool;
    return OK;
}

static CUresult current_pool(int device, struct pool **out)
{
    CUresult error = default_pool(device, out);
    if (!error)
        *out = devices[device].current_pool;
    return error;
}

/* During a capture the memory belongs to the graph, and an allocation node stands for it. */
static CUresult allocate_captured(struct stream *s, size_t bytes, CUdeviceptr *out)
{
    struct capture *c = s->capture;
    if (c->invalidated)
        return ERROR_STREAM_CAPTURE_INVALIDATED;
    struct allocation *a;
    CUresult error = memory_allocate(bytes, ALLOCATION_GRAPH, false, s->context, &a);
    if (error)
        return error;
    struct graph_node *tail = s->capture_tail;
    struct graph_node *n = graph_add(c->graph, NODE_ALLOC, NULL, &tail, tail ? 1 : 0);
    n->pointer = a->base;
    n->bytes = bytes;
    s->capture_tail = n;
    s->capture_unjoined = true;
    struct device *d = &devices[a->device];
    d->graph_bytes += a->extent;
    if (d->graph_bytes > d->graph_bytes_high)
        d->graph_bytes_high = d->graph_bytes;
    *out = a->base;
    return OK;
}

static CUresult allocate_async(struct stream *s, size_t bytes, struct pool *p, CUdeviceptr *out)
{
    if (!out || bytes == 0)
        return ERROR_INVALID_VALUE;
    LOCKED;
    CUresult error = s->context->sticky;
    if (!error && p && !handle_is(HANDLE_POOL, p))
        error = ERROR_INVALID_VALUE;
    if (!error && s->capture)
        return allocate_captured(s, bytes, out);
    if (!error && s->legacy)
        error = capture_implicit(s->context);
    if (!error && !p)
        error = current_pool(s->context->device, &p);
    return error ? error : pool_allocate(p, bytes, s->context, out);
}

static CUresult free_async(struct stream *s, CUdeviceptr pointer)
{
    LOCKED;
    struct allocation *a = allocation_at(pointer);
    bool pooled = a && a->kind == ALLOCATION_POOL, of_graph = a && a->kind == ALLOCATION_GRAPH;
    bool plain = a && (a->kind == ALLOCATION_PLAIN || a->kind == ALLOCATION_MANAGED);
    if (!pooled && !of_graph && !plain)
        return ERROR_INVALID_VALUE;
    if (s->capture && !of_graph)
        return ERROR_INVALID_VALUE; /* only memory of the graph can be freed in it */
    struct work *w = work_new(WORK_FREE);
    w->as.pointer = of_graph && !s->capture ? 0
                                            : pointer; /* it stays with its graph, whose place may be another's then */
    if (!s->capture && !of_graph)
        a->freeing = true;
    CUresult error = stream_submit(s, w);
    if (error && !of_graph)
        a->freeing = false;
    return error;
}

STREAM_PAIR(cuMemAllocAsync, (CUdeviceptr * out, size_t bytes, void *stream), allocate_async(target, bytes, NULL, out))
STREAM_PAIR(cuMemAllocFromPoolAsync, (CUdeviceptr * out, size_t bytes, struct pool *pool, void *stream),
            pool ? allocate_async(target, bytes, pool, out) : ERROR_INVALID_VALUE)
STREAM_PAIR(cuMemFreeAsync, (CUdeviceptr pointer, void *stream), free_async(target, pointer))

EXPORT CUresult cuDeviceGetDefaultMemPool(struct pool **out, CUdevice device)
{
    ENTER(cuDeviceGetDefaultMemPool);
    LOCKED;
    return device_valid(device) ? default_pool(device, out) : ERROR_INVALID_DEVICE;
}

EXPORT CUresult cuDeviceGetMemPool(struct pool **out, CUdevice device)
{
    ENTER(cuDeviceGetMemPool);
    LOCKED;
    return device_valid(device) ? current_pool(device, out) : ERROR_INVALID_DEVICE;
}

EXPORT CUresult cuDeviceSetMemPool(CUdevice device, struct pool *p)
{
    ENTER(cuDeviceSetMemPool);
    LOCKED;
    struct pool *standard;
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    if (!handle_is(HANDLE_POOL, p) || p->device != device)
        return ERROR_INVALID_VALUE;
    CUresult error = default_pool(device, &standard);
    devices[device].current_pool = p;
    return error;
}

EXPORT CUresult cuMemPoolCreate(struct pool **out, const struct pool_properties *properties)
{
    ENTER(cuMemPoolCreate);
    LOCKED;
    return out && properties ? pool_new(properties, out) : ERROR_INVALID_VALUE;
}

EXPORT CUresult cuMemPoolDestroy(struct pool *p)
{
    ENTER(cuMemPoolDestroy);
    LOCKED;
    if (!handle_is(HANDLE_POOL, p) || p->is_default)
        return ERROR_INVALID_VALUE;
    if (devices[p->device].current_pool == p)
        devices[p->device].current_pool = devices[p->device].default_pool;
    if (p->used == 0)
        pool_free(p);
    else
        handle_drop(HANDLE_POOL, p); /* its last allocations may still be freed */
    return OK;
}

EXPORT CUresult cuMemPoolTrimTo(struct pool *p, size_t keep)
{
    ENTER(cuMemPoolTrimTo);
    LOCKED;
    if (!handle_is(HANDLE_POOL, p))
        return ERROR_INVALID_VALUE;
    trim(p, keep);
    return OK;
}

EXPORT CUresult cuMemPoolSetAccess(struct pool *p, const struct access_descriptor *access, size_t count)
{
    ENTER(cuMemPoolSetAccess);
    LOCKED;
    if (!handle_is(HANDLE_POOL, p))
        return ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || !device_valid(access[i].location.id))
            return ERROR_INVALID_VALUE;
        p->access[access[i].location.id] = access[i];
    }
    return OK;
}

EXPORT CUresult cuMemPoolGetAccess(int *flags, struct pool *p, struct location *location)
{
    ENTER(cuMemPoolGetAccess);
    LOCKED;
    if (!handle_is(HANDLE_POOL, p) || location->type != CU_MEM_LOCATION_TYPE_DEVICE || !device_valid(location->id))
        return ERROR_INVALID_VALUE;
    *flags = p->access[location->id].flags;
    return OK;
}

EXPORT CUresult cuMemPoolGetAttribute(struct pool *p, int attribute, void *value)
{
    ENTER(cuMemPoolGetAttribute);
    LOCKED;
    if (!handle_is(HANDLE_POOL, p) || !value)
        return ERROR_INVALID_VALUE;
    const uint64_t numbers[] = {p->threshold, p->reserved, p->reserved_high, p->used, p->used_high};
    if (attribute >= 1 && attribute <= 3)
        *(int *)value = p->flags[attribute];
    else if (attribute >= 4 && attribute <= 8)
        *(uint64_t *)value = numbers[attribute - 4];
    else
        return ERROR_INVALID_VALUE;
    return OK;
}

EXPORT CUresult cuMemPoolSetAttribute(struct pool *p, int attribute, void *value)
{
    ENTER(cuMemPoolSetAttribute);
    LOCKED;
    if (!handle_is(HANDLE_POOL, p) || !value)
        return ERROR_INVALID_VALUE;
    if (attribute >= 1 && attribute <= 3)
        p->flags[attribute] = *(int *)value;
    else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        p->threshold = *(uint64_t *)value;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && *(uint64_t *)value == 0)
        p->reserved_high = p->reserved;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH && *(uint64_t *)value == 0)
        p->used_high = p->used;
    else
        return ERROR_INVALID_VALUE;
    return OK;
}
