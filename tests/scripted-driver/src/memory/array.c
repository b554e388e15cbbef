/* CUDA arrays as plain pitched storage, enough for allocation, accounting and copies. */
#include <stdlib.h>

#include "memory/array.h"
#include "entry.h"

static unsigned format_bytes(int format)
{
    switch (format) {
    case 0x01: /* unsigned and signed 8, 16, 32 bits; half and float */
    case 0x08:
        return 1;
    case 0x02:
    case 0x09:
    case 0x10:
        return 2;
    case 0x03:
    case 0x0a:
    case 0x20:
        return 4;
    default:
        return 0;
    }
}

struct allocation *array_storage(const struct array *a)
{
    struct allocation *storage = allocation_at(a->base);
    return storage && storage->id == a->storage_id ? storage : NULL;
}

static CUresult create(struct array **out, const struct array3d_descriptor *d)
{
    unsigned element = format_bytes(d->format) * d->channels;
    if (!out || element == 0 || d->channels > 4 || d->width == 0)
        return ERROR_INVALID_VALUE;
    struct array *a = calloc(1, sizeof *a);
    if (!a)
        return ERROR_OUT_OF_MEMORY;
    size_t height = d->height ? d->height : 1, depth = d->depth ? d->depth : 1;
    LOCKED;
    struct context *c;
    struct allocation *storage;
    CUresult error = context_current(&c);
    if (!error)
        error = memory_allocate(d->width * element * height * depth, ALLOCATION_ARRAY, false, c, &storage);
    if (error) {
        free(a);
        return error;
    }
    a->base = storage->base;
    a->storage_id = storage->id;
    a->descriptor = *d;
    a->pitch = d->width * element;
    a->slice = a->pitch * height;
    handle_add(HANDLE_ARRAY, a);
    *out = a;
    return OK;
}

EXPORT CUresult cuArrayCreate_v2(struct array **out, const struct array_descriptor *d)
{
    ENTER(cuArrayCreate_v2);
    if (!d)
        return ERROR_INVALID_VALUE;
    struct array3d_descriptor full = {d->width, d->height, 0, d->format, d->channels, 0};
    return create(out, &full);
}

EXPORT CUresult cuArray3DCreate_v2(struct array **out, const struct array3d_descriptor *d)
{
    ENTER(cuArray3DCreate_v2);
    return d ? create(out, d) : ERROR_INVALID_VALUE;
}

EXPORT CUresult cuArrayDestroy(struct array *a)
{
    ENTER(cuArrayDestroy);
    LOCKED;
    if (!handle_is(HANDLE_ARRAY, a))
        return ERROR_INVALID_HANDLE;
    struct allocation *storage = array_storage(a);
    if (storage) {
        context_wait(storage->context);
        memory_free(storage);
    }
    handle_drop(HANDLE_ARRAY, a);
    free(a);
    return OK;
}

EXPORT CUresult cuArrayGetDescriptor_v2(struct array_descriptor *out, struct array *a)
{
    ENTER(cuArrayGetDescriptor_v2);
    LOCKED;
    if (!out || !handle_is(HANDLE_ARRAY, a))
        return ERROR_INVALID_HANDLE;
    *out = (struct array_descriptor){a->descriptor.width, a->descriptor.height, a->descriptor.format,
                                     a->descriptor.channels};
    return OK;
}

EXPORT CUresult cuArray3DGetDescriptor_v2(struct array3d_descriptor *out, struct array *a)
{
    ENTER(cuArray3DGetDescriptor_v2);
    LOCKED;
    if (!out || !handle_is(HANDLE_ARRAY, a))
        return ERROR_INVALID_HANDLE;
    *out = a->descriptor;
    return OK;
}
