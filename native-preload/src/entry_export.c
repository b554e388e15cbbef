/* Memory that leaves or enters the process: counted, and kept plain, since managed memory cannot be exported. */
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

/* A program that shares memory with others once will do so again: what it allocates from now on stays plain. */
static void refuse_managed(CUdeviceptr pointer)
{
    struct allocation known;
    CUdeviceptr start = pointer;
    if (!settings()->managed && !settings()->automatic)
        return;
    memory_stay_plain();
    REAL(cuPointerGetAttribute)((void *)&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pointer);
    if (allocations_find(ALLOCATION_POINTER, start, &known) && known.managed) {
        segment_count(TESSERA_COUNTER_EXPORT_REFUSALS, 1);
        report_error(CUDA_ERROR_INVALID_VALUE, "the program exports memory that plan managed has converted: run it "
                                               "with --plan plain");
        report_line("this program exports GPU memory (CUDA IPC), which plan managed cannot do for what it has "
                    "converted: run it with --plan plain");
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
    refuse_managed(pointer);
    return exported(REAL(cuIpcGetMemHandle)(handle, pointer));
}

TESSERA_EXPORT CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr pointer, size_t bytes, int type,
                                                      unsigned long long flags)
{
    refuse_managed(pointer);
    CUresult fixed = settings()->swap ? fix_range(pointer, bytes) : CUDA_SUCCESS;
    if (fixed != CUDA_SUCCESS)
        return fixed;
    return exported(REAL(cuMemGetHandleForAddressRange)(handle, pointer, bytes, type, flags));
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

TESSERA_EXPORT CUresult cuImportExternalMemory(CUexternalMemory *memory, const void *description)
{
    return imported(REAL(cuImportExternalMemory)(memory, description));
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
