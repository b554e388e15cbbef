#include "relay/copies/copy_shaped.h"

#include <string.h>

#include "relay/copies/copy_captured.h"
#include "relay/memory/range.h"
#include "relay/memory/staging.h"
#include "relay/streams/streams.h"
#include "relay/wire/unsupported.h"

static bool valid(const struct layout_copy_side *side, const struct layout_copy *copy)
{
    bool host = side->memory_type == CU_MEMORYTYPE_HOST;
    if (side->memory_type < CU_MEMORYTYPE_HOST || side->memory_type > CU_MEMORYTYPE_UNIFIED)
        return false;
    if (side->memory_type == CU_MEMORYTYPE_ARRAY)
        return side->array != 0;
    bool pitched = side->pitch == 0 || side->pitch >= side->x_bytes + copy->width_bytes;
    return pitched && (host ? side->host : side->device) != 0;
}

/* Rows and bytes of a row that go through one chunk. */
struct piece {
    uint64_t x, y, z, width, rows;
};

static struct layout_copy_side staged_side(const struct staging_chunk *chunk, const struct piece *piece)
{
    return (struct layout_copy_side){.memory_type = CU_MEMORYTYPE_DEVICE,
                                     .device = (uintptr_t)chunk->memory,
                                     .pitch = piece->width,
                                     .height = piece->rows};
}

static struct layout_copy_side moved_side(struct layout_copy_side side, const struct piece *piece)
{
    side.x_bytes += piece->x;
    side.y += piece->y;
    side.z += piece->z;
    return side;
}

static CUresult piece_to_device(struct relay_context *context, uint64_t wire, const struct layout_copy *copy,
                                const struct piece *piece, struct staging_chunk *chunk)
{
    for (uint64_t row = 0; row < piece->rows; row++)
        memcpy(chunk->memory + row * piece->width,
               (const void *)(uintptr_t)(copy_row(&copy->source, copy, piece->y + row, piece->z) + piece->x),
               piece->width);
    struct layout_copy part = {staged_side(chunk, piece), moved_side(copy_whole_side(copy->destination, copy), piece),
                               piece->width, piece->rows, 1};
    CUresult result = copy_submit_shaped(context, wire, &part);
    return result == CUDA_SUCCESS ? staging_mark(context, wire, chunk) : result;
}

static CUresult piece_to_host(struct relay_context *context, uint64_t wire, const struct layout_copy *copy,
                              const struct piece *piece, struct staging_chunk *chunk)
{
    struct layout_copy part = {moved_side(copy_whole_side(copy->source, copy), piece), staged_side(chunk, piece),
                               piece->width, piece->rows, 1};
    CUresult result = copy_submit_shaped(context, wire, &part);
    if (result == CUDA_SUCCESS)
        result = staging_mark(context, wire, chunk);
    if (result == CUDA_SUCCESS)
        result = staging_wait(context->link, chunk);
    for (uint64_t row = 0; result == CUDA_SUCCESS && row < piece->rows; row++)
        memcpy((void *)(uintptr_t)(copy_row(&copy->destination, copy, piece->y + row, piece->z) + piece->x),
               chunk->memory + row * piece->width, piece->width);
    return result;
}

static CUresult through_staging(struct relay_context *context, uint64_t wire, const struct layout_copy *copy)
{
    bool to_host = copy->destination.memory_type == CU_MEMORYTYPE_HOST;
    CUresult result = CUDA_SUCCESS;
    struct piece piece = {0};
    while (result == CUDA_SUCCESS && piece.z < copy->depth) {
        uint64_t left = copy->width_bytes - piece.x, rows = copy->height - piece.y;
        bool whole_rows = piece.x == 0 && left <= STAGING_CHUNK;
        piece.width = left < STAGING_CHUNK ? left : STAGING_CHUNK;
        piece.rows = !whole_rows ? 1 : rows * piece.width <= STAGING_CHUNK ? rows : STAGING_CHUNK / piece.width;
        struct staging_chunk *chunk;
        result = staging_take(context->link, &chunk);
        if (result != CUDA_SUCCESS)
            break;
        result = to_host ? piece_to_host(context, wire, copy, &piece, chunk)
                         : piece_to_device(context, wire, copy, &piece, chunk);
        staging_give(chunk);
        piece.x += piece.width;
        if (piece.x == copy->width_bytes) {
            piece.x = 0;
            piece.y += piece.rows;
        }
        if (piece.y == copy->height) {
            piece.y = 0;
            piece.z++;
        }
    }
    CUresult earlier = to_host ? relay_take_error(context->link) : CUDA_SUCCESS;
    return result != CUDA_SUCCESS ? result : earlier;
}

