#include "relay/copies/copy_submit.h"

#include "relay/memory/range.h"
#include "relay/wire/message.h"

/* CUDA_MEMCPY2D */
struct plane_side {
    uint64_t x_bytes, y;
    uint32_t memory_type, pad;
    uint64_t host, device, array, pitch;
};
struct plane {
    struct plane_side source, destination;
    uint64_t width_bytes, height;
};
_Static_assert(sizeof(struct plane) == 128, "CUDA_MEMCPY2D");

bool copy_known(const struct relay_link *link, uint64_t address, size_t bytes)
{
    struct relay_range range;
    uint64_t end = address + bytes;
    bool mapped = true;
    /* Mappings may lie side by side, and a copy may span them. */
    while (end >= address && mapped && relay_range_find(address, &range) && range.link == link &&
           range.kind != RELAY_RANGE_REGISTERED && range.kind != RELAY_RANGE_RESERVED) {
        address = range.start + range.bytes;
        if (address >= end)
            return true;
        mapped = range.kind == RELAY_RANGE_MAPPED;
    }
    return bytes == 0;
}

struct copy_place copy_host(const struct relay_context *context, const void *address, size_t bytes)
{
    uint64_t at = (uintptr_t)address;
    return (struct copy_place){copy_known(context->link, at, bytes) ? COPY_ADDRESS : COPY_PAGEABLE, at, NULL};
}

static struct plane_side plane_side(struct copy_place place)
{
    if (place.kind == COPY_ARRAY)
        return (struct plane_side){
            .x_bytes = place.at, .memory_type = CU_MEMORYTYPE_ARRAY, .array = (uintptr_t)place.array};
    return (struct plane_side){.memory_type = CU_MEMORYTYPE_DEVICE, .device = place.at};
}

CUresult copy_submit(struct relay_context *context, uint64_t wire, struct copy_place to, struct copy_place from,
                     size_t bytes)
{
    if (to.kind == COPY_ARRAY || from.kind == COPY_ARRAY) {
        struct plane plane = {plane_side(from), plane_side(to), bytes, 1};
        return MESSAGE_POST(context, ENTRY_cuMemcpy2DAsync_v2, IN(&plane, sizeof plane), VALUE(wire));
    }
    if (copy_known(context->link, to.at, bytes) && copy_known(context->link, from.at, bytes))
        return MESSAGE_POST(context, ENTRY_cuMemcpyAsync, VALUE(to.at), VALUE(from.at), VALUE(bytes), VALUE(wire));
    return MESSAGE_CALL(context, ENTRY_cuMemcpyAsync, VALUE(to.at), VALUE(from.at), VALUE(bytes), VALUE(wire));
}
