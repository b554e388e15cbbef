#include "relay/copies/copy.h"

#include <stdlib.h>
#include <string.h>

#include "relay/copies/copy_captured.h"
#include "relay/memory/range.h"
#include "relay/memory/staging.h"
#include "relay/streams/streams.h"
#include "relay/wire/layouts.h"
#include "relay/wire/message.h"

/* Fills a chunk and sends it in pieces of this many bytes: the device moves one while the next is filled. */
static CUresult fill_and_send(struct relay_context *context, uint64_t wire, struct copy_place to,
                              const unsigned char *from, size_t bytes, unsigned char *chunk, size_t piece)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t done = 0; result == CUDA_SUCCESS && done < bytes; done += piece) {
        size_t length = bytes - done < piece ? bytes - done : piece;
        memcpy(chunk + done, from + done, length);
        result = copy_submit(context, wire, copy_moved(to, done), copy_device((uintptr_t)chunk + done), length);
    }
    return result;
}

/*
 * The source has been read when this returns. A copy that fits into one chunk is sent in smaller pieces, so that they
 * overlap.
 */
static CUresult from_pageable(struct relay_context *context, uint64_t wire, struct copy_place to,
                              const unsigned char *from, size_t bytes)
{
    const size_t part = bytes <= STAGING_CHUNK ? STAGING_PIECE : STAGING_CHUNK;
    CUresult result = CUDA_SUCCESS;
    for (size_t done = 0; result == CUDA_SUCCESS && done < bytes;) {
        size_t piece = bytes - done < STAGING_CHUNK ? bytes - done : STAGING_CHUNK;
        struct staging_chunk *chunk;
        result = staging_take(context->link, &chunk);
        if (result != CUDA_SUCCESS)
            break;
        result = fill_and_send(context, wire, copy_moved(to, done), from + done, piece, chunk->memory, part);
        if (result == CUDA_SUCCESS)
            result = staging_mark(context, wire, chunk);
        staging_give(chunk);
        done += piece;
    }
    return result;
}

static CUresult within_host(struct relay_context *context, uint64_t wire, struct copy_place to, struct copy_place from,
                            size_t bytes)
{
    CUresult result = relay_stream_wait(context, wire);
    if (result == CUDA_SUCCESS)
        memmove((void *)(uintptr_t)to.at, (const void *)(uintptr_t)from.at, bytes);
    return result;
}

static bool is_pinned(struct copy_place place)
{
    struct relay_range range;
    return place.kind == COPY_ADDRESS && relay_range_find(place.at, &range) && range.kind == RELAY_RANGE_PINNED;
}

/* Whether a copy from pageable memory to the device fits into a record. */
static bool is_small(const struct relay_context *context, struct copy_place to, struct copy_place from, size_t bytes)
{
    return from.kind == COPY_PAGEABLE && bytes <= TESSERA_RELAY_INLINE_MAX && to.kind == COPY_ADDRESS &&
           copy_known(context->link, to.at, bytes);
}

/*
 * The driver waits for the stream, reads the source, and returns before the data has arrived ("API synchronization
 * behavior", memcpy from pageable memory). This function waits in two cases, which the host could observe: the target
 * is pinned memory, or work before the copy may be unfinished.
 */
static CUresult small(struct relay_context *context, uint64_t wire, struct copy_place to, const void *from,
                      size_t bytes, enum copy_end end)
{
    struct stream *stream = stream_of(context, wire);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    uint64_t now = 0;
    bool settled = end == COPY_WAITS && !is_pinned(to) && stream_settled(stream, &now);
    const struct message_argument arguments[] = {VALUE(to.at), IN(from, bytes), VALUE(bytes), VALUE(wire)};
    struct ring_span span;
    CUresult result = message_post_telling(context, ENTRY_cuMemcpyHtoDAsync_v2, arguments, 4, &span);
    if (result != CUDA_SUCCESS)
        return result;
    relay_count(context->link, TESSERA_KIND_COPY);
    if (wire != 0)
        stream_submitted_to(stream, span.end);
    if (end != COPY_WAITS)
        return CUDA_SUCCESS;
    if (!settled)
        return stream_synchronise(stream);
    stream_unseen(stream, now, span.begin, span.end);
    return relay_take_error(context->link);
}

/* The context whose executor reaches the place: the primary context of the memory's device, or `context`. */
static struct relay_context *owner_of(struct relay_context *context, struct copy_place *place)
{
    struct relay_range range;
    if (relay_link_count == 1 || place->kind == COPY_ARRAY || !relay_range_find(place->at, &range) ||
        range.link == context->link)
        return context;
    if (relay_range_device_side(&range)) {
        place->kind = COPY_ADDRESS;
        return range.context ? range.context : relay_primary(range.link);
    }
    place->kind = COPY_PAGEABLE; /* host memory that this device does not know */
    return context;
}

static CUresult across(struct relay_context *to_context, CUdeviceptr to, struct relay_context *from_context,
                       CUdeviceptr from, size_t bytes);