static CUresult within_host(struct relay_context *context, uint64_t wire, const struct layout_copy *copy)
{
    CUresult result = relay_stream_wait(context, wire);
    if (result == CUDA_SUCCESS)
        copy_rows(copy);
    return result;
}

static bool is_pinned(const struct layout_copy_side *side)
{
    struct relay_range range;
    return side->memory_type == CU_MEMORYTYPE_DEVICE && relay_range_find(side->device, &range) &&
           range.kind == RELAY_RANGE_PINNED;
}

/*
 * The context whose executor reaches a side. NULL: the program's own memory, or an array, which belongs to the stream's
 * device.
 */
static struct relay_context *owner_of(const struct layout_copy_side *side, const struct layout_copy *copy)
{
    struct relay_range range;
    if (side->memory_type == CU_MEMORYTYPE_ARRAY || side->memory_type == CU_MEMORYTYPE_HOST ||
        !relay_range_find(copy_row(side, copy, 0, 0), &range) || !relay_range_device_side(&range))
        return NULL;
    return range.context ? range.context : relay_primary(range.link);
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

/*
 * A copy from or to another device, in the order of the stream; complete on return. An executor does not reach the
 * devices of others. A copy that one executor reaches is sent to it; all else goes through the host, row by row.
 */
static CUresult across(struct relay_context *context, uint64_t wire, const struct layout_copy *copy)
{
    struct relay_context *to = owner_of(&copy->destination, copy), *from = owner_of(&copy->source, copy);
    if (copy->source.memory_type == CU_MEMORYTYPE_ARRAY || copy->destination.memory_type == CU_MEMORYTYPE_ARRAY)
        return relay_unsupported("cuMemcpy3DPeer", "an array and memory of another device");
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

CUresult copy_shaped(struct relay_context *context, uint64_t wire, const struct layout_copy *asked, enum copy_end end)
{
    struct layout_copy copy = *asked;
    if (!valid(&copy.source, &copy) || !valid(&copy.destination, &copy))
        return CUDA_ERROR_INVALID_VALUE;
    if (copy.width_bytes == 0 || copy.height == 0 || copy.depth == 0)
        return CUDA_SUCCESS;
    if (copy_leads_elsewhere(context, &copy))
        return across(context, wire, &copy);
    bool pageable = copy_resolve(context, &copy);
    if (pageable && relay_stream_capturing(context, wire))
        return end == COPY_RETURNS_EARLY ? copy_captured_shaped(context, stream_of(context, wire), &copy)
                                         : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    CUresult result = !pageable ? copy_submit_shaped(context, wire, &copy)
                      : copy.source.memory_type == copy.destination.memory_type ? within_host(context, wire, &copy)
                                                                                : through_staging(context, wire, &copy);
    if (result != CUDA_SUCCESS)
        return result;
    relay_count(context->link, TESSERA_KIND_COPY);
    relay_stream_submitted(context, wire);
    bool waits = end == COPY_WAITS && (copy.source.memory_type == CU_MEMORYTYPE_HOST || is_pinned(&copy.source) ||
                                       is_pinned(&copy.destination));
    return waits ? relay_stream_wait(context, wire) : CUDA_SUCCESS;
}
