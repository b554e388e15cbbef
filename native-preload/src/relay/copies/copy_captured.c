#include "relay/copies/copy_captured.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "relay/copies/copy_shaped_submit.h"
#include "relay/memory/pinned.h"
#include "relay/memory/range.h"
#include "relay/streams/capture.h"
#include "relay/streams/graph_references.h"
#include "relay/streams/streams.h"

/* The argument of the host function of one captured copy. */
struct captured_copy {
    struct captured_copy *next; /* in the list of copies that no graph owns any more */
    struct relay_link *link;
    struct relay_pinned pinned; /* none if both sides are the program's memory */
    struct layout_copy rows;    /* between the program's memory and the pinned memory, whose rows have no gaps */
};

static void run(void *data)
{
    const struct captured_copy *copy = data;
    copy_rows(&copy->rows);
}

static struct captured_copy *unused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * No graph owns the copy any more. Its pinned memory is kept for the next captured copy, which uses or frees it.
 * Freeing it here could deadlock: unpinning can make the driver wait for work, and that work may wait for the host
 * function that calls this.
 */
static void end(void *data)
{
    struct captured_copy *copy = data;
    if (!copy->pinned.address) {
        free(copy);
        return;
    }
    pthread_mutex_lock(&lock);
    copy->next = unused;
    unused = copy;
    pthread_mutex_unlock(&lock);
}

/* Memory that is kept and large enough, but not much too large. */
static bool fits(const struct captured_copy *copy, const struct relay_link *link, size_t bytes)
{
    return copy->link == link && copy->pinned.bytes >= bytes && copy->pinned.bytes / 4 <= bytes;
}

/* Takes kept memory that fits, and frees memory that does not. */
static bool take_unused(const struct relay_link *link, size_t bytes, struct relay_pinned *pinned)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    struct captured_copy *kept = unused;
    unused = NULL;
    pthread_mutex_unlock(&lock);
    while (kept) {
        struct captured_copy *next = kept->next;
        if (!found && fits(kept, link, bytes)) {
            *pinned = kept->pinned;
            found = true;
            free(kept);
        } else if (fits(kept, link, bytes)) {
            end(kept); /* the next copy of this graph may use it */
        } else {
            relay_range_remove((uintptr_t)kept->pinned.address, RELAY_RANGE_PINNED, NULL);
            relay_unpin(kept->link, &kept->pinned);
            free(kept);
        }
        kept = next;
    }
    return found;
}

