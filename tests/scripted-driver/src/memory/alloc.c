/* cuMemAlloc and its kin, their frees, and host memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "streams/capture.h"
#include "driver.h"
#include "entry.h"
#include "memory/memory.h"

/* The calling thread's context, for a call that CUDA does not allow during a capture. */
static CUresult allocating(struct context **c)
{
    CUresult error = context_current(c);
    return error ? error : capture_unsafe();
}

static CUresult allocate(CUdeviceptr *out, size_t bytes, enum allocation_kind kind, bool managed)
{
    if (!out)
        return ERROR_INVALID_VALUE;
    LOCKED;
    struct context *c;
    struct allocation *a;
    CUresult error = allocating(&c);
    if (!error)
        error = memory_allocate(bytes, kind, managed, c, &a);
    if (!error)
        *out = a->base;
    return error;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
    ENTER(cuMemAlloc_v2);
    return allocate(out, bytes, ALLOCATION_PLAIN, false);
}

EXPORT CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
    ENTER(cuMemAllocManaged);
    if (flags != 1 && flags != 2)
        return ERROR_INVALID_VALUE;
    return allocate(out, bytes, ALLOCATION_MANAGED, true);
}

EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned element)
{
    ENTER(cuMemAllocPitch_v2);
    if (!pitch || (element != 4 && element != 8 && element != 16) || width == 0 || height == 0)
        return ERROR_INVALID_VALUE;
    size_t row = (width + 511) & ~(size_t)511;
    CUresult error = allocate(out, row * height, ALLOCATION_PLAIN, false);
    if (!error)
        *pitch = row;
    return error;
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    ENTER(cuMemFree_v2);
    LOCKED;
    struct context *c;
    CUresult error = allocating(&c);
    if (error || pointer == 0)
        return error;
    struct allocation *a = allocation_at(pointer);
    if (!a || a->kind > ALLOCATION_GRAPH)
        return ERROR_INVALID_VALUE;
    if (a->context && context_valid(a->context)) { /* a free waits for the work that may use the memory */
        error = context_wait(a->context);
        a = allocation_at(pointer);
    }
    if (!a)
        return ERROR_INVALID_VALUE;
    if (a->kind == ALLOCATION_POOL)
        pool_release(a);
    else if (a->kind == ALLOCATION_GRAPH)
        memory_graph_free(pointer);
    else
        memory_free(a);
    return error;
}

static CUresult host_allocate(void **out, size_t bytes, unsigned flags)
{
    if (!out || bytes == 0 ||
        (flags & ~(unsigned)(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED)))
        return ERROR_INVALID_VALUE;
    LOCKED;
    struct context *c;
    CUresult error = allocating(&c);
    if (error)
        return error;
    void *memory = mmap(NULL, page_round(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return ERROR_OUT_OF_MEMORY;
    allocation_add((CUdeviceptr)(uintptr_t)memory, bytes, ALLOCATION_HOST, c)->flags = flags;
    *out = memory;
    return OK;
}

EXPORT CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    ENTER(cuMemHostAlloc);
    return host_allocate(out, bytes, flags);
}

EXPORT CUresult cuMemAllocHost_v2(void **out, size_t bytes)
{
    ENTER(cuMemAllocHost_v2);
    return host_allocate(out, bytes, 0);
}

EXPORT CUresult cuMemFreeHost(void *memory)
{
    ENTER(cuMemFreeHost);
    LOCKED;
    struct context *c;
    CUresult error = allocating(&c);
    struct allocation *a = allocation_at((CUdeviceptr)(uintptr_t)memory);
    if (error || !memory)
        return error;
    if (!a || a->kind != ALLOCATION_HOST)
        return ERROR_INVALID_VALUE;
    error = context_wait(c);
    munmap(memory, a->extent);
    allocation_remove(a);
    return error;
}

EXPORT CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
    ENTER(cuMemHostRegister_v2);
    LOCKED;
    struct context *c;
    CUresult error = allocating(&c);
    if (error)
        return error;
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)memory;
    /* In reserved addresses the program may have memory of its own: it mapped it over what it reserved. */
    if (!memory || bytes == 0 || (memory_in_range(base) && !range_reserved(base, bytes)))
        return ERROR_INVALID_VALUE;
    if (allocation_of(base) || allocation_of(base + bytes - 1))
        return ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    allocation_add(base, bytes, ALLOCATION_REGISTERED, c)->flags = flags;
    return OK;
}

EXPORT CUresult cuMemHostUnregister(void *memory)
{
    ENTER(cuMemHostUnregister);
    LOCKED;
    struct context *c;
    CUresult error = allocating(&c);
    struct allocation *a = allocation_at((CUdeviceptr)(uintptr_t)memory);
    if (error)
        return error;
    if (!a || a->kind != ALLOCATION_REGISTERED)
        return ERROR_HOST_MEMORY_NOT_REGISTERED;
    allocation_remove(a);
    return OK;
}

EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *memory, unsigned flags)
{
    ENTER(cuMemHostGetDevicePointer_v2);
    LOCKED;
    struct allocation *a = allocation_of((CUdeviceptr)(uintptr_t)memory);
    if (!out || flags || !a || (a->kind != ALLOCATION_HOST && a->kind != ALLOCATION_REGISTERED))
        return ERROR_INVALID_VALUE;
    *out = (CUdeviceptr)(uintptr_t)memory;
    return OK;
}

EXPORT CUresult cuMemHostGetFlags(unsigned *flags, void *memory)
{
    ENTER(cuMemHostGetFlags);
    LOCKED;
    struct allocation *a = allocation_of((CUdeviceptr)(uintptr_t)memory);
    if (!flags || !a || a->kind != ALLOCATION_HOST)
        return ERROR_INVALID_VALUE;
    *flags = a->flags;
    return OK;
}
