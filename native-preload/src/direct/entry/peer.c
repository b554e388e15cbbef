/* Peer access by context: the driver sets it for its own memory, and the library for memory of plan swap. */
#include "direct/swap/peer_access.h"
#include "tessera_entries.h"

TESSERA_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext other, unsigned flags)
{
    CUresult result = REAL(cuCtxEnablePeerAccess)(other, flags);
    if (result == CUDA_SUCCESS)
        peer_access_of_context(other, 1);
    return result;
}

TESSERA_EXPORT CUresult cuCtxDisablePeerAccess(CUcontext other)
{
    CUresult result = REAL(cuCtxDisablePeerAccess)(other);
    if (result == CUDA_SUCCESS)
        peer_access_of_context(other, -1);
    return result;
}
