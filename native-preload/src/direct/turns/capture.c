#include "direct/turns/capture.h"

#include <pthread.h>
#include <string.h>

#include "direct/pools/captured_memory.h"
#include "direct/turns/devices.h"
#include "direct/turns/gate.h"
#include "direct/pools/pools.h"
#include "session/report.h"
#include "session/segment.h"
#include "tessera_entries.h"

#define MAX_CAPTURES 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uintptr_t stream; /* 0: free */
    int device;
    pthread_t thread; /* that began it */
} captures[MAX_CAPTURES];
static unsigned open_count;

bool capture_open_any(void)
{
    return __atomic_load_n(&open_count, __ATOMIC_ACQUIRE) != 0;
}

bool capture_open(unsigned device)
{
    bool found = false;
    if (!capture_open_any())
        return false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_CAPTURES && !found; i++)
        found = captures[i].stream && (captures[i].device < 0 || captures[i].device == (int)device);
    pthread_mutex_unlock(&lock);
    return found;
}

bool capture_of_caller(void)
{
    bool found = false;
    if (!capture_open_any())
        return false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_CAPTURES && !found; i++)
        found = captures[i].stream && pthread_equal(captures[i].thread, pthread_self());
    pthread_mutex_unlock(&lock);
    return found;
}

bool capture_shield(void)
{
    if (capture_open_any() || pthread_mutex_trylock(&lock) != 0)
        return false;
    if (open_count == 0)
        return true;
    pthread_mutex_unlock(&lock);
    return false;
}

bool capture_shield_wait(void)
{
    pthread_mutex_lock(&lock);
    if (open_count == 0)
        return true;
    pthread_mutex_unlock(&lock);
    return false;
}

void capture_unshield(void)
{
    pthread_mutex_unlock(&lock);
}

static void change_count(int device, int by)
{
    __atomic_store_n(&open_count, open_count + (unsigned)by, __ATOMIC_RELEASE);
    if (device < 0)
        return;
    segment_change_begin();
    tessera_segment->devices[device].capturing += (uint64_t)(int64_t)by;
    segment_change_end();
}

static void begun(uintptr_t stream, int device)
{
    for (int i = 0; i < MAX_CAPTURES; i++)
        if (captures[i].stream == 0) {
            captures[i].stream = stream;
            captures[i].device = device;
            captures[i].thread = pthread_self();
            change_count(device, 1);
            segment_count(TESSERA_COUNTER_CAPTURES, 1);
            return;
        }
    report_error(0, "more than %d stream captures at once: a turn may end inside one", MAX_CAPTURES);
}

static void ended(uintptr_t stream)
{
    for (int i = 0; i < MAX_CAPTURES; i++)
        if (captures[i].stream == stream) {
            captures[i].stream = 0;
            change_count(captures[i].device, -1);
            return;
        }
}

void capture_stream_destroyed(uintptr_t stream)
{
    if (!capture_open_any())
        return;
    pthread_mutex_lock(&lock);
    ended(stream);
    pthread_mutex_unlock(&lock);
}

void capture_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(captures, 0, sizeof captures);
    open_count = 0;
}

/* A begin passes the gate, so none starts while a drain synchronises, and holds the lock, so none starts in a probe. */
#define BEGIN_CAPTURE(otherwise, call)                                                                                 \
    uintptr_t key = gate_stream(stream, otherwise);                                                                    \
    struct gate_pass pass = gate_enter(TESSERA_KIND_CAPTURE, key);                                                     \
    if (gate_refused(pass))                                                                                            \
        return CUDA_ERROR_OUT_OF_MEMORY;                                                                               \
    int device = devices_of_stream(key);                                                                               \
    pthread_mutex_lock(&lock);                                                                                         \
    CUresult result = (call);                                                                                          \
    if (result == CUDA_SUCCESS)                                                                                        \
        begun(key, device);                                                                                            \
    pthread_mutex_unlock(&lock);                                                                                       \
    gate_leave(pass, result);                                                                                          \
    return result

/* Whatever the end answers, what counts is whether the stream still captures. */
#define END_CAPTURE(otherwise, call, is_capturing)                                                                     \
    CUresult result = (call);                                                                                          \
    int status = CU_STREAM_CAPTURE_STATUS_NONE;                                                                        \
    pthread_mutex_lock(&lock);                                                                                         \
    if ((is_capturing) != CUDA_SUCCESS || status == CU_STREAM_CAPTURE_STATUS_NONE)                                     \
        ended(gate_stream(stream, otherwise));                                                                         \
    pthread_mutex_unlock(&lock);                                                                                       \
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

TESSERA_EXPORT CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph,
                                                         const CUgraphNode *dependencies, const void *dependency_data,
                                                         size_t count, int mode)
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
