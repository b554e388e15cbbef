// Two roles beside each other on one device: one computes and checks until it is told to end, the other does what must not
// concern anybody else.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include "../check.cuh"

enum { COUNT = 4096, THREADS = 256 };

__device__ unsigned rounds;
__constant__ unsigned step = 3;

__global__ void advance(unsigned *values)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = values[i] * step + i;
    if (i == 0)
        atomicAdd(&rounds, 1u);
}

__global__ void trap() { asm volatile("trap;"); }
__global__ void fail(int value) { assert(value == 3); }
__global__ void spin(volatile unsigned *value)
{
    while (*value != 12345u) {
    }
}
__global__ void store(unsigned *values, long index) { values[index] = 0xbadbadu; }

static bool told_to_end()
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
}

static int compute()
{
    unsigned *device, *host = new unsigned[COUNT], *expected = new unsigned[COUNT](), done = 0, counted = 0;
    CHECK(cudaMalloc(&device, COUNT * sizeof *device));
    CHECK(cudaMemset(device, 0, COUNT * sizeof *device));
    std::printf("ready\n");
    std::fflush(stdout);
    do {
        for (int i = 0; i < 10; i++, done++) {
            advance<<<COUNT / THREADS, THREADS>>>(device);
            for (unsigned at = 0; at < COUNT; at++)
                expected[at] = expected[at] * 3 + at;
        }
        CHECK(cudaMemcpy(host, device, COUNT * sizeof *device, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpyFromSymbol(&counted, rounds, sizeof counted));
        if (std::memcmp(host, expected, COUNT * sizeof *host) != 0 || counted != done) {
            std::printf("WRONG after %u rounds, %u counted\n", done, counted);
            return 1;
        }
    } while (!told_to_end());
    std::printf("right\n");
    return 0;
}

static void wait_to_end(void *)
{
    while (!told_to_end()) {
    }
}

// Waits for its stream, which waits for it, until it is told to end.
static int hold(unsigned *device)
{
    advance<<<COUNT / THREADS, THREADS>>>(device);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaLaunchHostFunc(0, wait_to_end, nullptr));
    advance<<<COUNT / THREADS, THREADS>>>(device);
    std::printf("waits\n");
    std::fflush(stdout);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

static void await_line()
{
    int read;
    while ((read = std::getchar()) != '\n' && read != EOF) {
    }
}

// Stores when it is told to, and waits for nothing until it is told to end.
static int leave(unsigned *device, long index)
{
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, store)); /* loads it: that may have to wait for a program that waits for itself */
    std::printf("ready\n");
    std::fflush(stdout);
    await_line();
    store<<<1, 1>>>(device, index);
    CHECK(cudaGetLastError());
    std::printf("stored\n");
    std::fflush(stdout);
    await_line();
    return 0;
}

// Waits after each of many steps, and looks at nothing after the last one.
static int train(unsigned *device, long index)
{
    for (int i = 0; i < 100; i++) {
        advance<<<COUNT / THREADS, THREADS>>>(device);
        CHECK(cudaDeviceSynchronize());
    }
    store<<<1, 1>>>(device, index);
    std::printf("%s\n", cudaDeviceSynchronize() == cudaSuccess ? "went on" : "told at once");
    return 0;
}

// The kernel is in a graph that was made by hand: there is no other launch of it.
static void spin_in_graph(unsigned *device)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t runnable;
    void *parameters[] = {&device};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)spin;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(1);
    kernel.kernelParams = parameters;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
    CHECK(cudaGraphInstantiate(&runnable, graph, 0));
    CHECK(cudaGraphLaunch(runnable, 0));
}

int main(int count, char **arguments)
{
    const char *role = count > 1 ? arguments[1] : "";
    if (std::strcmp(role, "compute") == 0)
        return compute();
    unsigned *device;
    CHECK(cudaMalloc(&device, COUNT * sizeof *device));
    CHECK(cudaMemset(device, 0, COUNT * sizeof *device));
    if (std::strcmp(role, "hold") == 0)
        return hold(device);
    if (std::strcmp(role, "leave") == 0)
        return leave(device, std::atol(arguments[2]));
    if (std::strcmp(role, "train") == 0)
        return train(device, std::atol(arguments[2]));
    if (std::strcmp(role, "trap") == 0)
        trap<<<1, 32>>>();
    else if (std::strcmp(role, "assert") == 0)
        fail<<<1, 2>>>(4);
    else if (std::strcmp(role, "spin") == 0)
        spin<<<1, 1>>>(device);
    else if (std::strcmp(role, "spin-in-graph") == 0)
        spin_in_graph(device);
    else if (std::strcmp(role, "store") == 0)
        store<<<1, 1>>>(device, std::atol(arguments[2]));
    CHECK(cudaGetLastError()); /* a launch that failed would look like a kernel that did nothing */
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf("then %s\n", cudaGetErrorName(cudaMemset(device, 0, 4)));
    return 0;
}
