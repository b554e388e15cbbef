/* What is known of a pointer. */
#include "entry.h"
#include "memory/memory.h"
#include "streams/stream.h"

static bool on_host(const struct allocation *a)
{
    return a->kind == ALLOCATION_HOST || a->kind == ALLOCATION_REGISTERED;
}

static CUresult attribute_of(const struct allocation *a, CUdeviceptr pointer, int attribute, void *out)
{
    CUdeviceptr base = a->base;
    switch (attribute) {
    case 1:
        *(struct context **)out = a->context;
        return OK;
    case 2:
        *(unsigned *)out = on_host(a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return OK;
    case 3:
        *(CUdeviceptr *)out = pointer;
        return OK;
    case 4:
        if (!on_host(a) && !a->managed)
            return ERROR_INVALID_VALUE;
        *(void **)out = (void *)(uintptr_t)pointer;
        return OK;
    case 6:
        *(unsigned *)out = (unsigned)a->sync_operations;
        return OK;
    case 7:
    case 20:
        *(uint64_t *)out = a->id;
        return OK;
    case 8:
        *(unsigned *)out = a->managed;
        return OK;
    case 9:
        *(int *)out = a->device;
        return OK;
    case 10:
        *(unsigned *)out = a->kind == ALLOCATION_PLAIN && !a->managed;
        return OK;
    case 11:
    case 19:
        *(CUdeviceptr *)out = base;
        return OK;
    case 12:
    case 18:
        *(size_t *)out = a->bytes;
        return OK;
    case 13:
        *(unsigned *)out = 1;
        return OK;
    case 14:
        *(uint64_t *)out = a->object ? (uint64_t)a->object->properties.requested_handle_types : 0;
        return OK;
    case 15:
        *(unsigned *)out = 0;
        return OK;
    case 16:
        *(int *)out = 3;
        return OK;
    case 17:
        *(struct pool **)out = a->pool;
        return OK;
    default:
        return ERROR_INVALID_VALUE;
    }
}

EXPORT CUresult cuPointerGetAttribute(void *out, int attribute, CUdeviceptr pointer)
{
    ENTER(cuPointerGetAttribute);
    LOCKED;
    const struct allocation *a = allocation_of(pointer);
    return out && a ? attribute_of(a, pointer, attribute, out) : ERROR_INVALID_VALUE;
}

/* Bytes of an attribute's value. */
static size_t attribute_bytes(int attribute)
{
    switch (attribute) {
    case 2:
    case 6:
    case 8:
    case 9:
    case 10:
    case 13:
    case 15:
    case 16:
        return 4;
    default:
        return 8;
    }
}

/* Succeeds for any pointer: what it does not know is 0, and the ordinal of unknown memory is -2. */
EXPORT CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **out, CUdeviceptr pointer)
{
    ENTER(cuPointerGetAttributes);
    LOCKED;
    if (!attributes || !out)
        return ERROR_INVALID_VALUE;
    const struct allocation *a = allocation_of(pointer);
    for (unsigned i = 0; i < count; i++) {
        if (attributes[i] < 1 || attributes[i] > 20 || attributes[i] == 5)
            return ERROR_INVALID_VALUE;
        if (a && attribute_of(a, pointer, attributes[i], out[i]) == OK)
            continue;
        if (attribute_bytes(attributes[i]) == 4)
            *(int *)out[i] = attributes[i] == 9 ? -2 : 0;
        else
            *(uint64_t *)out[i] = 0;
    }
    return OK;
}

EXPORT CUresult cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr pointer)
{
    ENTER(cuPointerSetAttribute);
    LOCKED;
    struct allocation *a = allocation_of(pointer);
    if (!a || !value || attribute != 6)
        return ERROR_INVALID_VALUE;
    a->sync_operations = *(const int *)value != 0;
    return OK;
}

EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer)
{
    ENTER(cuMemGetAddressRange_v2);
    LOCKED;
    const struct allocation *a = allocation_of(pointer);
    if (!a || on_host(a))
        return ERROR_NOT_FOUND;
    if (base)
        *base = a->base;
    if (bytes)
        *bytes = a->bytes;
    return OK;
}

static CUresult prefetch(struct stream *s, CUdeviceptr pointer, size_t bytes)
{
    LOCKED;
    const struct allocation *a = allocation_of(pointer);
    if (!a || !a->managed || pointer + bytes > a->base + a->bytes || bytes == 0)
        return ERROR_INVALID_VALUE;
    struct work *w = work_new(WORK_NOTHING);
    w->duration_ns = script.copy_ns;
    return stream_submit(s, w);
}

/* Managed memory is always resident here; a prefetch is work that takes the time of a copy. */
SUBMISSION_PAIR(cuMemPrefetchAsync, (CUdeviceptr pointer, size_t bytes, CUdevice device, void *stream),
                device >= -1 && device < script.devices ? prefetch(target, pointer, bytes) : ERROR_INVALID_DEVICE)
SUBMISSION_PAIR(cuMemPrefetchAsync_v2,
                (CUdeviceptr pointer, size_t bytes, struct location location, unsigned flags, void *stream),
                flags == 0 && location.type > 0 ? prefetch(target, pointer, bytes) : ERROR_INVALID_VALUE)
SUBMISSION_PAIR(cuStreamAttachMemAsync, (void *stream, CUdeviceptr pointer, size_t bytes, unsigned flags),
                flags == 1 || flags == 2 || flags == 4 ? prefetch(target, pointer, bytes ? bytes : 1)
                                                       : ERROR_INVALID_VALUE)

static CUresult advise(CUdeviceptr pointer, size_t bytes, int advice)
{
    LOCKED;
    const struct allocation *a = allocation_of(pointer);
    if (!a || !a->managed || pointer + bytes > a->base + a->bytes || advice < 1 || advice > 6)
        return ERROR_INVALID_VALUE;
    return OK;
}

EXPORT CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, int advice, CUdevice device)
{
    ENTER(cuMemAdvise);
    (void)device;
    return advise(pointer, bytes, advice);
}

EXPORT CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t bytes, int advice, struct location location)
{
    ENTER(cuMemAdvise_v2);
    (void)location;
    return advise(pointer, bytes, advice);
}
