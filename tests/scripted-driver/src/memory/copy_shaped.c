/* Copies of two and three dimensions, between host memory, device memory and arrays. */
#include "memory/array.h"
#include "memory/copy.h"
#include "entry.h"

struct place {
    size_t x, y, z;
    int type;
    const void *host;
    CUdeviceptr device;
    struct array *array;
    size_t pitch, rows;
};

/* First byte, pitch and slice of one side. */
static CUresult locate(const struct place *p, size_t width, const unsigned char **base, size_t *pitch, size_t *slice,
                       enum side *side)
{
    const unsigned char *start;
    *pitch = p->pitch ? p->pitch : width;
    *slice = *pitch * (p->rows ? p->rows : 1);
    switch (p->type) {
    case CU_MEMORYTYPE_HOST:
        start = p->host;
        *side = SIDE_HOST;
        break;
    case CU_MEMORYTYPE_DEVICE:
        start = (const unsigned char *)(uintptr_t)p->device;
        *side = SIDE_DEVICE;
        break;
    case CU_MEMORYTYPE_UNIFIED:
        start = (const unsigned char *)(uintptr_t)p->device;
        *side = SIDE_ANY;
        break;
    case CU_MEMORYTYPE_ARRAY:
        if (!handle_is(HANDLE_ARRAY, p->array) || !array_storage(p->array))
            return ERROR_INVALID_HANDLE;
        start = (const unsigned char *)(uintptr_t)p->array->base;
        *pitch = p->array->pitch;
        *slice = p->array->slice;
        *side = SIDE_DEVICE;
        break;
    default:
        return ERROR_INVALID_VALUE;
    }
    if (*pitch < p->x + width)
        return ERROR_INVALID_VALUE;
    *base = start + p->z * *slice + p->y * *pitch + p->x;
    return OK;
}

static CUresult shape(const struct place *to, const struct place *from, size_t width, size_t height, size_t depth,
                      struct copy_request *r)
{
    const unsigned char *target;
    *r = (struct copy_request){.shape = {.width = width, .height = height, .depth = depth}};
    CUresult error = locate(to, width, &target, &r->shape.target_pitch, &r->shape.target_slice, &r->target);
    if (!error)
        error = locate(from, width, &r->shape.source, &r->shape.source_pitch, &r->shape.source_slice, &r->source);
    r->shape.target = (unsigned char *)(uintptr_t)target;
    return error;
}

CUresult copy_shape_2d(const struct copy_2d *c, struct copy_request *r)
{
    struct place from = {c->source_x,     c->source_y,     0,        c->source_type, c->source_host, c->source_device,
                         c->source_array, c->source_pitch, c->height};
    struct place to = {c->target_x,     c->target_y,     0,        c->target_type, c->target_host, c->target_device,
                       c->target_array, c->target_pitch, c->height};
    return shape(&to, &from, c->width, c->height, 1, r);
}

CUresult copy_shape_3d(const struct copy_3d *c, struct copy_request *r)
{
    struct place from = {c->source_x,     c->source_y,     c->source_z,
                         c->source_type,  c->source_host,  c->source_device,
                         c->source_array, c->source_pitch, c->source_height ? c->source_height : c->height};
    struct place to = {c->target_x,     c->target_y,     c->target_z,
                       c->target_type,  c->target_host,  c->target_device,
                       c->target_array, c->target_pitch, c->target_height ? c->target_height : c->height};
    return shape(&to, &from, c->width, c->height, c->depth, r);
}

/* The synchronous forms wait where the host's memory is involved, as the linear ones do. */
static CUresult submit(struct stream *s, CUresult error, struct copy_request *r, bool synchronous)
{
    r->synchronous = synchronous && (r->target != SIDE_DEVICE || r->source != SIDE_DEVICE);
    return error ? error : copy_submit(s, r);
}

