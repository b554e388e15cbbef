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
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(struct context **)out = a->context;
        return OK;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)out = on_host(a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return OK;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)out = pointer;
        return OK;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!on_host(a) && !a->managed)
            return ERROR_INVALID_VALUE;
        *(void **)out = (void *)(uintptr_t)pointer;
        return OK;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(unsigned *)out = (unsigned)a->sync_operations;
        return OK;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *(uint64_t *)out = a->id;
        return OK;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)out = a->managed;
        return OK;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)out = a->device;
        return OK;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(unsigned *)out = a->kind == ALLOCATION_PLAIN && !a->managed;
        return OK;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(CUdeviceptr *)out = base;
        return OK;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)out = a->bytes;
        return OK;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned *)out = 1;
        return OK;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(uint64_t *)out = a->object ? (uint64_t)a->object->properties.requested_handle_types : 0;
        return OK;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(unsigned *)out = 0;
        return OK;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(int *)out = 3;
        return OK;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
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
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
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
    if (!a || !value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
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
                flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE
                    ? prefetch(target, pointer, bytes ? bytes : 1)
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
