/*
 * Copies of rows that take memory of another device than the stream's. Executors do not reach into each other's devices: what
 * one of them reaches alone is its copy, and the rest goes row by row through the host. All of it is done on return.
 */
#include "relay/copies/copy_shaped.h"
#include "relay/executor/refuse.h"
#include "relay/memory/range.h"
#include "relay/streams/streams.h"
#include "relay_stubs.h"

/* The context whose executor reaches a side. NULL: the program's own memory, or an array, which is the stream's device's. */
static struct relay_context *owner_of(const struct layout_copy_side *side, const struct layout_copy *copy)
{
    struct relay_range range;
    if (side->memory_type == COPY_TYPE_ARRAY || side->memory_type == COPY_TYPE_HOST ||
        !relay_range_find(copy_row(side, copy, 0, 0), &range) || !relay_range_device_side(&range))
        return NULL;
    return range.context ? range.context : relay_primary(range.link);
}

bool copy_pinned_elsewhere(const struct relay_context *context, uint64_t address)
{
    struct relay_range range;
    return relay_link_count > 1 && relay_range_find(address, &range) && !relay_range_device_side(&range) &&
           range.link != context->link;
}

static bool is_elsewhere(const struct relay_context *context, const struct relay_context *owner)
{
    return owner && owner->link != context->link;
}

bool copy_leads_elsewhere(const struct relay_context *context, const struct layout_copy *copy)
{
    return relay_link_count > 1 && copy->width_bytes != 0 && copy->height != 0 && copy->depth != 0 &&
           (is_elsewhere(context, owner_of(&copy->source, copy)) ||
            is_elsewhere(context, owner_of(&copy->destination, copy)));
}

static CUresult by_rows(struct relay_context *context, uint64_t wire, const struct layout_copy *copy)
{
    CUresult result = CUDA_SUCCESS;
    for (uint64_t z = 0; result == CUDA_SUCCESS && z < copy->depth; z++)
        for (uint64_t y = 0; result == CUDA_SUCCESS && y < copy->height; y++)
            result = copy_linear(context, wire, copy_device(copy_row(&copy->destination, copy, y, z)),
                                 copy_device(copy_row(&copy->source, copy, y, z)), copy->width_bytes, COPY_WAITS);
    return result;
}

CUresult copy_shaped_across(struct relay_context *context, uint64_t wire, const struct layout_copy *copy)
{
    struct relay_context *to = owner_of(&copy->destination, copy), *from = owner_of(&copy->source, copy);
    if (copy->source.memory_type == COPY_TYPE_ARRAY || copy->destination.memory_type == COPY_TYPE_ARRAY)
        return relay_refuse("cuMemcpy3DPeer", "an array and memory of another device");
    if (relay_stream_capturing(context, wire))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (to && from && to->link != from->link)
        return by_rows(context, wire, copy);
    struct relay_context *owner = to ? to : from;
    CUresult result = relay_stream_wait(context, wire);
    if (result == CUDA_SUCCESS)
        result = copy_shaped(owner, 0, copy, COPY_WAITS);
    return result == CUDA_SUCCESS ? relay_stream_wait(owner, 0) : result;
}