/* Pinned memory that copies may name. */
static CUresult pin(struct relay_link *link, size_t bytes, struct relay_pinned *pinned)
{
    if (take_unused(link, bytes, pinned))
        return CUDA_SUCCESS;
    CUresult result = relay_pin(link, bytes, pinned);
    if (result != CUDA_SUCCESS)
        return result;
    struct relay_range range = {.start = (uintptr_t)pinned->address,
                                .bytes = pinned->bytes,
                                .kind = RELAY_RANGE_PINNED,
                                .link = link,
                                .id = pinned->id};
    if (relay_range_add(&range))
        return CUDA_SUCCESS;
    relay_unpin(link, pinned);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Adds the host function to the capture. The capture owns the copy from here on, also after an error. */
static CUresult call(struct relay_context *context, struct stream *stream, struct captured_copy *copy)
{
    const struct callback callback = captured_copy_callback(copy);
    uint64_t captured = capture_key(stream);
    int word = captured ? callback_prepare(context, &callback, true) : -1;
    if (word < 0) {
        end(copy);
        return captured ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (!graph_references_add_word(captured, context->link, word)) {
        callback_release(context->link, word);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return relay_send_mark(context, TESSERA_RELAY_HOST_CALL, stream->handle, word, 0);
}

/* The intermediate copy: pinned memory, in which rows lie without gaps. */
static struct layout_copy_side packed_side(const struct captured_copy *copy, const struct layout_copy *shape)
{
    return (struct layout_copy_side){.memory_type = CU_MEMORYTYPE_DEVICE,
                                     .device = (uintptr_t)copy->pinned.address,
                                     .pitch = shape->width_bytes,
                                     .height = shape->height};
}

static bool is_one_row(const struct layout_copy_side *side)
{
    return side->memory_type == CU_MEMORYTYPE_DEVICE && side->y == 0 && side->z == 0;
}

/* Sends a copy of one row as a linear copy: a driver could find its pitch too large. */
static CUresult submit(struct relay_context *context, struct stream *stream, const struct layout_copy *copy)
{
    const struct layout_copy_side *to = &copy->destination, *from = &copy->source;
    if (copy->height != 1 || copy->depth != 1 || !is_one_row(to) || !is_one_row(from))
        return copy_submit_shaped(context, stream->handle, copy);
    return copy_submit(context, stream->handle, copy_device(to->device + to->x_bytes),
                       copy_device(from->device + from->x_bytes), copy->width_bytes);
}

CUresult captured_copy_make(struct relay_context *context, const struct layout_copy *shape, struct captured_copy **made,
                            struct layout_copy *device, enum captured_order *order)
{
    bool to_host = shape->destination.memory_type == CU_MEMORYTYPE_HOST;
    bool from_host = shape->source.memory_type == CU_MEMORYTYPE_HOST;
    struct captured_copy *copy = calloc(1, sizeof *copy);
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    copy->link = context->link;
    copy->rows = *device = *shape;
    *order = to_host && from_host ? CAPTURED_ALONE : from_host ? CAPTURED_BEFORE : CAPTURED_BEHIND;
    *made = copy;
    if (*order == CAPTURED_ALONE)
        return CUDA_SUCCESS;
    CUresult result = pin(context->link, shape->width_bytes * shape->height * shape->depth, &copy->pinned);
    if (result != CUDA_SUCCESS)
        free(copy);
    else if (from_host)
        copy->rows.destination = device->source = packed_side(copy, shape);
    else
        copy->rows.source = device->destination = packed_side(copy, shape);
    return result;
}

struct callback captured_copy_callback(struct captured_copy *copy)
{
    return (struct callback){.function = run, .released = end, .data = copy};
}

const struct layout_copy *captured_copy_rows(const struct callback *callback)
{
    return callback->function == run ? &((const struct captured_copy *)callback->data)->rows : NULL;
}

CUresult copy_captured_shaped(struct relay_context *context, struct stream *stream, const struct layout_copy *shape)
{
    struct captured_copy *copy;
    struct layout_copy device;
    enum captured_order order;
    CUresult result = capture_submit(stream);
    if (result == CUDA_SUCCESS)
        result = captured_copy_make(context, shape, &copy, &device, &order);
    if (result != CUDA_SUCCESS)
        return result;
    if (order != CAPTURED_BEHIND) {
        result = call(context, stream, copy);
        return result == CUDA_SUCCESS && order == CAPTURED_BEFORE ? submit(context, stream, &device) : result;
    }
    result = submit(context, stream, &device);
    if (result != CUDA_SUCCESS) {
        end(copy);
        return result;
    }
    return call(context, stream, copy);
}

static struct layout_copy_side side_of(struct copy_place place)
{
    if (place.kind == COPY_ARRAY)
        return (struct layout_copy_side){
            .x_bytes = place.at, .memory_type = CU_MEMORYTYPE_ARRAY, .array = (uintptr_t)place.array};
    return (struct layout_copy_side){
        .memory_type = place.kind == COPY_PAGEABLE ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE, .device = place.at};
}

CUresult copy_captured(struct relay_context *context, struct stream *stream, struct copy_place to,
                       struct copy_place from, size_t bytes)
{
    const struct layout_copy copy = {side_of(from), side_of(to), bytes, 1, 1};
    return copy_captured_shaped(context, stream, &copy);
}
