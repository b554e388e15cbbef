/* Memory that leaves or enters the process: counted, and kept where it is, since others know it there. */
#include <string.h>

#include "memory.h"
#include "program_memory.h"
#include "report.h"
#include "segment.h"
#include "settings.h"
#include "swap.h"
#include "tessera_entries.h"

static CUresult exported(CUresult result)
{
    if (result == CUDA_SUCCESS)
        segment_count(TESSERA_COUNTER_EXPORTED, 1);
    return result;
}

static CUresult imported(CUresult result)
{
    if (result == CUDA_SUCCESS)
        segment_count(TESSERA_COUNTER_IMPORTED, 1);
    return result;
}

/* Whether the address lies in memory that a plan has put in the place of the driver's own. */
static bool converted(CUdeviceptr pointer)
{
    struct allocation known;
    CUdeviceptr start = pointer;
    if (settings()->swap && swap_find(pointer, NULL))
        return true;
    REAL(cuPointerGetAttribute)((void *)&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pointer);
    return allocations_find(ALLOCATION_POINTER, start, &known) && known.managed;
}

/* A program that shares memory with others once will do so again: what it allocates from now on stays plain. */
static void stay_plain(CUdeviceptr pointer)
{
    const char *plan = settings()->automatic ? "auto" : settings()->swap ? "swap" : "managed";
    if (!settings()->managed && !settings()->swap)
        return;
    memory_stay_plain();
    if (converted(pointer)) {
        segment_count(TESSERA_COUNTER_EXPORT_REFUSALS, 1);
        report_error(CUDA_ERROR_INVALID_VALUE, "the program exports memory that plan %s has converted: run it "
                                               "with --plan plain", plan);
        report_line("this program exports GPU memory (CUDA IPC), which plan %s cannot do for what it has "
                    "converted: run it with --plan plain", plan);
    }
}

/* A handle of plan swap's becomes the driver's, whose memory stays from then on. */
static CUresult fix_handle(unsigned long long *handle)
{
    return program_owns(*handle) ? program_fix(*handle, handle) : CUDA_SUCCESS;
}

/* What others reach by its address must stay: allocations of plan swap's, and the program's own mappings. */
static CUresult fix_range(CUdeviceptr pointer, uint64_t bytes)
{
    struct swap_range range;
    CUresult result = program_fix_range(pointer, bytes);
    bool ours = result == CUDA_SUCCESS && swap_find(pointer, &range) && range.kind != SWAP_PROGRAM;
    return ours ? swap_fix(pointer) : result;
}

TESSERA_EXPORT CUresult cuIpcGetMemHandle(void *handle, CUdeviceptr pointer)
{
    stay_plain(pointer);
    return exported(REAL(cuIpcGetMemHandle)(handle, pointer));
}

/* Memory of plan swap can be exported so where the driver agrees; it stays where it is from then on. */
TESSERA_EXPORT CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr pointer, size_t bytes, int type,
                                                      unsigned long long flags)
{
    bool fixed = settings()->swap && fix_range(pointer, bytes) == CUDA_SUCCESS;
    if (!fixed)
        stay_plain(pointer);
    CUresult result = REAL(cuMemGetHandleForAddressRange)(handle, pointer, bytes, type, flags);
    if (fixed && result != CUDA_SUCCESS)
        stay_plain(pointer);
    return exported(result);
}

TESSERA_EXPORT CUresult cuMemExportToShareableHandle(void *shareable, unsigned long long handle, int type,
                                                     unsigned long long flags)
{
    CUresult fixed = fix_handle(&handle);
    if (fixed != CUDA_SUCCESS)
        return fixed == CUDA_ERROR_NOT_SUPPORTED ? CUDA_ERROR_INVALID_VALUE : fixed; /* made without a handle type */
    return exported(REAL(cuMemExportToShareableHandle)(shareable, handle, type, flags));
}

TESSERA_EXPORT CUresult cuMemPoolExportToShareableHandle(void *shareable, CUmemoryPool pool, int type,
                                                         unsigned long long flags)
{
    return exported(REAL(cuMemPoolExportToShareableHandle)(shareable, pool, type, flags));
}

