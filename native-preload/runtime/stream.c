/* Streams, events, and host functions. */
#include "runtime.h"

FORWARD(cudaStreamCreate, cuStreamCreate, (CUstream * stream), (stream, 0))
FORWARD(cudaStreamCreateWithFlags, cuStreamCreate, (CUstream * stream, unsigned flags), (stream, flags))
FORWARD(cudaStreamCreateWithPriority, cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority),
        (stream, flags, priority))
FORWARD(cudaStreamDestroy, cuStreamDestroy_v2, (CUstream stream), (stream))
ON_STREAM(cudaStreamSynchronize, (CUstream stream), cuStreamSynchronize(stream))
ON_STREAM(cudaStreamQuery, (CUstream stream), cuStreamQuery(stream))
ON_STREAM(cudaStreamGetPriority, (CUstream stream, int *priority), cuStreamGetPriority(stream, priority))
ON_STREAM(cudaStreamGetFlags, (CUstream stream, unsigned *flags), cuStreamGetFlags(stream, flags))
ON_STREAM(cudaStreamGetId, (CUstream stream, unsigned long long *id), cuStreamGetId(stream, id))
ON_STREAM(cudaStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags), cuStreamWaitEvent(stream, event, flags))
ON_STREAM(cudaStreamGetAttribute, (CUstream stream, int which, void *value), cuStreamGetAttribute(stream, which, value))
ON_STREAM(cudaStreamSetAttribute, (CUstream stream, int which, const void *value),
          cuStreamSetAttribute(stream, which, (void *)value))
ON_STREAM(cudaStreamAddCallback, (CUstream stream, void *callback, void *data, unsigned flags),
          cuStreamAddCallback(stream, callback, data, flags))
ON_STREAM(cudaLaunchHostFunc, (CUstream stream, void *function, void *data), cuLaunchHostFunc(stream, function, data))

static cudaError_t device_of(CUstream stream, int *device)
{
    CUcontext context, before;
    if (!device)
        return cudaErrorInvalidValue;
    cudaError_t failed = cuStreamGetCtx(stream, &context);
    if (!failed)
        failed = cuCtxPushCurrent_v2(context);
    if (failed)
        return failed;
    failed = cuCtxGetDevice(device);
    cuCtxPopCurrent_v2(&before);
    return failed;
}

ON_STREAM(cudaStreamGetDevice, (CUstream stream, int *device), device_of(stream, device))

EXPORT cudaError_t cudaStreamCopyAttributes(CUstream to, CUstream from);
EXPORT cudaError_t cudaStreamCopyAttributes(CUstream to, CUstream from)
{
    cudaError_t failed = enter();
    return failed ? failed : keep(cuStreamCopyAttributes(to, from));
}

EXPORT cudaError_t cudaStreamCopyAttributes_ptsz(CUstream to, CUstream from);
EXPORT cudaError_t cudaStreamCopyAttributes_ptsz(CUstream to, CUstream from)
{
    return cudaStreamCopyAttributes(stream_of(to, true), stream_of(from, true));
}

/* ---- Events ------------------------------------------------------------------------------------------------------- */

FORWARD(cudaEventCreate, cuEventCreate, (CUevent * event), (event, 0))
FORWARD(cudaEventCreateWithFlags, cuEventCreate, (CUevent * event, unsigned flags), (event, flags))
FORWARD(cudaEventDestroy, cuEventDestroy_v2, (CUevent event), (event))
FORWARD(cudaEventQuery, cuEventQuery, (CUevent event), (event))
FORWARD(cudaEventSynchronize, cuEventSynchronize, (CUevent event), (event))
FORWARD(cudaEventElapsedTime, cuEventElapsedTime_v2, (float *ms, CUevent begin, CUevent end), (ms, begin, end))
ON_STREAM(cudaEventRecord, (CUevent event, CUstream stream), cuEventRecord(event, stream))
ON_STREAM(cudaEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags),
          cuEventRecordWithFlags(event, stream, flags))

/* ---- Capture ------------------------------------------------------------------------------------------------------ */

ON_STREAM(cudaStreamBeginCapture, (CUstream stream, int mode), cuStreamBeginCapture_v2(stream, mode))
ON_STREAM(cudaStreamBeginCaptureToGraph,
          (CUstream stream, CUgraph graph, const CUgraphNode *after, const void *edges, size_t count, int mode),
          cuStreamBeginCaptureToGraph(stream, graph, (void *)after, (void *)edges, count, mode))
ON_STREAM(cudaStreamEndCapture, (CUstream stream, CUgraph *graph), cuStreamEndCapture(stream, graph))
ON_STREAM(cudaStreamIsCapturing, (CUstream stream, int *status), cuStreamIsCapturing(stream, (void *)status))
FORWARD(cudaThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, (int *mode), ((void *)mode))

#if RUNTIME_MAJOR >= 13
ON_STREAM(cudaStreamGetCaptureInfo,
          (CUstream stream, int *status, unsigned long long *id, CUgraph *graph, const CUgraphNode **after,
           const void **edges, size_t *count),
          cuStreamGetCaptureInfo_v3(stream, (void *)status, (void *)id, graph, (void *)after, (void *)edges, count))
ON_STREAM(cudaStreamUpdateCaptureDependencies,
          (CUstream stream, CUgraphNode *after, const void *edges, size_t count, unsigned flags),
          cuStreamUpdateCaptureDependencies_v2(stream, after, (void *)edges, count, flags))
#else
ON_STREAM(cudaStreamGetCaptureInfo_v2,
          (CUstream stream, int *status, unsigned long long *id, CUgraph *graph, const CUgraphNode **after,
           size_t *count),
          cuStreamGetCaptureInfo_v2(stream, (void *)status, (void *)id, graph, (void *)after, count))
ON_STREAM(cudaStreamGetCaptureInfo_v3,
          (CUstream stream, int *status, unsigned long long *id, CUgraph *graph, const CUgraphNode **after,
           const void **edges, size_t *count),
          cuStreamGetCaptureInfo_v3(stream, (void *)status, (void *)id, graph, (void *)after, (void *)edges, count))
ON_STREAM(cudaStreamUpdateCaptureDependencies, (CUstream stream, CUgraphNode *after, size_t count, unsigned flags),
          cuStreamUpdateCaptureDependencies(stream, after, count, flags))
ON_STREAM(cudaStreamUpdateCaptureDependencies_v2,
          (CUstream stream, CUgraphNode *after, const void *edges, size_t count, unsigned flags),
          cuStreamUpdateCaptureDependencies_v2(stream, after, (void *)edges, count, flags))
#endif
