/*
 * A program as a compiler of CUDA 12 leaves it: linked with libcudart.so.12, its kernel registered by start-up code, and the
 * calls and layouts that CUDA 13 changed in their older form. No header of NVIDIA's: the declarations are CUDA 12's.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1000u

typedef struct {
    unsigned x, y, z;
} dim3;
typedef int cudaError;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid,
                            void *bid, void *block, void *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
                       int constant, int global);
cudaError cudaRuntimeGetVersion(int *version);
cudaError cudaGetDeviceProperties_v2(void *properties, int device);
cudaError cudaMalloc(void **memory, size_t bytes);
cudaError cudaFree(void *memory);
cudaError cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
cudaError cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
cudaError cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
cudaError cudaMemsetAsync(void *memory, int value, size_t bytes, void *stream);
cudaError cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream);
cudaError cudaStreamCreate(void **stream);
cudaError cudaStreamSynchronize(void *stream);
cudaError cudaStreamBeginCapture(void *stream, int mode);
cudaError cudaStreamEndCapture(void *stream, void **graph);
cudaError cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph,
                                      void *const **dependencies, size_t *count);
cudaError cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags);
cudaError cudaGraphLaunch(void *exec, void *stream);
cudaError cudaGraphCreate(void **graph, unsigned flags);
cudaError cudaGraphAddEmptyNode(void **node, void *graph, void *const *dependencies, size_t count);
cudaError cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t count);
cudaError cudaGraphGetEdges(void *graph, void **from, void **to, size_t *count);
cudaError cudaGetLastError(void);
const char *cudaGetErrorName(cudaError error);
const char *cudaGetErrorString(cudaError error);
cudaError cudaMallocManaged(void **memory, size_t bytes, unsigned flags);
cudaError cudaMemAdvise(const void *memory, size_t bytes, int advice, int device);

#define OKAY(call)                                                                                                     \
    do {                                                                                                               \
        cudaError result_ = (call);                                                                                    \
        if (result_ != 0) {                                                                                            \
            fprintf(stderr, "%s:%d: %s is %d (%s)\n", __FILE__, __LINE__, #call, result_, cudaGetErrorName(result_));  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* to[i] = from[i] * factor */
#define CODE                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .u32 factor;\n"                          \
    ".visible .entry scale(.param .u64 to, .param .u64 from, .param .u32 count) {\n"                                   \
    " .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %p;\n"                                                              \
    " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"              \
    " ld.param.u32 %r2, [count]; setp.ge.u32 %p, %r1, %r2; @%p ret;\n"                                                 \
    " ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; mul.wide.u32 %d3, %r1, 4;\n"                                   \
    " add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; mov.u64 %d4, factor;\n"                                            \
    " ld.global.u32 %r4, [%d2]; ld.global.u32 %r5, [%d4]; mul.lo.u32 %r4, %r4, %r5; st.global.u32 [%d1], %r4; ret;\n}\n"

static const struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    struct {
        uint16_t kind, version;
        uint32_t header_bytes;
        uint64_t bytes;
        uint32_t compressed, options;
        uint16_t minor, major;
        uint32_t architecture, name[2];
        uint64_t flags, pad, unpacked;
    } entry;
    char code[(sizeof CODE + 7) & ~(size_t)7];
} image = {0xba55ed50u, 1, 16, sizeof image - 16, {1, 0x101, 64, sizeof image.code, 0, 0, 0, 7, 70, {0, 0}, 0x11, 0, 0},
           CODE};
static struct {
    uint32_t magic, version;
    const void *data, *more;
} wrapper = {0x466243b1u, 1, &image, NULL};

static char scale, factor; /* what the program calls them by */
static void **handle;

