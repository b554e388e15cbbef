/* Exports and imports of memory. Exported memory is fixed, because others use its physical memory. */
#include "direct/entry/export.h"

#include <string.h>

#include "direct/ipc/exportable.h"
#include "direct/memory/memory.h"
#include "direct/memory/memory_export.h"
#include "direct/swap/program_memory.h"
#include "direct/swap/several_devices.h"
#include "direct/turns/residency.h"
#include "session/report.h"
#include "session/segment.h"
#include "session/settings.h"
#include "direct/swap/swap.h"
#include "tessera_entries.h"

/* Whether a plan made the memory at the address, instead of the driver. */
static bool converted(CUdeviceptr pointer)
{
    struct allocation known;
    CUdeviceptr start = pointer;
    if (settings()->swap && swap_find(pointer, NULL))
        return true;
    REAL(cuPointerGetAttribute)((void *)&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pointer);
    return allocations_find(ALLOCATION_POINTER, start, &known) && known.managed;
}

void export_refused(CUdeviceptr pointer)
{
    const char *plan = settings()->automatic ? "auto" : settings()->swap ? "swap" : "managed";
    if (!settings()->managed && !settings()->swap)
        return;
    bool refused = converted(pointer);
    if (refused || settings()->managed)
        memory_stay_plain(TESSERA_CHOICE_EXPORTED);
    if (!refused)
        return;
    segment_count(TESSERA_COUNTER_EXPORT_REFUSALS, 1);
    report_error(CUDA_ERROR_INVALID_VALUE,
                 "the program exports memory that plan %s has converted: run it with --plan plain", plan);
    report_line("this program exports GPU memory (CUDA IPC), which plan %s cannot do for what it has converted: run it with "
                "--plan plain",
                plan);
}

/* Replaces a handle of plan swap by the driver's, and fixes its memory. */
static CUresult fix_handle(unsigned long long *handle)
{
    return program_owns(*handle) ? program_fix(*handle, handle) : CUDA_SUCCESS;
}

/* Fixes memory of plan swap in a range that others will reach by its address. */
static CUresult fix_range(CUdeviceptr pointer, uint64_t bytes)
{
    struct swap_range range;
    CUresult result = program_fix_range(pointer, bytes);
    bool ours = result == CUDA_SUCCESS && swap_find(pointer, &range) && range.kind != SWAP_PROGRAM;
    return ours ? exportable_fix(pointer) : result;
}

/* Works for memory of plan swap if the driver allows it; the memory is fixed first. */
TESSERA_EXPORT CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr pointer, size_t bytes, int type,
                                                      unsigned long long flags)
{
    bool fixed = settings()->swap && fix_range(pointer, bytes) == CUDA_SUCCESS;
    if (!fixed)
        export_refused(pointer);
    memory_sharing();
    CUresult result = REAL(cuMemGetHandleForAddressRange)(handle, pointer, bytes, type, flags);
    if (fixed && result != CUDA_SUCCESS)
        export_refused(pointer);
    return memory_exported(result);
}

TESSERA_EXPORT CUresult cuMemExportToShareableHandle(void *shareable, unsigned long long handle, int type,
                                                     unsigned long long flags)
{
    CUresult fixed = fix_handle(&handle);
    if (fixed == CUDA_ERROR_NOT_PERMITTED)
        report_line(
            "this program exports GPU memory of several GiB in one piece after it has mapped it, which plan swap cannot "
            "do: run it with --plan plain");
    if (fixed != CUDA_SUCCESS)
        return fixed == CUDA_ERROR_NOT_SUPPORTED ? CUDA_ERROR_INVALID_VALUE : fixed; /* created without a handle type */
    memory_sharing();
    return memory_exported(REAL(cuMemExportToShareableHandle)(shareable, handle, type, flags));
}

TESSERA_EXPORT CUresult cuMemPoolExportToShareableHandle(void *shareable, CUmemoryPool pool, int type,
                                                         unsigned long long flags)
{
    memory_sharing();
    return memory_exported(REAL(cuMemPoolExportToShareableHandle)(shareable, pool, type, flags));
}

TESSERA_EXPORT CUresult cuMemImportFromShareableHandle(unsigned long long *handle, void *shareable, int type)
{
    memory_sharing();
    return memory_imported(REAL(cuMemImportFromShareableHandle)((void *)handle, shareable, type));
}

