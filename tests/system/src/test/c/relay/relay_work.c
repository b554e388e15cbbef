/*
 * Modules, launches, streams, events, host functions, captures and graphs through the relay, as a program sees them. The
 * driver behind the executor is the scripted one: its kernels scripted_fill and scripted_add really compute.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"
#include "scripted_image.h"

#define COUNT 1000

CUresult cuLibraryLoadData(void **library, const void *code, int *jit, void **jit_values, unsigned jit_count,
                           int *options, void **values, unsigned count);
CUresult cuLibraryUnload(void *library);
CUresult cuLibraryGetKernel(void **kernel, void *library, const char *name);
CUresult cuKernelGetFunction(void **function, void *kernel);
CUresult cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes);
CUresult cuFuncGetAttribute(int *value, int attribute, void *function);
CUresult cuStreamGetPriority(void *stream, int *priority);
CUresult cuGraphClone(void **clone, void *graph);

static void *context, *module, *fill;
static CUdeviceptr memory;

static CUresult launch_fill(unsigned value, uint64_t count, void *stream)
{
    void *parameters[] = {&memory, &value, &count};
    return cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL);
}

static void expect(unsigned value)
{
    static unsigned got[COUNT];
    OKAY(cuMemcpyDtoH_v2(got, memory, sizeof got));
    for (int i = 0; i < COUNT; i++)
        EQUAL(value, got[i]);
}

static void modules(void)
{
    void *other = NULL, *library, *kernel, *function;
    size_t offset = 9, bytes = 9;
    int value = 0;
    OKAY(cuModuleLoadData(&module, SCRIPTED_IMAGE));
    OKAY(cuModuleGetFunction(&fill, module, "scripted_fill"));
    OKAY(cuFuncGetParamInfo(fill, 1, &offset, &bytes));
    EQUAL(8, offset);
    EQUAL(4, bytes);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(fill, 3, &offset, &bytes));
    OKAY(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, fill));
    CHECK(value >= 32);
    EQUAL(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&other, "MZ"));
    OKAY(cuLibraryLoadData(&library, SCRIPTED_IMAGE, NULL, NULL, 0, NULL, NULL, 0));
    OKAY(cuLibraryGetKernel(&kernel, library, "scripted_fill"));
    OKAY(cuKernelGetFunction(&function, kernel));
    unsigned number = 5;
    uint64_t count = COUNT;
    void *parameters[] = {&memory, &number, &count};
    OKAY(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL)); /* a CUkernel is taken, too */
    expect(5);
    OKAY(cuLibraryUnload(library));
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
}

static void launches(void)
{
    OKAY(launch_fill(7, COUNT, NULL));
    expect(7);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(fill, 0, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(fill, 1, 1, 1, 2048, 1, 1, 0, NULL, NULL, NULL));
}

static void streams_and_events(void)
{
    void *stream, *event, *later;
    int priority = 9;
    float elapsed = -1;
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuStreamGetPriority(stream, &priority));
    EQUAL(0, priority);
    OKAY(cuEventCreate(&event, 0));
    OKAY(cuEventCreate(&later, 0));
    OKAY(cuEventQuery(event));
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&elapsed, event, later));
    OKAY(cuEventRecord(event, stream));
    OKAY(launch_fill(8, COUNT, stream));
    OKAY(cuEventRecord(later, stream));
    OKAY(cuEventSynchronize(later));
    OKAY(cuEventQuery(event));
    OKAY(cuStreamQuery(stream));
    OKAY(cuEventElapsedTime(&elapsed, event, later));
    CHECK(elapsed >= 0);
    expect(8);
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuStreamWaitEvent(NULL, later, 0));
    OKAY(cuCtxSynchronize());
    OKAY(cuEventDestroy_v2(event));
    OKAY(cuEventDestroy_v2(later));
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
    OKAY(cuStreamDestroy_v2(stream));
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
}

static unsigned called;
static void count_call(void *data)
{
    __atomic_add_fetch(&called, *(unsigned *)data, __ATOMIC_SEQ_CST);
}

#define MANY_CALLS 20000u /* more than there are words (RELAY.md, section 5) */

static void take_long(void *unused)
{
    (void)unused;
    usleep(300000);
}

static void host_functions(void)
{
    static unsigned one = 1;
    void *stream;
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 50; i++)
        OKAY(cuLaunchHostFunc(stream, count_call, &one));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(50, called);
    OKAY(cuLaunchHostFunc(stream, take_long, NULL));
    for (int i = 50; i < MANY_CALLS;
         i++) /* more than may be queued: the launch waits, and everything goes on afterwards */
        OKAY(cuLaunchHostFunc(stream, count_call, &one));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(MANY_CALLS, called);
    OKAY(cuCtxSynchronize());
    OKAY(cuStreamDestroy_v2(stream));
}

