#include "relay/copies/copy_shaped_submit.h"

#include <string.h>

#include "relay/copies/copy_submit.h"
#include "relay/memory/range.h"
#include "relay/wire/message.h"

/* CUDA_MEMCPY2D: a side is 56 bytes, then width and height. */
struct plane_side {
    uint64_t x_bytes, y;
    uint32_t memory_type, pad;
    uint64_t host, device, array, pitch;
};

static struct layout_copy_side side_of_plane(const struct plane_side *side)
{
    return (struct layout_copy_side){.x_bytes = side->x_bytes,
                                     .y = side->y,
                                     .memory_type = side->memory_type,
                                     .host = side->host,
                                     .device = side->device,
                                     .array = side->array,
                                     .pitch = side->pitch};
}

struct layout_copy copy_of_plane(const void *plane)
{
    struct plane_side sides[2];
    uint64_t extent[2];
    memcpy(sides, plane, sizeof sides);
    memcpy(extent, (const char *)plane + sizeof sides, sizeof extent);
    return (struct layout_copy){side_of_plane(&sides[0]), side_of_plane(&sides[1]), extent[0], extent[1], 1};
}

static uint64_t pitch_of(const struct layout_copy_side *side, const struct layout_copy *copy)
{
    return side->pitch ? side->pitch : side->x_bytes + copy->width_bytes;
}

static uint64_t slice_of(const struct layout_copy_side *side, const struct layout_copy *copy)
{
    return pitch_of(side, copy) * (side->height ? side->height : side->y + copy->height);
}

uint64_t copy_row(const struct layout_copy_side *side, const struct layout_copy *copy, uint64_t y, uint64_t z)
{
    return side->device + (side->z + z) * slice_of(side, copy) + (side->y + y) * pitch_of(side, copy) + side->x_bytes;
}

/* Memory that is pinned for another device is pageable memory for this one. */
static bool pinned_elsewhere(const struct relay_context *context, uint64_t address)
{
    struct relay_range range;
    return relay_link_count > 1 && relay_range_find(address, &range) && !relay_range_device_side(&range) &&
           range.link != context->link;
}

static void resolve_side(const struct relay_context *context, struct layout_copy_side *side,
                         const struct layout_copy *copy)
{
    if (side->memory_type == CU_MEMORYTYPE_ARRAY ||
        (side->memory_type == CU_MEMORYTYPE_DEVICE && !pinned_elsewhere(context, copy_row(side, copy, 0, 0))))
        return;
    if (side->memory_type == CU_MEMORYTYPE_HOST)
        side->device = side->host;
    uint64_t first = copy_row(side, copy, 0, 0);
    uint64_t last = copy_row(side, copy, copy->height - 1, copy->depth - 1) + copy->width_bytes;
    side->memory_type = copy_known(context->link, first, last - first) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    side->host = 0;
}

bool copy_resolve(const struct relay_context *context, struct layout_copy *copy)
{
    if (copy->width_bytes == 0 || copy->height == 0 || copy->depth == 0)
        return false;
    resolve_side(context, &copy->source, copy);
    resolve_side(context, &copy->destination, copy);
    return copy->source.memory_type == CU_MEMORYTYPE_HOST || copy->destination.memory_type == CU_MEMORYTYPE_HOST;
}

CUresult copy_submit_shaped(struct relay_context *context, uint64_t wire, const struct layout_copy *copy)
{
    return MESSAGE_POST(context, ENTRY_cuMemcpy3DAsync_v2, IN(copy, sizeof *copy), VALUE(wire));
}

struct layout_copy_side copy_whole_side(struct layout_copy_side side, const struct layout_copy *copy)
{
    if (side.memory_type != CU_MEMORYTYPE_ARRAY) {
        uint64_t pitch = pitch_of(&side, copy);
        side.height = slice_of(&side, copy) / pitch;
        side.pitch = pitch;
    }
    return side;
}

void copy_rows(const struct layout_copy *copy)
{
    for (uint64_t z = 0; z < copy->depth; z++)
        for (uint64_t y = 0; y < copy->height; y++)
            memmove((void *)(uintptr_t)copy_row(&copy->destination, copy, y, z),
                    (const void *)(uintptr_t)copy_row(&copy->source, copy, y, z), copy->width_bytes);
}