/* A copy from or to memory of another device than the stream's: done when it returns. */
static CUresult elsewhere(struct relay_context *context, uint64_t wire, struct relay_context *to_owner,
                          struct copy_place to, struct relay_context *from_owner, struct copy_place from, size_t bytes)
{
    if (relay_stream_capturing(context, wire))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    CUresult result = relay_stream_wait(context, wire);
    if (result != CUDA_SUCCESS)
        return result;
    /* To the other device, this device's pinned memory is the program's own memory. */
    bool to_device = to_owner != context || copy_known(context->link, to.at, bytes);
    bool from_device = from_owner != context || copy_known(context->link, from.at, bytes);
    if (to_owner != from_owner && to_device && from_device)
        return across(to_owner, to.at, from_owner, from.at, bytes);
    struct relay_context *owner = to_owner != context ? to_owner : from_owner;
    result = copy_linear(owner, 0, to, from, bytes, COPY_WAITS);
    return result == CUDA_SUCCESS ? relay_stream_wait(owner, 0) : result;
}

/* Whether a copy begins in memory whose size is known and goes beyond it. */
static bool goes_beyond(const struct relay_context *context, struct copy_place place, size_t bytes)
{
    struct relay_range range;
    if (place.kind == COPY_ARRAY || !relay_range_find(place.at, &range) || range.link != context->link)
        return false;
    bool sized = range.kind == RELAY_RANGE_DEVICE || range.kind == RELAY_RANGE_POOL ||
                 range.kind == RELAY_RANGE_MAPPED || range.kind == RELAY_RANGE_PINNED;
    return sized && !copy_known(context->link, place.at, bytes);
}

CUresult copy_linear(struct relay_context *context, uint64_t wire, struct copy_place to, struct copy_place from,
                     size_t bytes, enum copy_end end)
{
    if (bytes == 0)
        return CUDA_SUCCESS;
    struct relay_context *to_owner = owner_of(context, &to), *from_owner = owner_of(context, &from);
    if (__builtin_expect(to_owner != context || from_owner != context, 0))
        return elsewhere(context, wire, to_owner, to, from_owner, from, bytes);
    bool pageable = to.kind == COPY_PAGEABLE || from.kind == COPY_PAGEABLE;
    if (pageable && relay_stream_capturing(context, wire))
        return end == COPY_RETURNS_EARLY ? copy_captured(context, stream_of(context, wire), to, from, bytes)
                                         : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (is_small(context, to, from, bytes))
        return small(context, wire, to, (const void *)(uintptr_t)from.at, bytes, end);
    /* Checked here, before memory of the program is read or written beyond its end. */
    if (pageable && (goes_beyond(context, to, bytes) || goes_beyond(context, from, bytes)))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result;
    if (to.kind == COPY_PAGEABLE && from.kind == COPY_PAGEABLE)
        result = within_host(context, wire, to, from, bytes);
    else if (from.kind == COPY_PAGEABLE)
        result = from_pageable(context, wire, to, (const unsigned char *)(uintptr_t)from.at, bytes);
    else if (to.kind == COPY_PAGEABLE)
        result = copy_to_pageable(context, wire, (unsigned char *)(uintptr_t)to.at, from, bytes);
    else
        result = copy_submit(context, wire, to, from, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    relay_count(context->link, TESSERA_KIND_COPY);
    relay_stream_submitted(context, wire);
    /* A copy within the device is not waited for, as with the driver. A pageable target has been written already. */
    bool waits = end == COPY_WAITS && (from.kind == COPY_PAGEABLE || is_pinned(to) || is_pinned(from));
    return waits ? relay_stream_wait(context, wire) : CUDA_SUCCESS;
}

/* The copy goes through the host, piece by piece: an executor does not reach the devices of others. */
static CUresult across(struct relay_context *to_context, CUdeviceptr to, struct relay_context *from_context,
                       CUdeviceptr from, size_t bytes)
{
    unsigned char *piece = malloc(STAGING_CHUNK);
    CUresult result = piece ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    struct copy_place host = {COPY_PAGEABLE, (uintptr_t)piece, NULL};
    for (size_t done = 0; result == CUDA_SUCCESS && done < bytes; done += STAGING_CHUNK) {
        size_t length = bytes - done < STAGING_CHUNK ? bytes - done : STAGING_CHUNK;
        result = copy_linear(from_context, 0, host, copy_device(from + done), length, COPY_WAITS);
        if (result == CUDA_SUCCESS)
            result = copy_linear(to_context, 0, copy_device(to + done), host, length, COPY_WAITS);
    }
    free(piece);
    return result == CUDA_SUCCESS ? relay_stream_wait(to_context, 0) : result;
}

CUresult copy_between(struct relay_context *to_context, CUdeviceptr to, struct relay_context *from_context,
                      CUdeviceptr from, size_t bytes, struct relay_context *context, uint64_t wire)
{
    if (to_context->link == context->link && from_context->link == context->link)
        return copy_linear(context, wire, copy_device(to), copy_device(from), bytes, COPY_RETURNS_EARLY);
    if (relay_stream_capturing(context, wire))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    CUresult result = relay_stream_wait(context, wire);
    return result == CUDA_SUCCESS ? across(to_context, to, from_context, from, bytes) : result;
}
