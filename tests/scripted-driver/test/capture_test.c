/* Captures and graphs: what is recorded, replayed, forbidden. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

static void *stream, *other, *context;
static CUdeviceptr memory;

static unsigned word(void)
{
    unsigned value;
    OKAY(cuMemcpyDtoH_v2(&value, memory, 4));
    return value;
}

static int calls;
static void count(void *data)
{
    (void)data;
    calls++;
}

static void record_and_replay(void)
{
    void *graph, *exec;
    int status;
    size_t nodes = 0;
    OKAY(cuMemsetD32_v2(memory, 0, 4));
    OKAY(cuCtxSynchronize());
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OKAY(cuStreamIsCapturing(stream, &status));
    EQUAL(1, status);
    OKAY(cuMemsetD32Async(memory, 7, 1, stream));
    OKAY(cuMemcpyDtoDAsync_v2(memory + 4, memory, 4, stream));
    OKAY(cuLaunchHostFunc(stream, count, NULL));
    OKAY(cuStreamEndCapture(stream, &graph));
    EQUAL(0, word()); /* recorded, not run */
    OKAY(cuGraphGetNodes(graph, NULL, &nodes));
    EQUAL(3, nodes);
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OKAY(cuGraphDestroy(graph));
    OKAY(cuGraphLaunch(exec, stream));
    OKAY(cuGraphLaunch(exec, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(2, calls);
    EQUAL(7, word());
    OKAY(cuGraphExecDestroy(exec));
}

static void fork_and_join(void)
{
    void *graph, *fork, *join;
    OKAY(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OKAY(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OKAY(cuMemsetD32Async(memory, 1, 1, stream));
    OKAY(cuEventRecord(fork, stream));
    OKAY(cuStreamWaitEvent(other, fork, 0));
    OKAY(cuMemsetD32Async(memory + 4, 1, 1, other));
    OKAY(cuEventRecord(join, other));
    OKAY(cuStreamWaitEvent(stream, join, 0));
    OKAY(cuStreamEndCapture(stream, &graph));
    OKAY(cuGraphDestroy(graph));
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OKAY(cuEventRecord(fork, stream));
    OKAY(cuStreamWaitEvent(other, fork, 0));
    OKAY(cuMemsetD32Async(memory + 4, 1, 1, other));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(stream, &graph)); /* never joined */
    CHECK(!graph);
}

static void *elsewhere(void *data)
{
    CUdeviceptr p;
    OKAY(cuCtxSetCurrent(context));
    *(CUresult *)data = cuMemAlloc_v2(&p, 16);
    return NULL;
}

static CUresult in_thread(void)
{
    CUresult result;
    pthread_t t;
    OKAY(pthread_create(&t, NULL, elsewhere, &result));
    OKAY(pthread_join(t, NULL));
    return result;
}

static void forbidden(void)
{
    void *graph = &graph;
    CUdeviceptr p;
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxSynchronize());
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemsetD32Async(memory, 1, 1, stream));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    CHECK(!graph);
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, in_thread()); /* a global capture forbids it to everybody */
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    EQUAL(0, in_thread()); /* a thread's own capture does not */
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc_v2(&p, 16));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    int mode = 2;
    OKAY(cuThreadExchangeStreamCaptureMode(&mode));
    EQUAL(0, mode);
    OKAY(cuMemAlloc_v2(&p, 16)); /* a relaxed thread may */
    OKAY(cuThreadExchangeStreamCaptureMode(&mode));
    OKAY(cuStreamEndCapture(stream, &graph));
    OKAY(cuGraphDestroy(graph));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL)); /* the legacy stream cannot be captured */
    EQUAL(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream, &graph));
    void *blocking;
    OKAY(cuStreamCreate(&blocking, 0));
    OKAY(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemsetD32Async(memory, 1, 1, NULL));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph));
}

static void memory_of_graphs(void)
{
    void *graph, *exec, *node;
    uint64_t used;
    CUdeviceptr p;
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OKAY(cuMemAllocAsync(&p, 4096, stream));
    OKAY(cuMemsetD32Async(p, 3, 1, stream));
    OKAY(cuMemcpyDtoDAsync_v2(memory, p, 4, stream));
    OKAY(cuMemFreeAsync(p, stream));
    OKAY(cuStreamEndCapture(stream, &graph));
    OKAY(cuDeviceGetGraphMemAttribute(0, 0, &used));
    EQUAL(4096, used);
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OKAY(cuGraphLaunch(exec, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(3, word());
    OKAY(cuGraphExecDestroy(exec));
    OKAY(cuGraphDestroy(graph));
    OKAY(cuDeviceGetGraphMemAttribute(0, 0, &used));
    EQUAL(0, used);
    OKAY(cuGraphCreate(&graph, 0));
    struct call_alloc_node parameters = {.pool = {.allocation_type = 1, .location = {1, 0}}, .bytes = 8192};
    OKAY(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &parameters));
    OKAY(cuMemsetD8_v2(parameters.pointer, 0, 8192));
    OKAY(cuCtxSynchronize());
    OKAY(cuGraphDestroy(graph));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(parameters.pointer, 0, 8192));
}

static int destroyed;

static void note_destroyed(void *data)
{
    __atomic_store_n(&destroyed, *(int *)data, __ATOMIC_RELEASE);
}

/* A user object outlives its graph in an executable, and that in a launch which still runs. */
static void user_objects(void)
{
    void *graph, *exec, *object;
    int mark = 17;
    unsigned *flag;
    CUdeviceptr at;
    OKAY(cuMemHostAlloc((void **)&flag, 4, 2));
    *flag = 0;
    OKAY(cuMemHostGetDevicePointer_v2(&at, flag, 0));
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OKAY(cuStreamWaitValue32_v2(stream, at, 1, 0));
    OKAY(cuStreamEndCapture(stream, &graph));
    OKAY(cuUserObjectCreate(&object, &mark, note_destroyed, 1, 1));
    OKAY(cuGraphRetainUserObject(graph, object, 1, 1));
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OKAY(cuGraphDestroy(graph));
    OKAY(cuGraphLaunch(exec, stream));
    OKAY(cuGraphExecDestroy(exec));
    EQUAL(0, __atomic_load_n(&destroyed, __ATOMIC_ACQUIRE));
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    OKAY(cuStreamSynchronize(stream));
    for (int i = 0; i < 20000 && !__atomic_load_n(&destroyed, __ATOMIC_ACQUIRE); i++)
        usleep(1000);
    EQUAL(mark, destroyed);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 1)); /* gone */
    OKAY(cuMemFreeHost(flag));
}

int main(void)
{
    OKAY(cuInit(0));
    OKAY(cuCtxCreate_v4(&context, NULL, 0, 0));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&memory, 16));
    record_and_replay();
    fork_and_join();
    forbidden();
    memory_of_graphs();
    user_objects();
    return 0;
}
