/* Memory of one process opened by another: the handle names the exporting process, its memory file, and the place. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "contexts/checkpoint.h"
#include "entry.h"
#include "memory/memory.h"

struct ipc_handle {
    uint64_t magic, offset, extent, bytes;
    uint32_t pid;
    int32_t fd, device;
};

static const uint64_t ipc_magic = 0x637069646d656d31ULL;

EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr pointer)
{
    ENTER(cuIpcGetMemHandle);
    LOCKED;
    const struct allocation *a = allocation_of(pointer);
    if (!out || !a || a->kind != ALLOCATION_PLAIN || a->managed) /* managed, pooled and mapped memory is refused */
        return ERROR_INVALID_VALUE;
    struct ipc_handle h = {ipc_magic,          memory_offset(a->base), a->extent, a->bytes,
                           (uint32_t)getpid(), memory_file(),          a->device};
    memset(out, 0, sizeof *out);
    memcpy(out, &h, sizeof h);
    return OK;
}

static CUresult open_handle(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags)
{
    struct ipc_handle h;
    memcpy(&h, &handle, sizeof h);
    if (!out || (flags & ~1u) || h.magic != ipc_magic)
        return ERROR_INVALID_VALUE;
    if (h.pid == (uint32_t)getpid())
        return ERROR_INVALID_CONTEXT; /* the exporting process cannot open its own */
    LOCKED;
    struct context *c;
    CUresult error = context_current(&c);
    if (error)
        return error;
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/fd/%d", h.pid, h.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return ERROR_MAP_FAILED;
    CUdeviceptr base = range_take(h.extent, 4096, 0);
    void *map = base ? mmap((void *)(uintptr_t)base, h.extent, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED, fd,
                            (off_t)h.offset)
                     : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED) {
        if (base)
            range_give(base);
        return ERROR_MAP_FAILED;
    }
    allocation_add(base, h.bytes, ALLOCATION_IMPORTED, c);
    checkpoint_holds(CHECKPOINT_IMPORTS, 1);
    *out = base;
    return OK;
}

EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags)
{
    ENTER(cuIpcOpenMemHandle);
    return open_handle(out, handle, flags);
}

EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags)
{
    ENTER(cuIpcOpenMemHandle_v2);
    return open_handle(out, handle, flags);
}

EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr pointer)
{
    ENTER(cuIpcCloseMemHandle);
    LOCKED;
    struct allocation *a = allocation_at(pointer);
    if (!a || a->kind != ALLOCATION_IMPORTED)
        return ERROR_INVALID_VALUE;
    if (a->context && context_valid(a->context))
        context_wait(a->context);
    range_give(pointer);
    allocation_remove(a);
    checkpoint_holds(CHECKPOINT_IMPORTS, -1);
    return OK;
}