__attribute__((constructor)) static void registered(void)
{
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &scale, (char *)"scale", "scale", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, &factor, (char *)"factor", "factor", 0, sizeof(unsigned), 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

__attribute__((destructor)) static void unregistered(void)
{
    __cudaUnregisterFatBinary(handle);
}

/* Places of CUDA 12's cudaDeviceProp; 13 took out fields before the last two. */
static void properties(void)
{
    enum { NAME = 0, TOTAL = 288, WARP = 308, MAJOR = 360, MULTIPROCESSORS = 388, BYTES = 1032 };
    unsigned char told[BYTES + 64];
    int warp, major, processors, version;
    size_t total;
    memset(told, 0xee, sizeof told);
    OKAY(cudaGetDeviceProperties_v2(told, 0));
    memcpy(&total, told + TOTAL, sizeof total);
    memcpy(&warp, told + WARP, sizeof warp);
    memcpy(&major, told + MAJOR, sizeof major);
    memcpy(&processors, told + MULTIPROCESSORS, sizeof processors);
    CHECK(memchr(told + NAME, 0, 256) && total > 1 << 20 && warp == 32 && major == 9);
    CHECK(processors > 0 && processors < 10000);
    CHECK(told[BYTES] == 0xee); /* nothing is written behind it */
    OKAY(cudaRuntimeGetVersion(&version));
    CHECK(version / 1000 == 12);
}

static unsigned source[COUNT], target[COUNT];

static void scaled(void *to, void *from, void *stream, unsigned by)
{
    unsigned count = COUNT;
    void *arguments[] = {&to, &from, &count};
    OKAY(cudaLaunchKernel(&scale, (dim3){(COUNT + 127) / 128, 1, 1}, (dim3){128, 1, 1}, arguments, 0, stream));
    OKAY(cudaMemcpyAsync(target, to, sizeof target, 2, stream));
    OKAY(cudaStreamSynchronize(stream));
    for (unsigned i = 0; i < COUNT; i++)
        CHECK(target[i] == source[i] * by);
}

static void graphs(void *to, void *from, void *stream)
{
    unsigned count = COUNT;
    void *arguments[] = {&to, &from, &count}, *graph, *exec, *seen = NULL, *nodes[2], *ends[2][2];
    void *const *dependencies;
    unsigned long long id = 0;
    size_t edges = 2;
    int status = 0;
    OKAY(cudaStreamBeginCapture(stream, 0));
    OKAY(cudaMemsetAsync(to, 0, sizeof target, stream));
    OKAY(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &seen, &dependencies, &edges));
    CHECK(status == 1 && id != 0 && seen && edges == 1 && dependencies[0]);
    OKAY(cudaLaunchKernel(&scale, (dim3){(COUNT + 127) / 128, 1, 1}, (dim3){128, 1, 1}, arguments, 0, stream));
    OKAY(cudaStreamEndCapture(stream, &graph));
    OKAY(cudaGraphInstantiate(&exec, graph, 0));
    OKAY(cudaGraphLaunch(exec, stream));
    OKAY(cudaMemcpyAsync(target, to, sizeof target, 2, stream));
    OKAY(cudaStreamSynchronize(stream));
    for (unsigned i = 0; i < COUNT; i++)
        CHECK(target[i] == source[i] * 5);
    OKAY(cudaGraphCreate(&graph, 0)); /* without data of edges */
    OKAY(cudaGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    OKAY(cudaGraphAddEmptyNode(&nodes[1], graph, NULL, 0));
    OKAY(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    edges = 2;
    OKAY(cudaGraphGetEdges(graph, ends[0], ends[1], &edges));
    CHECK(edges == 1 && ends[0][0] == nodes[0] && ends[1][0] == nodes[1]);
}

/* The first by the driver's entry, the second by this library, each with a line. */
static void refused(void *memory)
{
    void *managed = NULL;
    CHECK(cudaMallocManaged(&managed, 4096, 1) == 801 && cudaGetLastError() == 801);
    CHECK(cudaMemAdvise(memory, 4096, 1, 0) == 801 && cudaGetLastError() == 801);
    CHECK(strcmp(cudaGetErrorString(801), "operation not supported") == 0);
    CHECK(strcmp(cudaGetErrorString(2), "out of memory") == 0);
    CHECK(strcmp(cudaGetErrorString(9), "invalid configuration") == 0);
    CHECK(strcmp(cudaGetErrorString(12345), "unrecognized error code") == 0);
}

int main(void)
{
    void *to, *from, *stream;
    unsigned by = 3;
    properties();
    for (unsigned i = 0; i < COUNT; i++)
        source[i] = i * 7 + 1;
    OKAY(cudaMalloc(&to, sizeof target));
    OKAY(cudaMalloc(&from, sizeof source));
    OKAY(cudaStreamCreate(&stream));
    OKAY(cudaMemcpy(from, source, sizeof source, 1));
    OKAY(cudaMemcpyToSymbol(&factor, &by, sizeof by, 0, 1));
    scaled(to, from, stream, 3);
    by = 5;
    OKAY(cudaMemcpyToSymbol(&factor, &by, sizeof by, 0, 1));
    scaled(to, from, stream, 5);
    graphs(to, from, stream);
    CHECK(cudaMemcpy(NULL, source, 4, 1) != 0 && cudaGetLastError() != 0 && cudaGetLastError() == 0);
    refused(to);
    OKAY(cudaFree(to));
    OKAY(cudaFree(from));
    printf("runtime 12 ok\n");
    return 0;
}