static CUresult copy_2d(struct stream *s, const struct copy_2d *c, bool synchronous)
{
    struct copy_request r;
    CUresult error;
    if (!c)
        return ERROR_INVALID_VALUE;
    {
        LOCKED;
        error = copy_shape_2d(c, &r);
    }
    return submit(s, error, &r, synchronous);
}

static CUresult copy_3d(struct stream *s, const struct copy_3d *c, bool synchronous)
{
    struct copy_request r;
    CUresult error;
    if (!c)
        return ERROR_INVALID_VALUE;
    {
        LOCKED;
        error = copy_shape_3d(c, &r);
    }
    return submit(s, error, &r, synchronous);
}

DEFAULT_SUBMISSION_PAIR(cuMemcpy2D_v2, (const struct copy_2d *copy), copy_2d(target, copy, true))
DEFAULT_SUBMISSION_PAIR(cuMemcpy2DUnaligned_v2, (const struct copy_2d *copy), copy_2d(target, copy, true))
SUBMISSION_PAIR(cuMemcpy2DAsync_v2, (const struct copy_2d *copy, void *stream), copy_2d(target, copy, false))
DEFAULT_SUBMISSION_PAIR(cuMemcpy3D_v2, (const struct copy_3d *copy), copy_3d(target, copy, true))
SUBMISSION_PAIR(cuMemcpy3DAsync_v2, (const struct copy_3d *copy, void *stream), copy_3d(target, copy, false))
DEFAULT_SUBMISSION_PAIR(cuMemcpy3DPeer, (const struct copy_3d *copy), copy_3d(target, copy, true))
SUBMISSION_PAIR(cuMemcpy3DPeerAsync, (const struct copy_3d *copy, void *stream), copy_3d(target, copy, false))

/* Linear forms to and from arrays: an offset in bytes into the first row. */
static CUresult array_copy(struct stream *s, struct array *to, CUdeviceptr to_pointer, size_t to_offset,
                           struct array *from, CUdeviceptr from_pointer, size_t from_offset, size_t bytes, bool wait)
{
    struct copy_2d c = {
        .source_x = from ? from_offset : 0,
        .source_type = from ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
        .source_device = from_pointer,
        .source_array = from,
        .source_pitch = bytes,
        .target_x = to ? to_offset : 0,
        .target_type = to ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
        .target_device = to_pointer,
        .target_array = to,
        .target_pitch = bytes,
        .width = bytes,
        .height = 1,
    };
    return copy_2d(s, &c, wait);
}

#define TO_POINTER(host) ((CUdeviceptr)(uintptr_t)(host))

DEFAULT_SUBMISSION_PAIR(cuMemcpyHtoA_v2, (struct array * to, size_t offset, const void *from, size_t bytes),
                        array_copy(target, to, 0, offset, NULL, TO_POINTER(from), 0, bytes, true))
DEFAULT_SUBMISSION_PAIR(cuMemcpyAtoH_v2, (void *to, struct array *from, size_t offset, size_t bytes),
                        array_copy(target, NULL, TO_POINTER(to), 0, from, 0, offset, bytes, true))
DEFAULT_SUBMISSION_PAIR(cuMemcpyDtoA_v2, (struct array * to, size_t offset, CUdeviceptr from, size_t bytes),
                        array_copy(target, to, 0, offset, NULL, from, 0, bytes, false))
DEFAULT_SUBMISSION_PAIR(cuMemcpyAtoD_v2, (CUdeviceptr to, struct array *from, size_t offset, size_t bytes),
                        array_copy(target, NULL, to, 0, from, 0, offset, bytes, false))
SUBMISSION_PAIR(cuMemcpyHtoAAsync_v2, (struct array * to, size_t offset, const void *from, size_t bytes, void *stream),
                array_copy(target, to, 0, offset, NULL, TO_POINTER(from), 0, bytes, false))
SUBMISSION_PAIR(cuMemcpyAtoHAsync_v2, (void *to, struct array *from, size_t offset, size_t bytes, void *stream),
                array_copy(target, NULL, TO_POINTER(to), 0, from, 0, offset, bytes, false))
