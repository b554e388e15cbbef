/*
 * Copies between pageable memory and the device in graphs: each launch reads and writes the program's memory anew, and what
 * a graph needs for that goes with the last that has it. And boxes in batches, which are no graph.
 */
#include <string.h>

#include "check.h"
#include "cuda_calls.h"

enum { BYTES = 300001, LAUNCHES = 5, GRAPHS = 40 };

/* CUmemcpy3DOperand of an address, CUDA_MEMCPY3D_BATCH_OP */
struct operand {
    uint32_t type, pad;
    uint64_t at, row_length, layer_height, hint;
};
struct box {
    struct operand source, destination;
    uint64_t width, height, depth;
    uint32_t access_order, flags;
};

CUresult cuMemcpy3DBatchAsync_v2(size_t count, void *operations, unsigned long long flags, void *stream);
CUresult cuGraphClone(void **clone, void *graph);

static unsigned char source[BYTES], target[BYTES], second[BYTES];

static void fill(unsigned char *to, unsigned seed)
{
    for (size_t i = 0; i < BYTES; i++)
        to[i] = (unsigned char)((i * 2654435761u + seed) >> 11);
}

static void *captured(void *stream, CUdeviceptr device, CUdeviceptr other)
{
    void *graph;
    OKAY(cuStreamBeginCapture_v2(stream, 0));
    OKAY(cuMemcpyHtoDAsync_v2(device, source, BYTES, stream));
    OKAY(cuMemcpyDtoDAsync_v2(other, device, BYTES, stream));
    OKAY(cuMemcpyDtoHAsync_v2(target, other, BYTES, stream));
    OKAY(cuMemcpyAsync((uintptr_t)second, (uintptr_t)target, BYTES, stream));
    OKAY(cuStreamEndCapture(stream, &graph));
    return graph;
}

static void graphs(void *stream, CUdeviceptr device, CUdeviceptr other)
{
    void *graph = captured(stream, device, other), *exec;
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OKAY(cuGraphDestroy(graph)); /* what is instantiated keeps what it needs */
    for (unsigned launch = 0; launch < LAUNCHES; launch++) {
        fill(source, launch);
        memset(target, 0, BYTES);
        memset(second, 0, BYTES);
        OKAY(cuGraphLaunch(exec, stream));
        OKAY(cuStreamSynchronize(stream));
        EQUAL(0, memcmp(source, target, BYTES));
        EQUAL(0, memcmp(source, second, BYTES));
    }
    OKAY(cuGraphExecDestroy(exec));
    for (unsigned i = 0; i < GRAPHS; i++) { /* words and pinned memory come back */
        graph = captured(stream, device, other);
        OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
        fill(source, i + 100);
        OKAY(cuGraphLaunch(exec, stream));
        OKAY(cuStreamSynchronize(stream));
        EQUAL(0, memcmp(source, second, BYTES));
        OKAY(cuGraphExecDestroy(exec));
        OKAY(cuGraphDestroy(graph));
    }
}

/* The same copies outside of a capture, after one was given up. */
static void given_up(void *stream, CUdeviceptr device)
{
    void *graph = NULL;
    OKAY(cuStreamBeginCapture_v2(stream, 0));
    OKAY(cuMemcpyHtoDAsync_v2(device, source, BYTES, stream));
    EQUAL(900, cuStreamSynchronize(stream));
    EQUAL(901, cuStreamEndCapture(stream, &graph));
    fill(source, 7);
    OKAY(cuMemcpyHtoDAsync_v2(device, source, BYTES, stream));
    OKAY(cuMemcpyDtoHAsync_v2(target, device, BYTES, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(0, memcmp(source, target, BYTES));
}

static void boxes(void *stream, CUdeviceptr device)
{
    enum { WIDTH = 50, HEIGHT = 7, DEPTH = 3, ROW = 64, ROWS = 10 };
    struct box batch[2] = {
        {{1, 0, (uintptr_t)source, ROW, ROWS, 0}, {1, 0, device, WIDTH, HEIGHT, 0}, WIDTH, HEIGHT, DEPTH, 1, 0},
        {{1, 0, device, 0, 0, 0}, {1, 0, (uintptr_t)target, ROW, ROWS, 0}, WIDTH, HEIGHT, DEPTH, 1, 0},
    };
    fill(source, 9);
    memset(target, 0, BYTES);
    OKAY(cuMemcpy3DBatchAsync_v2(2, batch, 0, stream));
    OKAY(cuStreamSynchronize(stream));
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            EQUAL(0, memcmp(source + (z * ROWS + y) * ROW, target + (z * ROWS + y) * ROW, WIDTH));
    EQUAL(0, target[WIDTH]);
    EQUAL(1, cuMemcpy3DBatchAsync_v2(0, batch, 0, stream));
    EQUAL(1, cuMemcpy3DBatchAsync_v2(2, batch, 0, NULL));
    batch[0].source.type = 2;
    EQUAL(801, cuMemcpy3DBatchAsync_v2(1, batch, 0, stream));
}

int main(void)
{
    void *context, *stream;
    CUdeviceptr device, other;
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, 1));
    OKAY(cuMemAlloc_v2(&device, BYTES));
    OKAY(cuMemAlloc_v2(&other, BYTES));
    graphs(stream, device, other);
    given_up(stream, device);
    boxes(stream, device);
    printf("captures ok\n");
    return 0;
}
