/* The driver's copies in two and three dimensions, and in batches. */
#include <string.h>

#include "relay/copies/copy_shaped.h"
#include "relay/streams/streams.h"
#include "relay/wire/message.h"
#include "relay/wire/unsupported.h"
#include "relay_stubs.h"

/* CUDA_MEMCPY3D_PEER: as CUDA_MEMCPY3D, with a context where that has a reserved field. */
static CUresult contexts_of(const struct layout_copy *copy, const struct relay_context *current)
{
    const struct layout_copy_side *sides[] = {&copy->source, &copy->destination};
    for (unsigned i = 0; i < 2; i++) {
        const struct relay_context *context = relay_context_of((CUcontext)(uintptr_t)sides[i]->reserved);
        if (!context)
            return CUDA_ERROR_INVALID_CONTEXT;
        if (context->link != current->link && sides[i]->memory_type == CU_MEMORYTYPE_ARRAY)
            return relay_unsupported("cuMemcpy3DPeer", "an array of another device");
    }
    return CUDA_SUCCESS;
}

enum shape { PLANE, BOX, PEER_BOX };

static CUresult shaped(const void *structure, enum shape shape, CUstream stream, bool per_thread, enum copy_end end)
{
    struct relay_context *context;
    struct layout_copy copy;
    uint64_t wire;
    CUresult result = relay_enter(&context);
    if (result == CUDA_SUCCESS)
        result = relay_stream_wire(context, stream, per_thread, &wire);
    if (result != CUDA_SUCCESS)
        return result;
    if (!structure)
        return CUDA_ERROR_INVALID_VALUE;
    if (shape == PLANE)
        copy = copy_of_plane(structure);
    else
        memcpy(&copy, structure, sizeof copy);
    if (shape == PEER_BOX)
        result = contexts_of(&copy, context);
    copy.source.reserved = copy.destination.reserved = 0;
    return result == CUDA_SUCCESS ? copy_shaped(context, wire, &copy, end) : result;
}

#define TWINS(name, shape)                                                                                             \
    CUresult relay_##name(const void *copy)                                                                            \
    {                                                                                                                  \
        return shaped(copy, shape, NULL, false, COPY_WAITS);                                                           \
    }                                                                                                                  \
    CUresult relay_##name##_ptds(const void *copy)                                                                     \
    {                                                                                                                  \
        return shaped(copy, shape, NULL, true, COPY_WAITS);                                                            \
    }

TWINS(cuMemcpy2D_v2, PLANE)
TWINS(cuMemcpy2DUnaligned_v2, PLANE)
TWINS(cuMemcpy3D_v2, BOX)
TWINS(cuMemcpy3DPeer, PEER_BOX)

CUresult relay_cuMemcpy2DAsync_v2(const void *copy, CUstream stream)
{
    return shaped(copy, PLANE, stream, false, COPY_RETURNS_EARLY);
}

CUresult relay_cuMemcpy3DAsync_v2(const void *copy, CUstream stream)
{
    return shaped(copy, BOX, stream, false, COPY_RETURNS_EARLY);
}

CUresult relay_cuMemcpy3DPeerAsync(const void *copy, CUstream stream)
{
    return shaped(copy, PEER_BOX, stream, false, COPY_RETURNS_EARLY);
}

/* The checks at the beginning of a batch. `valid`: the batch is not empty. Its stream must not be a default stream. */
static CUresult enter_batch(bool valid, CUstream stream, struct relay_context **context, uint64_t *wire)
{
    CUresult result = relay_enter(context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!valid || !stream || (uintptr_t)stream == TESSERA_STREAM_LEGACY)
        return CUDA_ERROR_INVALID_VALUE;
    return relay_stream_wire(*context, stream, false, wire);
}

/*
 * Copies of a batch are independent of each other, so the order of the stream is correct for them. The attributes are
 * not needed: the map of ranges knows the kinds of addresses, and staging reads sources at once.
 */
static CUresult batch(CUdeviceptr *to, CUdeviceptr *from, const size_t *bytes, size_t count, size_t *failed,
                      CUstream stream)
{
    struct relay_context *context;
    uint64_t wire;
    CUresult result = enter_batch(to && from && bytes && count != 0, stream, &context, &wire);
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++) {
        result = copy_linear(context, wire, copy_host(context, (void *)(uintptr_t)to[i], bytes[i]),
                             copy_host(context, (void *)(uintptr_t)from[i], bytes[i]), bytes[i], COPY_RETURNS_EARLY);
        if (result != CUDA_SUCCESS && failed)
            *failed = i;
    }
    return result;
}

CUresult relay_cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count, void *attributes,
                                  size_t *indices, size_t attribute_count, size_t *failed, CUstream stream)
{
    (void)attributes;
    (void)indices;
    (void)attribute_count;
    return batch(to, from, bytes, count, failed, stream);
}