TESSERA_EXPORT CUresult cuMemImportFromShareableHandle(unsigned long long *handle, void *shareable, int type)
{
    return imported(REAL(cuMemImportFromShareableHandle)((void *)handle, shareable, type));
}

/*
 * Memory of graphics libraries, which no client of ours answers for: counted as fixed. What other CUDA processes export
 * is counted there.
 */
TESSERA_EXPORT CUresult cuImportExternalMemory(CUexternalMemory *memory, const void *description)
{
    struct driver_external_memory wanted;
    CUresult result = imported(REAL(cuImportExternalMemory)(memory, description));
    int device = result == CUDA_SUCCESS && settings()->swap ? memory_device() : -1;
    if (device < 0)
        return result;
    memcpy(&wanted, description, sizeof wanted);
    struct allocation known = {.key = (uint64_t)(uintptr_t)*memory,
                               .fixed = wanted.bytes,
                               .references = 1,
                               .space = ALLOCATION_EXTERNAL,
                               .device = (uint8_t)device};
    if (allocations_add(known))
        swap_fixed_changed((unsigned)device, (int64_t)wanted.bytes);
    return result;
}

TESSERA_EXPORT CUresult cuDestroyExternalMemory(CUexternalMemory memory)
{
    struct allocation gone;
    CUresult result = REAL(cuDestroyExternalMemory)(memory);
    if (result == CUDA_SUCCESS && allocations_remove(ALLOCATION_EXTERNAL, (uint64_t)(uintptr_t)memory, &gone))
        swap_fixed_changed(gone.device, -(int64_t)gone.fixed);
    return result;
}

/* Buffers and images of OpenGL, EGL and VDPAU: theirs, and resident as they wish. */
TESSERA_EXPORT CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource *resource, unsigned buffer, unsigned flags)
{
    return imported(REAL(cuGraphicsGLRegisterBuffer)(resource, buffer, flags));
}

TESSERA_EXPORT CUresult cuGraphicsGLRegisterImage(CUgraphicsResource *resource, unsigned image, unsigned target,
                                                  unsigned flags)
{
    return imported(REAL(cuGraphicsGLRegisterImage)(resource, image, target, flags));
}

TESSERA_EXPORT CUresult cuGraphicsEGLRegisterImage(CUgraphicsResource *resource, void *image, unsigned flags)
{
    return imported(REAL(cuGraphicsEGLRegisterImage)(resource, image, flags));
}

TESSERA_EXPORT CUresult cuMemPoolExportPointer(void *shared, CUdeviceptr pointer)
{
    return exported(REAL(cuMemPoolExportPointer)(shared, pointer));
}

TESSERA_EXPORT CUresult cuMemPoolImportPointer(CUdeviceptr *pointer, CUmemoryPool pool, void *shared)
{
    return imported(REAL(cuMemPoolImportPointer)(pointer, pool, shared));
}

TESSERA_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr *pointer, struct tessera_value_64 handle, unsigned flags)
{
    return imported(REAL(cuIpcOpenMemHandle)(pointer, handle, flags));
}

TESSERA_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pointer, struct tessera_value_64 handle, unsigned flags)
{
    return imported(REAL(cuIpcOpenMemHandle_v2)(pointer, handle, flags));
}

TESSERA_EXPORT CUresult cuMulticastBindMem(unsigned long long multicast, size_t multicast_offset,
                                           unsigned long long handle, size_t offset, size_t bytes,
                                           unsigned long long flags)
{
    CUresult fixed = fix_handle(&handle);
    if (fixed == CUDA_ERROR_NOT_SUPPORTED)
        report_error(fixed, "cuMulticastBindMem of memory that plan swap holds in parts");
    return fixed == CUDA_SUCCESS
               ? REAL(cuMulticastBindMem)(multicast, multicast_offset, handle, offset, bytes, flags)
               : fixed;
}

TESSERA_EXPORT CUresult cuMulticastBindAddr(unsigned long long multicast, size_t multicast_offset, CUdeviceptr pointer,
                                            size_t bytes, unsigned long long flags)
{
    CUresult fixed = settings()->swap ? fix_range(pointer, bytes) : CUDA_SUCCESS;
    return fixed == CUDA_SUCCESS ? REAL(cuMulticastBindAddr)(multicast, multicast_offset, pointer, bytes, flags) : fixed;
}
