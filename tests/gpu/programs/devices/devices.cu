// Two devices in one program: kernels of both at once, copies between them, events across them, pinned memory, symbols.
// Prints one line a case, `ok` or `WRONG` behind it. Lines that may differ between drivers begin with `note`.
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "check.cuh"

static const int COUNT = 1 << 20, ROUNDS = 50, DEVICES = 2;

__device__ unsigned offset;
static unsigned *numbers[DEVICES];
static cudaStream_t streams[DEVICES];

__global__ void add(unsigned *to, int n, unsigned x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] += x;
}

__global__ void add_offset(unsigned *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] += offset;
}

static void launch(int device, unsigned *to, unsigned x)
{
    add<<<(COUNT + 255) / 256, 256, 0, streams[device]>>>(to, COUNT, x);
    CHECK(cudaGetLastError());
}

static int differ(const unsigned *there, unsigned expected)
{
    std::vector<unsigned> here(COUNT);
    CHECK(cudaMemcpy(here.data(), there, COUNT * sizeof(unsigned), cudaMemcpyDefault));
    int wrong = 0;
    for (unsigned value : here)
        wrong += value != expected;
    return wrong;
}

static void say(const char *what, int wrong)
{
    std::printf("%s %s\n", what, wrong ? "WRONG" : "ok");
    std::fflush(stdout);
}

static void fill(int device, unsigned value)
{
    CHECK(cudaSetDevice(device));
    CHECK(cudaMemset(numbers[device], 0, COUNT * sizeof(unsigned)));
    add<<<(COUNT + 255) / 256, 256>>>(numbers[device], COUNT, value);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

static void work(int device, int *wrong)
{
    cudaEvent_t begin, end;
    float milliseconds = -1;
    int current = -1;
    CHECK(cudaSetDevice(device));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin, streams[device]));
    for (int i = 0; i < ROUNDS; i++)
        launch(device, numbers[device], device + 1);
    CHECK(cudaEventRecord(end, streams[device]));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(cudaGetDevice(&current));
    *wrong = differ(numbers[device], ROUNDS * (device + 1)) + !(milliseconds > 0) + (current != device);
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
}

static void apart()
{
    uintptr_t first = (uintptr_t)numbers[0], second = (uintptr_t)numbers[1], bytes = COUNT * sizeof(unsigned);
    cudaPointerAttributes known[DEVICES];
    int wrong = !(first + bytes <= second || second + bytes <= first);
    for (int device = 0; device < DEVICES; device++) {
        CHECK(cudaSetDevice(!device));
        CHECK(cudaPointerGetAttributes(&known[device], numbers[device]));
        wrong += known[device].type != cudaMemoryTypeDevice || known[device].device != device;
    }
    say("addresses are apart and say whose they are", wrong);
}

static void at_once()
{
    int wrong[DEVICES];
    std::thread other(work, 1, &wrong[1]);
    work(0, &wrong[0]);
    other.join();
    say("kernels of two threads", wrong[0] + wrong[1]);
}

// Each device adds one and hands over to the other, by an event that the other's stream waits for.
static void by_turns()
{
    cudaEvent_t done[DEVICES];
    for (int device = 0; device < DEVICES; device++) {
        fill(device, 0);
        CHECK(cudaEventCreateWithFlags(&done[device], cudaEventDisableTiming));
    }
    for (int i = 0; i < ROUNDS; i++) {
        int here = i % 2, there = !here;
        CHECK(cudaSetDevice(here));
        launch(here, numbers[here], 1);
        CHECK(cudaEventRecord(done[here], streams[here]));
        CHECK(cudaSetDevice(there));
        CHECK(cudaStreamWaitEvent(streams[there], done[here], 0));
        CHECK(cudaMemcpyPeerAsync(numbers[there], there, numbers[here], here, COUNT * sizeof(unsigned), streams[there]));
    }
    int wrong = 0;
    for (int device = 0; device < DEVICES; device++) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaStreamSynchronize(streams[device]));
        wrong += differ(numbers[device], ROUNDS);
        CHECK(cudaEventDestroy(done[device]));
    }
    say("events and copies by turns", wrong);
}

static void copies()
{
    fill(0, 11);
    fill(1, 12);
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpy(numbers[1], numbers[0], COUNT * sizeof(unsigned), cudaMemcpyDefault));
    int wrong = differ(numbers[1], 11);
    fill(1, 13);
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpyPeer(numbers[0], 0, numbers[1], 1, COUNT * sizeof(unsigned)));
    wrong += differ(numbers[0], 13);
    say("copies between devices", wrong);
    fill(0, 14);
    fill(1, 15);
    CHECK(cudaSetDevice(0));
    const int row = 100 * sizeof(unsigned), from_pitch = 128 * sizeof(unsigned), to_pitch = 256 * sizeof(unsigned);
    CHECK(cudaMemcpy2D(numbers[1], to_pitch, numbers[0], from_pitch, row, 200, cudaMemcpyDefault));
    std::vector<unsigned> here(200 * 256);
    CHECK(cudaMemcpy(here.data(), numbers[1], here.size() * sizeof(unsigned), cudaMemcpyDefault));
    wrong = 0;
    for (size_t i = 0; i < here.size(); i++)
        wrong += here[i] != (i % 256 < 100 ? 14u : 15u);
    say("rows between devices", wrong);
}

