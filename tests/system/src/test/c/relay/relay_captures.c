/*
 * Copies between pageable memory and the device in graphs: each launch reads and writes the program's memory again, and
 * what a graph needs for that goes with the last that has it. And boxes in batches, which are no graph.
 */
#include <string.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

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

/* CUDA_ARRAY3D_DESCRIPTOR */
struct descriptor {
    size_t width, height, depth;
    uint32_t format, channels, flags;
};

CUresult cuArray3DCreate_v2(void **array, const void *descriptor);
CUresult cuArrayDestroy(void *array);
CUresult cuMemcpy3DAsync_v2(const struct call_copy_3d *copy, void *stream);
CUresult cuMemcpy3DBatchAsync_v2(size_t count, void *operations, unsigned long long flags, void *stream);
CUresult cuGraphClone(void **clone, void *graph);
CUresult cuGraphAddMemcpyNode(void **node, void *graph, void *const *dependencies, size_t count, const void *copy,
                              void *context);
CUresult cuGraphNodeFindInClone(void **node, void *original, void *clone);
CUresult cuGraphNodeGetType(void *node, int *type);
CUresult cuGraphDestroyNode(void *node);
CUresult cuGraphMemcpyNodeGetParams(void *node, void *copy);
CUresult cuGraphMemcpyNodeSetParams(void *node, const void *copy);
CUresult cuGraphExecMemcpyNodeSetParams(void *exec, void *node, const void *copy, void *context);

static unsigned char source[BYTES], target[BYTES], second[BYTES];

static void fill(unsigned char *to, unsigned seed)
{
    for (size_t i = 0; i < BYTES; i++)
        to[i] = (unsigned char)((i * 2654435761u + seed) >> 11);
}

static void *captured(void *stream, CUdeviceptr device, CUdeviceptr other)
{
    void *graph;
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
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
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OKAY(cuMemcpyHtoDAsync_v2(device, source, BYTES, stream));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
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
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync_v2(0, batch, 0, stream));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync_v2(2, batch, 0, NULL));
    batch[0].source.type = 3;
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync_v2(1, batch, 0, stream));
}

enum { ACROSS = 40, DOWN = 9, DEEP = 4, TEXEL = 8 }; /* an array's elements, of two floats */

/* A box of an array's elements from the program's memory into the array and back, by a batch. */
static void array_batch(void *stream, void *array)
{
    enum { WIDTH = 30, HEIGHT = 6, DEPTH = 2, ROW = 33, ROWS = 8 };
    struct box batch[2] = {
        {{1, 0, (uintptr_t)source, ROW, ROWS, 0}, {2, 0, (uintptr_t)array, 5, 2, 1}, WIDTH, HEIGHT, DEPTH, 1, 0},
        {{2, 0, (uintptr_t)array, 5, 2, 1}, {1, 0, (uintptr_t)target, ROW, ROWS, 0}, WIDTH, HEIGHT, DEPTH, 1, 0},
    };
    fill(source, 21);
    memset(target, 0, BYTES);
    OKAY(cuMemcpy3DBatchAsync_v2(2, batch, 0, stream));
    OKAY(cuStreamSynchronize(stream));
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            EQUAL(0,
                  memcmp(source + (z * ROWS + y) * ROW * TEXEL, target + (z * ROWS + y) * ROW * TEXEL, WIDTH * TEXEL));
    EQUAL(0, target[WIDTH * TEXEL]);
    batch[0].destination.layer_height = DOWN; /* over its edge */
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync_v2(1, batch, 0, stream));
}

/* Rows and boxes of pageable memory in a graph: through an array, and within the program. */
static void shapes(void *stream, CUdeviceptr device)
{
    enum { WIDTH = 200, HEIGHT = 7, DEPTH = 3, PITCH = 256, ROWS = 10 };
    const struct descriptor descriptor = {ACROSS, DOWN, DEEP, 0x20, 2, 0};
    void *array, *graph, *exec;
    OKAY(cuArray3DCreate_v2(&array, &descriptor));
    /* A line is a side. */
    /* clang-format off */
    const struct call_copy_3d in = {
        .source_x = 4, .source_y = 1, .source_type = 1, .source_host = source, .source_pitch = PITCH, .source_height = ROWS,
        .target_x = 8, .target_y = 2, .target_z = 1, .target_type = 3, .target_array = array,
        .width = WIDTH, .height = HEIGHT, .depth = DEPTH};
    const struct call_copy_3d out = {
        .source_x = 8, .source_y = 2, .source_z = 1, .source_type = 3, .source_array = array,
        .target_type = 2, .target_device = device, .target_pitch = PITCH, .target_height = ROWS,
        .width = WIDTH, .height = HEIGHT, .depth = DEPTH};
    const struct call_copy_3d home = {
        .source_type = 4, .source_device = device, .source_pitch = PITCH, .source_height = ROWS,
        .target_x = 4, .target_y = 1, .target_type = 4, .target_device = (uintptr_t)target, .target_pitch = PITCH,
        .target_height = ROWS, .width = WIDTH, .height = HEIGHT, .depth = DEPTH};
    const struct call_copy_2d again = {
        .source_x = 4, .source_y = 1, .source_type = 1, .source_host = target, .source_pitch = PITCH,
        .target_type = 1, .target_host = second, .target_pitch = 2 * PITCH, .width = WIDTH, .height = HEIGHT};
    /* clang-format on */
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OKAY(cuMemcpy3DAsync_v2(&in, stream));
    OKAY(cuMemcpy3DAsync_v2(&out, stream));
    OKAY(cuMemcpy3DAsync_v2(&home, stream));
    OKAY(cuMemcpy2DAsync_v2(&again, stream));
    OKAY(cuStreamEndCapture(stream, &graph));
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned launch = 0; launch < LAUNCHES; launch++) {
        fill(source, launch + 50);
        memset(target, 0, BYTES);
        memset(second, 0, BYTES);
        OKAY(cuGraphLaunch(exec, stream));
        OKAY(cuStreamSynchronize(stream));
        for (int z = 0; z < DEPTH; z++)
            for (int y = 0; y < HEIGHT; y++)
                EQUAL(0,
                      memcmp(source + (z * ROWS + y + 1) * PITCH + 4, target + (z * ROWS + y + 1) * PITCH + 4, WIDTH));
        EQUAL(0, target[PITCH + 3]);
        EQUAL(0, target[PITCH + 4 + WIDTH]);
        for (int y = 0; y < HEIGHT; y++)
            EQUAL(0, memcmp(target + (y + 1) * PITCH + 4, second + y * 2 * PITCH, WIDTH));
    }
    OKAY(cuGraphExecDestroy(exec));
    OKAY(cuGraphDestroy(graph));
    array_batch(stream, array);
    OKAY(cuArrayDestroy(array));
}

