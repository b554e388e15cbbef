/* Linear copies, and what all copies share. */
#include "memory/copy.h"

#include <stdlib.h>
#include <string.h>

#include "streams/capture.h"
#include "entry.h"
#include "memory/memory.h"

/* Bytes from the first to the last that the shape touches on a side. */
static size_t span(const struct copy_shape *s, size_t pitch, size_t slice)
{
    return (s->depth - 1) * slice + (s->height - 1) * pitch + s->width;
}

static bool side_valid(const void *pointer, size_t bytes, enum side side, bool *host)
{
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)pointer;
    if (!memory_reachable(address, bytes, host))
        return false;
    if (side != SIDE_DEVICE || !*host)
        return true;
    const struct allocation *a = allocation_of(address); /* pinned memory is as good as device memory */
    return a && address + bytes <= a->base + a->bytes;
}

static bool check(const struct copy_request *r, bool *host_target, bool *host_source)
{
    const struct copy_shape *s = &r->shape;
    return side_valid(s->target, span(s, s->target_pitch, s->target_slice), r->target, host_target) &&
           side_valid(s->source, span(s, s->source_pitch, s->source_slice), r->source, host_source);
}

CUresult copy_work(const struct copy_request *r, struct work **work)
{
    bool host_target, host_source;
    if (!check(r, &host_target, &host_source))
        return ERROR_INVALID_VALUE;
    struct work *w = work_new(WORK_COPY);
    w->as.copy = r->shape;
    w->duration_ns = script.copy_ns;
    *work = w;
    return OK;
}

static bool pinned(const void *pointer)
{
    return allocation_of((CUdeviceptr)(uintptr_t)pointer) != NULL;
}

/* Pageable sources are read before the call returns, so the program may change them at once. */
static void stage(struct work *w)
{
    struct copy_shape *s = &w->as.copy;
    size_t bytes = span(s, s->source_pitch, s->source_slice);
    w->heap = malloc(bytes);
    if (!w->heap)
        abort();
    memcpy(w->heap, s->source, bytes);
    w->heap_bytes = bytes;
    s->source = w->heap;
}

CUresult copy_submit(struct stream *s, const struct copy_request *r)
{
    if (r->shape.width == 0 || r->shape.height == 0 || r->shape.depth == 0)
        return OK;
    LOCKED;
    bool host_target, host_source;
    if (!check(r, &host_target, &host_source))
        return ERROR_INVALID_VALUE;
    bool captured = s->capture != NULL;
    if (captured && r->synchronous) {
        s->capture->invalidated = true;
        return ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    struct work *w;
    CUresult error = copy_work(r, &w);
    if (error)
        return error;
    bool wait = r->synchronous || (!captured && host_target && !pinned(r->shape.target));
    if (host_source && !pinned(r->shape.source) && !captured && !wait)
        stage(w);
    error = stream_submit(s, w);
    return error || !wait ? error : stream_wait(s);
}

static CUresult linear(struct stream *s, CUdeviceptr target, enum side target_side, CUdeviceptr source,
                       enum side source_side, size_t bytes, bool synchronous)
{
    struct copy_request r = {
        .shape = {.target = (void *)(uintptr_t)target,
                  .source = (void *)(uintptr_t)source,
                  .width = bytes,
                  .height = 1,
                  .depth = 1},
        .target = target_side,
        .source = source_side,
        .synchronous = synchronous,
    };
    return copy_submit(s, &r);
}

#define TO_POINTER(host) ((CUdeviceptr)(uintptr_t)(host))

DEFAULT_SUBMISSION_PAIR(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes),
                        linear(target, to, SIDE_DEVICE, TO_POINTER(from), SIDE_HOST, bytes, true))
DEFAULT_SUBMISSION_PAIR(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes),
                        linear(target, TO_POINTER(to), SIDE_HOST, from, SIDE_DEVICE, bytes, true))
DEFAULT_SUBMISSION_PAIR(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
                        linear(target, to, SIDE_DEVICE, from, SIDE_DEVICE, bytes, false))
DEFAULT_SUBMISSION_PAIR(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
                        linear(target, to, SIDE_ANY, from, SIDE_ANY, bytes, true))
SUBMISSION_PAIR(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, void *stream),
                linear(target, to, SIDE_ANY, from, SIDE_ANY, bytes, false))
SUBMISSION_PAIR(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, void *stream),
                linear(target, to, SIDE_DEVICE, TO_POINTER(from), SIDE_HOST, bytes, false))
SUBMISSION_PAIR(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, void *stream),
                linear(target, TO_POINTER(to), SIDE_HOST, from, SIDE_DEVICE, bytes, false))
SUBMISSION_PAIR(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, void *stream),
                linear(target, to, SIDE_DEVICE, from, SIDE_DEVICE, bytes, false))

static CUresult peer(struct stream *s, CUdeviceptr to, struct context *target, CUdeviceptr from, struct context *source,
                     size_t bytes)
{
    {
        LOCKED;
        if (!context_valid(target) || !context_valid(source))
            return ERROR_INVALID_CONTEXT;
    }
    return linear(s, to, SIDE_DEVICE, from, SIDE_DEVICE, bytes, false);
}

DEFAULT_SUBMISSION_PAIR(cuMemcpyPeer,
                        (CUdeviceptr to, struct context *to_context, CUdeviceptr from, struct context *from_context,
                         size_t bytes),
                        peer(target, to, to_context, from, from_context, bytes))
SUBMISSION_PAIR(cuMemcpyPeerAsync,
                (CUdeviceptr to, struct context *to_context, CUdeviceptr from, struct context *from_context,
                 size_t bytes, void *stream),
                peer(target, to, to_context, from, from_context, bytes))