/*
 * Memory of graphics libraries counts as fixed memory of this process, because no other client counts it. Memory of
 * other CUDA processes is counted by its exporter.
 */
TESSERA_EXPORT CUresult cuImportExternalMemory(CUexternalMemory *memory, const void *description)
{
    struct driver_external_memory wanted;
    memory_sharing();
    CUresult result = memory_imported(REAL(cuImportExternalMemory)(memory, description));
    int device = result == CUDA_SUCCESS && settings()->swap ? several_devices_current() : -1;
    if (device < 0)
        return result;
    memcpy(&wanted, description, sizeof wanted);
    struct allocation known = {.key = (uint64_t)(uintptr_t)*memory,
                               .fixed = wanted.bytes,
                               .references = 1,
                               .space = ALLOCATION_EXTERNAL,
                               .device = (uint8_t)device};
    if (allocations_add(known))
        residency_fixed_changed((unsigned)device, (int64_t)wanted.bytes);
    return result;
}

TESSERA_EXPORT CUresult cuDestroyExternalMemory(CUexternalMemory memory)
{
    struct allocation gone;
    CUresult result = REAL(cuDestroyExternalMemory)(memory);
    if (result == CUDA_SUCCESS && allocations_remove(ALLOCATION_EXTERNAL, (uint64_t)(uintptr_t)memory, &gone))
        residency_fixed_changed(gone.device, -(int64_t)gone.fixed);
    return result;
}

/* Buffers and images of OpenGL, EGL and VDPAU: those libraries decide about their residency. */
TESSERA_EXPORT CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource *resource, unsigned buffer, unsigned flags)
{
    memory_sharing();
    return memory_imported(REAL(cuGraphicsGLRegisterBuffer)(resource, buffer, flags));
}

TESSERA_EXPORT CUresult cuGraphicsGLRegisterImage(CUgraphicsResource *resource, unsigned image, unsigned target,
                                                  unsigned flags)
{
    memory_sharing();
    return memory_imported(REAL(cuGraphicsGLRegisterImage)(resource, image, target, flags));
}

TESSERA_EXPORT CUresult cuGraphicsEGLRegisterImage(CUgraphicsResource *resource, void *image, unsigned flags)
{
    memory_sharing();
    return memory_imported(REAL(cuGraphicsEGLRegisterImage)(resource, image, flags));
}

TESSERA_EXPORT CUresult cuMemPoolExportPointer(void *shared, CUdeviceptr pointer)
{
    memory_sharing();
    return memory_exported(REAL(cuMemPoolExportPointer)(shared, pointer));
}

TESSERA_EXPORT CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle, int type,
                                                           unsigned long long flags)
{
    memory_sharing();
    return memory_imported(REAL(cuMemPoolImportFromShareableHandle)(pool, handle, type, flags));
}

TESSERA_EXPORT CUresult cuMemPoolImportPointer(CUdeviceptr *pointer, CUmemoryPool pool, void *shared)
{
    memory_sharing();
    return memory_imported(REAL(cuMemPoolImportPointer)(pointer, pool, shared));
}

TESSERA_EXPORT CUresult cuMulticastBindMem(unsigned long long multicast, size_t multicast_offset,
                                           unsigned long long handle, size_t offset, size_t bytes,
                                           unsigned long long flags)
{
    CUresult fixed = fix_handle(&handle);
    if (fixed == CUDA_ERROR_NOT_SUPPORTED)
        report_error(fixed, "cuMulticastBindMem of memory that plan swap holds in parts");
    if (fixed != CUDA_SUCCESS)
        return fixed;
    memory_sharing();
    return memory_bound(REAL(cuMulticastBindMem)(multicast, multicast_offset, handle, offset, bytes, flags));
}

TESSERA_EXPORT CUresult cuMulticastBindAddr(unsigned long long multicast, size_t multicast_offset, CUdeviceptr pointer,
                                            size_t bytes, unsigned long long flags)
{
    CUresult fixed = settings()->swap ? fix_range(pointer, bytes) : CUDA_SUCCESS;
    if (fixed != CUDA_SUCCESS)
        return fixed;
    memory_sharing();
    return memory_bound(REAL(cuMulticastBindAddr)(multicast, multicast_offset, pointer, bytes, flags));
}