static void pinned()
{
    unsigned *memory;
    CHECK(cudaSetDevice(0));
    CHECK(cudaHostAlloc(&memory, COUNT * sizeof(unsigned), cudaHostAllocPortable | cudaHostAllocMapped));
    for (int i = 0; i < COUNT; i++)
        memory[i] = 20;
    int wrong = 0;
    for (int device = 0; device < DEVICES; device++) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaMemcpyAsync(numbers[device], memory, COUNT * sizeof(unsigned), cudaMemcpyHostToDevice, streams[device]));
        launch(device, numbers[device], 1);
        CHECK(cudaMemcpyAsync(memory, numbers[device], COUNT * sizeof(unsigned), cudaMemcpyDeviceToHost, streams[device]));
        CHECK(cudaStreamSynchronize(streams[device]));
        wrong += memory[0] != 21u + device || memory[COUNT - 1] != 21u + device;
    }
    unsigned *mapped = nullptr;
    CHECK(cudaSetDevice(0));
    CHECK(cudaHostGetDevicePointer(&mapped, memory, 0));
    launch(0, mapped, 1);
    CHECK(cudaStreamSynchronize(streams[0]));
    say("pinned memory of both", wrong + (memory[COUNT / 2] != 23));
    CHECK(cudaSetDevice(1));
    std::printf("note pinned memory of device 0 asked for by device 1: %s\n",
                cudaGetErrorName(cudaHostGetDevicePointer(&mapped, memory, 0)));
    cudaGetLastError();
    CHECK(cudaFreeHost(memory));
}

// A variable has a place on each device.
static void symbols()
{
    int wrong = 0;
    for (unsigned device = 0; device < DEVICES; device++) {
        const unsigned value = 100 + device;
        CHECK(cudaSetDevice(device));
        CHECK(cudaMemcpyToSymbol(offset, &value, sizeof value));
    }
    for (unsigned device = 0; device < DEVICES; device++) {
        fill(device, 1);
        add_offset<<<(COUNT + 255) / 256, 256>>>(numbers[device], COUNT);
        CHECK(cudaDeviceSynchronize());
        wrong += differ(numbers[device], 101 + device);
    }
    say("a variable on each", wrong);
}

// Memory of a pool can be copied to the other device only by a device that has been given access to it.
static void give_access(int device)
{
    cudaMemPool_t pool;
    int can = 0;
    CHECK(cudaDeviceCanAccessPeer(&can, !device, device));
    if (!can)
        return;
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, !device}, cudaMemAccessFlagsProtReadWrite};
    CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
    CHECK(cudaMemPoolSetAccess(pool, &access, 1));
}

static void pools()
{
    int wrong = 0;
    for (int device = 0; device < DEVICES; device++) {
        unsigned *pooled;
        CHECK(cudaSetDevice(device));
        give_access(device);
        CHECK(cudaMallocAsync(&pooled, COUNT * sizeof(unsigned), streams[device]));
        CHECK(cudaMemsetAsync(pooled, 0, COUNT * sizeof(unsigned), streams[device]));
        launch(device, pooled, 5);
        CHECK(cudaStreamSynchronize(streams[device]));
        CHECK(cudaSetDevice(!device));
        CHECK(cudaMemcpy(numbers[!device], pooled, COUNT * sizeof(unsigned), cudaMemcpyDefault));
        wrong += differ(numbers[!device], 5);
        CHECK(cudaSetDevice(device));
        CHECK(cudaFreeAsync(pooled, streams[device]));
    }
    say("memory of pools", wrong);
}

// The driver's answers about peers must hold: where a device can reach the other's memory, a kernel does.
static void peers()
{
    int can = 0, performance = 0;
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(cudaDeviceGetP2PAttribute(&performance, cudaDevP2PAttrAccessSupported, 0, 1));
    fill(1, 30);
    CHECK(cudaSetDevice(0));
    cudaError_t enabled = cudaDeviceEnablePeerAccess(1, 0);
    cudaGetLastError();
    int wrong = (can != 0) != (enabled == cudaSuccess) || (can != 0) != (performance != 0);
    if (can && enabled == cudaSuccess) {
        launch(0, numbers[1], 1);
        CHECK(cudaStreamSynchronize(streams[0]));
        wrong += differ(numbers[1], 31);
        CHECK(cudaDeviceDisablePeerAccess(1));
    }
    say("what is said of peers holds", wrong);
    std::printf("note peer access: %d, enabling says %s\n", can, cudaGetErrorName(enabled));
    std::printf("note memset of the other's memory: %s\n", cudaGetErrorName(cudaMemset(numbers[1], 0, 4096)));
    std::printf("note and then: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaGetLastError();
}

static void speed()
{
    const size_t bytes = (size_t)64 << 20;
    void *memory[DEVICES];
    for (int device = 0; device < DEVICES; device++) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaMalloc(&memory[device], bytes));
    }
    CHECK(cudaMemcpyPeer(memory[1], 1, memory[0], 0, bytes));
    CHECK(cudaDeviceSynchronize());
    auto begin = std::chrono::steady_clock::now();
    CHECK(cudaMemcpyPeer(memory[1], 1, memory[0], 0, bytes));
    CHECK(cudaDeviceSynchronize());
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("note copy between devices: %.2f GB/s\n", bytes / seconds.count() / 1e9);
    for (int device = 0; device < DEVICES; device++)
        CHECK(cudaFree(memory[device]));
}

int main()
{
    int count = 0;
    CHECK(cudaGetDeviceCount(&count));
    if (count < DEVICES) {
        std::printf("needs two devices, %d here\n", count);
        return 2;
    }
    for (int device = 0; device < DEVICES; device++) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaStreamCreateWithFlags(&streams[device], cudaStreamNonBlocking));
        CHECK(cudaMalloc(&numbers[device], COUNT * sizeof(unsigned)));
        fill(device, 0);
    }
    apart();
    at_once();
    by_turns();
    copies();
    pinned();
    symbols();
    pools();
    peers();
    speed();
    return 0;
}
