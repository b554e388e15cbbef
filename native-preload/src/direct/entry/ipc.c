/* Legacy IPC of memory: the library makes handles for memory of plan swap (ipc/handle.h), the driver all others. */
#include <string.h>

#include "direct/entry/export.h"
#include "direct/ipc/export.h"
#include "direct/ipc/import.h"
#include "direct/memory/memory.h"
#include "direct/memory/memory_export.h"
#include "session/segment.h"
#include "session/settings.h"
#include "direct/swap/swap.h"
#include "tessera_entries.h"

TESSERA_EXPORT CUresult cuIpcGetMemHandle(void *handle, CUdeviceptr pointer)
{
    struct swap_range range;
    struct ipc_handle made;
    if (handle && swap_find(pointer, &range)) {
        if (range.kind != SWAP_LINEAR) /* the driver also refuses memory of pools and mappings */
            return CUDA_ERROR_INVALID_VALUE;
        memory_sharing();
        CUresult result = memory_exported(ipc_export(&range, &made));
        if (result == CUDA_SUCCESS)
            memcpy(handle, &made, sizeof made);
        if (result != CUDA_ERROR_NOT_SUPPORTED)
            return result;
    }
    export_refused(pointer);
    memory_sharing();
    return memory_exported(REAL(cuIpcGetMemHandle)(handle, pointer));
}

/* Opens a handle that the library made in another process, whatever the plan of this one. */
static CUresult open_ours(CUdeviceptr *pointer, const struct ipc_handle *handle, unsigned flags)
{
    memory_sharing();
    return memory_imported(ipc_import(pointer, handle, flags));
}

TESSERA_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr *pointer, struct tessera_value_64 handle, unsigned flags)
{
    struct ipc_handle ours;
    if (!settings()->disabled && ipc_handle_ours(&handle, &ours))
        return open_ours(pointer, &ours, flags);
    memory_sharing();
    return memory_imported(REAL(cuIpcOpenMemHandle)(pointer, handle, flags));
}

TESSERA_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pointer, struct tessera_value_64 handle, unsigned flags)
{
    struct ipc_handle ours;
    if (!settings()->disabled && ipc_handle_ours(&handle, &ours))
        return open_ours(pointer, &ours, flags);
    memory_sharing();
    return memory_imported(REAL(cuIpcOpenMemHandle_v2)(pointer, handle, flags));
}

TESSERA_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr pointer)
{
    bool ours;
    CUresult result = ipc_import_close(pointer, &ours);
    return ours ? result : REAL(cuIpcCloseMemHandle)(pointer);
}
