/* Begin and end of stream captures. The begin passes the gate; the end frees memory that only the capture held. */
#include "direct/turns/capture.h"
#include "direct/pools/captured_memory.h"
#include "direct/turns/devices.h"
#include "direct/turns/gate.h"
#include "direct/pools/pools.h"
#include "tessera_entries.h"

/*
 * The begin passes the gate, so no capture begins during a drain, and takes capture_hold(), so none begins under a
 * shield.
 */
#define BEGIN_CAPTURE(otherwise, call)                                                                                 \
    uintptr_t key = gate_stream(stream, otherwise);                                                                    \
    struct gate_pass pass = gate_enter(TESSERA_KIND_CAPTURE, key);                                                     \
    if (gate_refused(pass))                                                                                            \
        return CUDA_ERROR_OUT_OF_MEMORY;                                                                               \
    int device = devices_of_stream(key);                                                                               \
    capture_hold();                                                                                                    \
    CUresult result = (call);                                                                                          \
    if (result == CUDA_SUCCESS)                                                                                        \
        capture_begun(key, device);                                                                                    \
    capture_unshield();                                                                                                \
    gate_leave(pass, result);                                                                                          \
    return result

/* After the end, whatever its result, asks whether the stream still captures. */
#define END_CAPTURE(otherwise, call, is_capturing)                                                                     \
    CUresult result = (call);                                                                                          \
    int status = CU_STREAM_CAPTURE_STATUS_NONE;                                                                        \
    capture_hold();                                                                                                    \
    if ((is_capturing) != CUDA_SUCCESS || status == CU_STREAM_CAPTURE_STATUS_NONE)                                     \
        capture_ended(gate_stream(stream, otherwise));                                                                 \
    capture_unshield();                                                                                                \
    if (result == CUDA_SUCCESS && graph)                                                                               \
        captured_ended(*graph);                                                                                        \
    return result

TESSERA_EXPORT CUresult cuStreamBeginCapture(CUstream stream)
{
    BEGIN_CAPTURE(TESSERA_STREAM_LEGACY, REAL(cuStreamBeginCapture)(stream));
}

TESSERA_EXPORT CUresult cuStreamBeginCapture_ptsz(CUstream stream)
{
    BEGIN_CAPTURE(TESSERA_STREAM_PER_THREAD, REAL(cuStreamBeginCapture_ptsz)(stream));
}

TESSERA_EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, int mode)
{
    BEGIN_CAPTURE(TESSERA_STREAM_LEGACY, REAL(cuStreamBeginCapture_v2)(stream, mode));
}

TESSERA_EXPORT CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, int mode)
{
    BEGIN_CAPTURE(TESSERA_STREAM_PER_THREAD, REAL(cuStreamBeginCapture_v2_ptsz)(stream, mode));
}

TESSERA_EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                                                    const void *dependency_data, size_t count, int mode)
{
    BEGIN_CAPTURE(TESSERA_STREAM_LEGACY,
                  REAL(cuStreamBeginCaptureToGraph)(stream, graph, dependencies, dependency_data, count, mode));
}

TESSERA_EXPORT CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                                                         const void *dependency_data, size_t count, int mode)
{
    BEGIN_CAPTURE(TESSERA_STREAM_PER_THREAD,
                  REAL(cuStreamBeginCaptureToGraph_ptsz)(stream, graph, dependencies, dependency_data, count, mode));
}

TESSERA_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    END_CAPTURE(TESSERA_STREAM_LEGACY, REAL(cuStreamEndCapture)(stream, graph),
                REAL(cuStreamIsCapturing)(stream, (void *)&status));
}

TESSERA_EXPORT CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
    END_CAPTURE(TESSERA_STREAM_PER_THREAD, REAL(cuStreamEndCapture_ptsz)(stream, graph),
                REAL(cuStreamIsCapturing_ptsz)(stream, (void *)&status));
}

TESSERA_EXPORT CUresult cuStreamDestroy(CUstream stream)
{
    capture_stream_destroyed((uintptr_t)stream);
    pools_stream_destroyed((uintptr_t)stream);
    return REAL(cuStreamDestroy)(stream);
}

TESSERA_EXPORT CUresult cuStreamDestroy_v2(CUstream stream)
{
    capture_stream_destroyed((uintptr_t)stream);
    pools_stream_destroyed((uintptr_t)stream);
    return REAL(cuStreamDestroy_v2)(stream);
}