CUresult relay_cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count, void *attributes,
                                     size_t *indices, size_t attribute_count, CUstream stream)
{
    (void)attributes;
    (void)indices;
    (void)attribute_count;
    return batch(to, from, bytes, count, NULL, stream);
}

/* CUDA_ARRAY3D_DESCRIPTOR */
struct array_descriptor {
    uint64_t extent[3];
    uint32_t format, channels, flags, pad;
};

/* Bytes of an element of an array (CUarray_format): 0 where it has none of its own. */
static uint64_t element_bytes(const struct array_descriptor *array)
{
    switch (array->format) {
    case 0x01:
    case 0x08:
        return array->channels;
    case 0x02:
    case 0x09:
    case 0x10:
        return 2ull * array->channels;
    case 0x03:
    case 0x0a:
    case 0x20:
        return 4ull * array->channels;
    default:
        return 0;
    }
}

static bool holds(const struct array_descriptor *array, const struct layout_operand *operand,
                  const struct layout_box_copy *box)
{
    const uint64_t offset[] = {operand->row_length, operand->layer_height, operand->hint};
    const uint64_t size[] = {box->width, box->height, box->depth};
    for (unsigned i = 0; i < 3; i++) {
        uint64_t extent = array->extent[i] ? array->extent[i] : 1;
        if (offset[i] > extent || size[i] > extent - offset[i])
            return false;
    }
    return true;
}

/* An element between two addresses is a byte; if an array takes part, it is the array's element. */
static CUresult elements_of(struct relay_context *context, const struct layout_box_copy *box, uint64_t *bytes)
{
    const struct layout_operand *operands[] = {&box->source, &box->destination};
    *bytes = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (operands[i]->type == CU_MEMCPY_OPERAND_TYPE_POINTER)
            continue;
        if (operands[i]->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
            return CUDA_ERROR_INVALID_VALUE;
        struct array_descriptor array = {0};
        CUresult result = MESSAGE_CALL(context, ENTRY_cuArray3DGetDescriptor_v2, OUT(&array, sizeof array),
                                       VALUE(operands[i]->at));
        if (result != CUDA_SUCCESS)
            return result;
        uint64_t own = element_bytes(&array);
        if (own == 0)
            return relay_unsupported("cuMemcpy3DBatchAsync", "arrays of blocks, planes or named channels in batches");
        if ((*bytes != 0 && *bytes != own) || !holds(&array, operands[i], box))
            return CUDA_ERROR_INVALID_VALUE;
        *bytes = own;
    }
    if (*bytes == 0)
        *bytes = 1;
    return CUDA_SUCCESS;
}

/* A length of 0 says that rows or layers lie without gaps. An array's other numbers are an offset. */
static struct layout_copy_side side_of(const struct layout_operand *operand, const struct layout_box_copy *box,
                                       uint64_t element)
{
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return (struct layout_copy_side){.memory_type = CU_MEMORYTYPE_ARRAY,
                                         .array = operand->at,
                                         .x_bytes = operand->row_length * element,
                                         .y = operand->layer_height,
                                         .z = operand->hint};
    return (struct layout_copy_side){.memory_type = CU_MEMORYTYPE_UNIFIED,
                                     .device = operand->at,
                                     .pitch = (operand->row_length ? operand->row_length : box->width) * element,
                                     .height = operand->layer_height ? operand->layer_height : box->height};
}

static CUresult copy_box(struct relay_context *context, uint64_t wire, const struct layout_box_copy *box)
{
    if (box->width == 0 || box->height == 0 || box->depth == 0)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t element;
    CUresult result = elements_of(context, box, &element);
    if (result != CUDA_SUCCESS)
        return result;
    const struct layout_copy copy = {.source = side_of(&box->source, box, element),
                                     .destination = side_of(&box->destination, box, element),
                                     .width_bytes = box->width * element,
                                     .height = box->height,
                                     .depth = box->depth};
    return copy_shaped(context, wire, &copy, COPY_RETURNS_EARLY);
}

static CUresult boxes(size_t count, const struct layout_box_copy *box, size_t *failed, unsigned long long flags,
                      CUstream stream)
{
    struct relay_context *context;
    uint64_t wire;
    CUresult result = enter_batch(box && count != 0 && flags == 0, stream, &context, &wire);
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++) {
        result = copy_box(context, wire, &box[i]);
        if (result != CUDA_SUCCESS && failed)
            *failed = i;
    }
    return result;
}

CUresult relay_cuMemcpy3DBatchAsync(size_t count, void *operations, size_t *failed, unsigned long long flags,
                                    CUstream stream)
{
    return boxes(count, operations, failed, flags, stream);
}

CUresult relay_cuMemcpy3DBatchAsync_v2(size_t count, void *operations, unsigned long long flags, CUstream stream)
{
    return boxes(count, operations, NULL, flags, stream);
}