static void captures(void)
{
    static unsigned ten = 10;
    void *stream, *graph, *exec, *nodes[8];
    size_t count = 8;
    int state = 9;
    called = 0;
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(launch_fill(1, COUNT, stream));
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OKAY(cuStreamIsCapturing(stream, &state));
    EQUAL(1, state);
    OKAY(launch_fill(9, COUNT, stream));
    OKAY(cuLaunchHostFunc(stream, count_call, &ten));
    OKAY(cuStreamEndCapture(stream, &graph));
    CHECK(graph != NULL);
    expect(1);
    OKAY(cuGraphGetNodes(graph, NULL, &count));
    CHECK(count >= 2 && count <= 8);
    OKAY(cuGraphGetNodes(graph, nodes, &count));
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OKAY(cuGraphDestroy(graph));
    for (unsigned run = 1; run <= 3; run++) {
        OKAY(launch_fill(0, COUNT, stream));
        OKAY(cuGraphLaunch(exec, stream));
        OKAY(cuStreamSynchronize(stream));
        EQUAL(10 * run, called);
        expect(9);
    }
    OKAY(cuGraphExecDestroy(exec));
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
    OKAY(cuStreamIsCapturing(stream, &state));
    EQUAL(2, state);
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    OKAY(launch_fill(3, COUNT, stream)); /* the stream is as before */
    OKAY(cuStreamSynchronize(stream));
    expect(3);
    OKAY(cuStreamDestroy_v2(stream));
}

struct kernel_node { /* CUDA_KERNEL_NODE_PARAMS_v2 */
    void *function;
    unsigned grid[3], block[3], shared_bytes;
    void **parameters, **extra;
    void *kernel, *context;
};
struct host_node { /* CUDA_HOST_NODE_PARAMS */
    void (*function)(void *);
    void *data;
};
CUresult cuGraphAddKernelNode_v2(void **node, void *graph, void *const *needs, size_t count,
                                 const struct kernel_node *p);
CUresult cuGraphKernelNodeGetParams_v2(void *node, struct kernel_node *p);
CUresult cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const struct kernel_node *p);
CUresult cuGraphAddHostNode(void **node, void *graph, void *const *needs, size_t count, const struct host_node *p);
CUresult cuGraphHostNodeGetParams(void *node, struct host_node *p);
CUresult cuGraphNodeGetType(void *node, int *type);

static void graphs(void)
{
    static unsigned hundred = 100;
    unsigned value = 21;
    uint64_t count = COUNT;
    void *graph, *exec, *node, *host, *parameters[] = {&memory, &value, &count};
    struct kernel_node kernel = {fill, {1, 1, 1}, {32, 1, 1}, 0, parameters, NULL, NULL, NULL}, back;
    const struct host_node call = {count_call, &hundred};
    struct host_node called_back;
    int type = 9;
    called = 0;
    OKAY(cuGraphCreate(&graph, 0));
    OKAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    OKAY(cuGraphAddHostNode(&host, graph, &node, 1, &call));
    OKAY(cuGraphNodeGetType(host, &type));
    EQUAL(3, type);
    OKAY(cuGraphHostNodeGetParams(host, &called_back));
    CHECK(called_back.function == count_call && called_back.data == &hundred);
    OKAY(cuGraphKernelNodeGetParams_v2(node, &back));
    EQUAL(21, *(unsigned *)back.parameters[1]);
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OKAY(cuGraphLaunch(exec, NULL));
    OKAY(cuStreamSynchronize(NULL));
    expect(21);
    EQUAL(100, called);
    value = 22;
    OKAY(cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel));
    OKAY(cuGraphLaunch(exec, NULL));
    OKAY(cuStreamSynchronize(NULL));
    expect(22);
    EQUAL(200, called);
    OKAY(cuGraphDestroy(graph));
    OKAY(cuGraphExecDestroy(exec));
}

static void *own_stream(void *value)
{
    OKAY(cuCtxSetCurrent(context));
    OKAY(launch_fill(31, COUNT, (void *)2));
    OKAY(cuStreamSynchronize((void *)2));
    return value;
}

static void per_thread(void)
{
    pthread_t thread;
    EQUAL(0, pthread_create(&thread, NULL, own_stream, NULL));
    EQUAL(0, pthread_join(thread, NULL));
    expect(31);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"modules", modules},     {"launches", launches}, {"streams", streams_and_events},
                 {"host", host_functions}, {"captures", captures}, {"graphs", graphs},
                 {"threads", per_thread}};
    alarm(60);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuMemAlloc_v2(&memory, COUNT * sizeof(unsigned)));
    OKAY(cuModuleLoadData(&module, SCRIPTED_IMAGE));
    OKAY(cuModuleGetFunction(&fill, module, "scripted_fill"));
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc < 2 || strcmp(argv[1], parts[i].name) == 0) {
            parts[i].run();
            printf("%s ok\n", parts[i].name);
            fflush(stdout);
        }
    OKAY(cuModuleUnload(module));
    OKAY(cuMemFree_v2(memory));
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    return 0;
}
