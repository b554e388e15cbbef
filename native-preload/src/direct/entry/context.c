/* Contexts: create, retain, release, destroy. The gate and the drain need to know each context's device. */
#include "direct/chunks/backing.h"
#include "direct/ipc/import.h"
#include "direct/pools/captured_memory.h"
#include "direct/pools/pools.h"
#include "direct/swap/chunk_copier.h"
#include "direct/swap/swap.h"
#include "direct/turns/devices.h"
#include "direct/pools/driver_room.h"
#include "direct/memory/memory.h"
#include "session/settings.h"
#include "direct/swap/several_devices.h"
#include "tessera_entries.h"

static CUresult opened(CUresult result, CUcontext *context, CUdevice device)
{
    if (result == CUDA_SUCCESS && context) {
        devices_context_opened(*context, device);
        several_devices_opened();
    }
    return result;
}

TESSERA_EXPORT CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device)
{
    return opened(WITH_CONTEXT_ROOM(device, REAL(cuCtxCreate)(context, flags, device)), context, device);
}

TESSERA_EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    return opened(WITH_CONTEXT_ROOM(device, REAL(cuCtxCreate_v2)(context, flags, device)), context, device);
}

TESSERA_EXPORT CUresult cuCtxCreate_v3(CUcontext *context, void *affinity, int count, unsigned flags, CUdevice device)
{
    return opened(WITH_CONTEXT_ROOM(device, REAL(cuCtxCreate_v3)(context, affinity, count, flags, device)), context,
                  device);
}

TESSERA_EXPORT CUresult cuCtxCreate_v4(CUcontext *context, void *parameters, unsigned flags, CUdevice device)
{
    return opened(WITH_CONTEXT_ROOM(device, REAL(cuCtxCreate_v4)(context, parameters, flags, device)), context, device);
}

/* Contexts for graphics libraries are ordinary contexts here. */
TESSERA_EXPORT CUresult cuGLCtxCreate(CUcontext *context, unsigned flags, CUdevice device)
{
    return opened(WITH_CONTEXT_ROOM(device, REAL(cuGLCtxCreate)(context, flags, device)), context, device);
}

TESSERA_EXPORT CUresult cuGLCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    return opened(WITH_CONTEXT_ROOM(device, REAL(cuGLCtxCreate_v2)(context, flags, device)), context, device);
}

TESSERA_EXPORT CUresult cuVDPAUCtxCreate(CUcontext *context, unsigned flags, CUdevice device, unsigned vdpau,
                                         void **get_proc_address)
{
    return opened(WITH_CONTEXT_ROOM(device, REAL(cuVDPAUCtxCreate)(context, flags, device, vdpau, get_proc_address)),
                  context, device);
}

TESSERA_EXPORT CUresult cuVDPAUCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device, unsigned vdpau,
                                            void **get_proc_address)
{
    return opened(WITH_CONTEXT_ROOM(device, REAL(cuVDPAUCtxCreate_v2)(context, flags, device, vdpau, get_proc_address)),
                  context, device);
}

TESSERA_EXPORT CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green)
{
    CUresult result = REAL(cuCtxFromGreenCtx)(context, green);
    CUdevice device;
    CUcontext popped;
    if (result != CUDA_SUCCESS || settings()->disabled || REAL(cuCtxPushCurrent_v2)(*context) != CUDA_SUCCESS)
        return result;
    if (REAL(cuCtxGetDevice)(&device) == CUDA_SUCCESS)
        devices_context_opened(*context, device);
    REAL(cuCtxPopCurrent_v2)(&popped);
    return result;
}

/* The context is about to end. After this returns, no thread of the library is inside it or uses its objects. */
static int closing(void *context)
{
    int device = devices_context_closing(context);
    if (device >= 0) {
        copier_context_closing(context);
        backing_context_closing(context);
    }
    return device;
}

/* The context has ended: frees its memory of plan swap, and returns all its allocations to the quota. */
static void give_back_all_of(void *context)
{
    struct allocation gone;
    pools_context_ended(context);
    captured_context_ended(context);
    ipc_import_context_ended(context);
    while (context && allocations_remove_of_context((uint64_t)(uintptr_t)context, &gone))
        if (gone.space == ALLOCATION_POINTER || gone.space == ALLOCATION_ARRAY) {
            if (gone.space == ALLOCATION_POINTER)
                swap_free(gone.key); /* memory of the driver has ended with the context */
            memory_forget(&gone);
        }
}

/* Ends a context, which no drain uses any more; if the driver succeeds, returns its allocations to the quota. */
#define END_CONTEXT(call, handle)                                                                                      \
    int device = closing(handle);                                                                                      \
    CUresult result = (call);                                                                                          \
    if (device >= 0)                                                                                                   \
        devices_context_closed(handle, result == CUDA_SUCCESS);                                                        \
    if (result == CUDA_SUCCESS)                                                                                        \
        give_back_all_of(handle);                                                                                      \
    return result

TESSERA_EXPORT CUresult cuCtxDestroy(CUcontext context)
{
    END_CONTEXT(REAL(cuCtxDestroy)(context), context);
}

TESSERA_EXPORT CUresult cuCtxDestroy_v2(CUcontext context)
{
    END_CONTEXT(REAL(cuCtxDestroy_v2)(context), context);
}

/* Counts as the end of the context, which is true unless the program has attached to it (cuCtxAttach). */
TESSERA_EXPORT CUresult cuCtxDetach(CUcontext context)
{
    END_CONTEXT(REAL(cuCtxDetach)(context), context);
}

TESSERA_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult result = WITH_CONTEXT_ROOM(device, REAL(cuDevicePrimaryCtxRetain)(context, device));
    if (result == CUDA_SUCCESS && context) {
        devices_primary_opened(*context, device);
        several_devices_opened();
    }
    return result;
}

static int primary_active(CUdevice device)
{
    unsigned flags;
    int active = 1;
    return REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active) != CUDA_SUCCESS || active;
}

/* Only after the call is it known whether a release has ended the primary context. A reset always ends its allocations. */
#define RELEASE_PRIMARY(call, resets)                                                                                  \
    void *context = devices_primary(device);                                                                           \
    int known = context ? closing(context) : -1;                                                                       \
    CUresult result = (call);                                                                                          \
    bool gone = result == CUDA_SUCCESS && !primary_active(device);                                                     \
    if (known >= 0)                                                                                                    \
        devices_context_closed(context, gone);                                                                         \
    if (gone || ((resets) && result == CUDA_SUCCESS))                                                                  \
        give_back_all_of(context);                                                                                     \
    return result

TESSERA_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    RELEASE_PRIMARY(REAL(cuDevicePrimaryCtxRelease)(device), false);
}

TESSERA_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    RELEASE_PRIMARY(REAL(cuDevicePrimaryCtxRelease_v2)(device), false);
}

TESSERA_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    RELEASE_PRIMARY(REAL(cuDevicePrimaryCtxReset)(device), true);
}

TESSERA_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    RELEASE_PRIMARY(REAL(cuDevicePrimaryCtxReset_v2)(device), true);
}
