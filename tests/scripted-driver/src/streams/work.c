/* What each kind of work does to memory. Runs on the thread of its stream, without the driver's lock. */
#include <string.h>
#include <sys/mman.h>

#include "driver.h"
#include "modules/function.h"
#include "memory/memory.h"
#include "streams/stream.h"

static void run_copy(const struct copy_shape *c)
{
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memmove(c->target + z * c->target_slice + y * c->target_pitch,
                    c->source + z * c->source_slice + y * c->source_pitch, c->width);
}

/* Zeros in pages of a memory file are a hole in it: to zero much costs neither time nor memory. */
static bool punched(const struct fill_shape *f)
{
    size_t bytes = f->width * f->element_bytes;
    bool pages = page_round((size_t)(uintptr_t)f->target) == (size_t)(uintptr_t)f->target && page_round(bytes) == bytes;
    bool zero = memcmp(&f->value, &(unsigned){0}, f->element_bytes) == 0;
    return pages && zero && f->height == 1 && madvise(f->target, bytes, MADV_REMOVE) == 0;
}

static void run_fill(const struct fill_shape *f)
{
    for (size_t y = 0; y < f->height; y++) {
        unsigned char *row = f->target + y * f->pitch;
        if (f->element_bytes == 1) {
            memset(row, (int)(f->value & 255), f->width);
            continue;
        }
        for (size_t x = 0; x < f->width; x++)
            memcpy(row + x * f->element_bytes, &f->value, f->element_bytes);
    }
}

static bool reachable(CUdeviceptr pointer, size_t bytes)
{
    LOCKED;
    bool host;
    return memory_there(pointer, bytes, &host);
}

static CUresult free_now(CUdeviceptr pointer)
{
    LOCKED;
    struct allocation *a = allocation_freeing(pointer);
    if (!a)
        return OK; /* memory of a graph stays with the graph */
    if (a->kind == ALLOCATION_POOL)
        pool_release(a);
    else
        memory_free(a);
    return OK;
}

CUresult work_execute(struct stream *s, struct work *w)
{
    switch (w->kind) {
    case WORK_COPY:
        run_copy(&w->as.copy);
        return OK;
    case WORK_FILL:
        if (!punched(&w->as.fill))
            run_fill(&w->as.fill);
        return OK;
    case WORK_KERNEL:
        return function_execute(w);
    case WORK_HOST:
        driver_in_callback = true;
        w->as.host.function(w->as.host.data);
        driver_in_callback = false;
        return OK;
    case WORK_CALLBACK:
        driver_in_callback = true;
        w->as.callback.function(s, OK, w->as.callback.data);
        driver_in_callback = false;
        return OK;
    case WORK_WRITE_VALUE:
        if (!reachable((CUdeviceptr)(uintptr_t)w->as.value.address, w->as.value.bytes))
            return ERROR_ILLEGAL_ADDRESS;
        if (w->as.value.bytes == 4)
            __atomic_store_n((uint32_t *)w->as.value.address, (uint32_t)w->as.value.value, __ATOMIC_RELEASE);
        else
            __atomic_store_n((uint64_t *)w->as.value.address, w->as.value.value, __ATOMIC_RELEASE);
        return OK;
    case WORK_FREE:
        return free_now(w->as.pointer);
    default:
        return OK;
    }
}
