#include "copy_captured.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "callbacks.h"
#include "capture.h"
#include "holdings.h"
#include "streams.h"

/* What the host function of one captured copy works on. */
struct captured_copy {
    struct captured_copy *next; /* of those that no graph has any more */
    struct relay_link *link;
    struct relay_pinned pinned; /* none where both sides are the program's */
    void *to;
    const void *from;
    size_t bytes;
};

static void run(void *data)
{
    const struct captured_copy *copy = data;
    memmove(copy->to, copy->from, copy->bytes);
}

static struct captured_copy *unused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * No graph has it any more. To unpin memory can make the driver wait for work, and this may be called by a host function
 * that work waits for: the memory is kept for the next captured copy, or given back then.
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

/* Takes memory that is kept, and gives back what does not fit. */
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
            end(kept); /* the next copy of this graph may have it */
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
    struct relay_range range = {.start = (uintptr_t)pinned->address, .bytes = pinned->bytes, .kind = RELAY_RANGE_PINNED,
                                .link = link, .id = pinned->id};
    if (relay_range_add(&range))
        return CUDA_SUCCESS;
    relay_unpin(link, pinned);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Puts the host function into the capture, which owns the copy from here on, whatever this returns. */
static CUresult call(struct relay_context *context, struct stream *stream, struct captured_copy *copy)
{
    const struct callback callback = {.function = run, .released = end, .data = copy};
    uint64_t captured = capture_key(stream);
    int word = captured ? callback_prepare(context, &callback, true) : -1;
    if (word < 0) {
        end(copy);
        return captured ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (!holdings_add_word(captured, context->link, word)) {
        callback_release(context->link, word);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return relay_send_mark(context, TESSERA_RELAY_HOST_CALL, stream->handle, word, 0);
}

CUresult copy_captured(struct relay_context *context, struct stream *stream, struct copy_place to,
                       struct copy_place from, size_t bytes)
{
    bool to_pageable = to.kind == COPY_PAGEABLE, from_pageable = from.kind == COPY_PAGEABLE;
    CUresult result = capture_submit(stream);
    struct captured_copy *copy = result == CUDA_SUCCESS ? calloc(1, sizeof *copy) : NULL;
    if (!copy)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY;
    *copy = (struct captured_copy){.link = context->link, .to = (void *)(uintptr_t)to.at,
                                   .from = (const void *)(uintptr_t)from.at, .bytes = bytes};
    if (to_pageable && from_pageable)
        return call(context, stream, copy);
    result = pin(context->link, bytes, &copy->pinned);
    if (result != CUDA_SUCCESS) {
        free(copy);
        return result;
    }
    struct copy_place pinned = copy_device((uintptr_t)copy->pinned.address);
    if (from_pageable) {
        copy->to = copy->pinned.address;
        result = call(context, stream, copy);
        return result == CUDA_SUCCESS ? copy_submit(context, stream->handle, to, pinned, bytes) : result;
    }
    copy->from = copy->pinned.address;
    result = copy_submit(context, stream->handle, pinned, from, bytes);
    if (result != CUDA_SUCCESS) {
        end(copy);
        return result;
    }
    return call(context, stream, copy);
}
