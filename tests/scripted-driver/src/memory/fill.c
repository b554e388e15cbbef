/* Memsets, and values written and waited for by streams. */
#include "memory/copy.h"
#include "entry.h"
#include "memory/memory.h"

static bool valid(const struct fill_shape *f)
{
    bool host;
    size_t row = f->width * f->element_bytes;
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)f->target;
    if (f->element_bytes == 0 || address % f->element_bytes || f->height == 0 || (f->height > 1 && f->pitch < row))
        return false;
    size_t bytes = (f->height - 1) * f->pitch + row;
    if (!memory_reachable(address, bytes, &host))
        return false;
    return !host || allocation_of(address); /* pinned memory can be set as well */
}

CUresult fill_work(const struct fill_shape *shape, struct work **work)
{
    if (!valid(shape))
        return ERROR_INVALID_VALUE;
    struct work *w = work_new(WORK_FILL);
    w->as.fill = *shape;
    w->duration_ns = script.copy_ns;
    *work = w;
    return OK;
}

static CUresult fill(struct stream *s, CUdeviceptr to, size_t pitch, unsigned element, unsigned value, size_t width,
                     size_t height)
{
    if (width == 0 || height == 0)
        return OK;
    LOCKED;
    struct fill_shape shape = {(void *)(uintptr_t)to, pitch, width, height, element, value};
    struct work *w;
    CUresult error = fill_work(&shape, &w);
    return error ? error : stream_submit(s, w);
}

#define FILLS(bits, type)                                                                                              \
    DEFAULT_SUBMISSION_PAIR(cuMemsetD##bits##_v2, (CUdeviceptr to, type value, size_t count),                          \
                            fill(target, to, 0, bits / 8, value, count, 1))                                            \
    SUBMISSION_PAIR(cuMemsetD##bits##Async, (CUdeviceptr to, type value, size_t count, void *stream),                  \
                    fill(target, to, 0, bits / 8, value, count, 1))                                                    \
    DEFAULT_SUBMISSION_PAIR(cuMemsetD2D##bits##_v2,                                                                    \
                            (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height),                   \
                            fill(target, to, pitch, bits / 8, value, width, height))                                   \
    SUBMISSION_PAIR(cuMemsetD2D##bits##Async,                                                                          \
                    (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, void *stream),             \
                    fill(target, to, pitch, bits / 8, value, width, height))

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

static CUresult value_work(struct stream *s, enum work_kind kind, CUdeviceptr address, uint64_t value, unsigned bytes,
                           unsigned flags)
{
    LOCKED;
    bool host;
    if (address % bytes || !memory_reachable(address, bytes, &host) || (host && !allocation_of(address)))
        return ERROR_INVALID_VALUE;
    struct work *w = work_new(kind);
    w->as.value.address = (void *)(uintptr_t)address;
    w->as.value.value = value;
    w->as.value.bytes = bytes;
    w->as.value.flags = flags;
    return stream_submit(s, w);
}

#define VALUES(suffix)                                                                                                 \
    SUBMISSION_PAIR(cuStreamWaitValue32##suffix, (void *stream, CUdeviceptr address, uint32_t value, unsigned flags),  \
                    value_work(target, WORK_WAIT_VALUE, address, value, 4, flags))                                     \
    SUBMISSION_PAIR(cuStreamWaitValue64##suffix, (void *stream, CUdeviceptr address, uint64_t value, unsigned flags),  \
                    value_work(target, WORK_WAIT_VALUE, address, value, 8, flags))                                     \
    SUBMISSION_PAIR(cuStreamWriteValue32##suffix, (void *stream, CUdeviceptr address, uint32_t value, unsigned flags), \
                    value_work(target, WORK_WRITE_VALUE, address, value, 4, flags))                                    \
    SUBMISSION_PAIR(cuStreamWriteValue64##suffix, (void *stream, CUdeviceptr address, uint64_t value, unsigned flags), \
                    value_work(target, WORK_WRITE_VALUE, address, value, 8, flags))

VALUES()
VALUES(_v2)