/* CUDA_MEMCPY3D of this many bytes between the program's memory and the device's. */
static struct call_copy_3d line(const void *from, CUdeviceptr from_device, void *to, CUdeviceptr to_device, size_t bytes)
{
    return (struct call_copy_3d){.source_type = from ? 1 : 2,
                                 .source_host = from,
                                 .source_device = from_device,
                                 .target_type = to ? 1 : 2,
                                 .target_host = to,
                                 .target_device = to_device,
                                 .width = bytes,
                                 .height = 1,
                                 .depth = 1};
}

static void launched(void *exec, void *stream, unsigned seed, const unsigned char *from, const unsigned char *to)
{
    fill(source, seed);
    memset(target, 0, BYTES);
    memset(second, 0, BYTES);
    OKAY(cuGraphLaunch(exec, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(0, memcmp(from, to, 1000));
}

/* Copy nodes that the program makes itself: each is one node, and a copy node to all who ask. */
static void nodes(void *stream, void *context, CUdeviceptr device)
{
    enum { COPY = 1 };
    void *graph, *clone, *exec, *in, *out, *twin, *of_clone, *last, *listed[8];
    size_t count = 8;
    int type;
    OKAY(cuGraphCreate(&graph, 0));
    struct call_copy_3d up = line(source, 0, NULL, device, 1000), down = line(NULL, device, target, 0, 1000);
    struct call_copy_3d beside = line(target, 0, second, 0, 1000), asked;
    OKAY(cuGraphAddMemcpyNode(&in, graph, NULL, 0, &up, context));
    OKAY(cuGraphAddMemcpyNode(&out, graph, &in, 1, &down, context));
    OKAY(cuGraphAddMemcpyNode(&last, graph, &out, 1, &beside, context));
    OKAY(cuGraphGetNodes(graph, listed, &count));
    EQUAL(3, (int)count);
    for (int i = 0; i < 3; i++) {
        OKAY(cuGraphNodeGetType(listed[i], &type));
        EQUAL(COPY, type);
    }
    OKAY(cuGraphMemcpyNodeGetParams(out, &asked));
    EQUAL(1, asked.target_type == 1 && asked.target_host == target && asked.width == 1000);
    EQUAL(1, asked.source_device == device && asked.source_type == 2);
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    launched(exec, stream, 31, source, target);
    launched(exec, stream, 32, source, second);

    up.source_host = source + 2000; /* in the instantiated graph alone */
    OKAY(cuGraphExecMemcpyNodeSetParams(exec, in, &up, context));
    launched(exec, stream, 33, source + 2000, second);
    OKAY(cuGraphExecDestroy(exec));
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    launched(exec, stream, 34, source, second);
    OKAY(cuGraphClone(&clone, graph));
    OKAY(cuGraphMemcpyNodeSetParams(in, &up)); /* in the graph: what is instantiated and cloned stays */
    launched(exec, stream, 35, source, second);
    OKAY(cuGraphExecDestroy(exec));
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    launched(exec, stream, 36, source + 2000, target);
    OKAY(cuGraphExecDestroy(exec));

    OKAY(cuGraphNodeFindInClone(&of_clone, in, clone));
    OKAY(cuGraphNodeGetType(of_clone, &type));
    EQUAL(COPY, type);
    OKAY(cuGraphDestroy(graph));
    OKAY(cuGraphInstantiateWithFlags(&exec, clone, 0));
    launched(exec, stream, 37, source, second);
    EQUAL(CUDA_ERROR_NOT_SUPPORTED, cuGraphMemcpyNodeSetParams(of_clone, &down)); /* the other way round */
    OKAY(cuGraphAddMemcpyNode(&twin, clone, NULL, 0, &up, context));
    OKAY(cuGraphDestroyNode(twin));
    OKAY(cuGraphExecDestroy(exec));
    OKAY(cuGraphDestroy(clone));
}

int main(void)
{
    void *context, *stream;
    CUdeviceptr device, other;
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&device, BYTES));
    OKAY(cuMemAlloc_v2(&other, BYTES));
    graphs(stream, device, other);
    given_up(stream, device);
    boxes(stream, device);
    shapes(stream, device);
    nodes(stream, context, device);
    printf("captures ok\n");
    return 0;
}
