// Pitched 2D copies and memsets in all directions, 3D, an array, and pinned memory that a kernel writes.
#include <cstring>
#include <vector>

#include "check.cuh"

__global__ void transpose(const int *in, size_t in_pitch, int *out, size_t out_pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        *(int *)((char *)out + x * out_pitch + y * sizeof(int)) = *(const int *)((const char *)in + y * in_pitch + x * sizeof(int));
}

__global__ void count_up(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = i;
}

static void pitched()
{
    const int width = 123, height = 45;
    std::vector<int> host(width * height), back(width * height, -1);
    for (int i = 0; i < width * height; i++)
        host[i] = i * 7;
    int *a, *b;
    size_t pitch_a, pitch_b;
    CHECK(cudaMallocPitch(&a, &pitch_a, width * sizeof(int), height));
    CHECK(cudaMallocPitch(&b, &pitch_b, height * sizeof(int), width));
    CHECK(cudaMemset2D(b, pitch_b, 0xff, height * sizeof(int), width));
    CHECK(cudaMemcpy2D(a, pitch_a, host.data(), width * sizeof(int), width * sizeof(int), height, cudaMemcpyHostToDevice));
    dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
    transpose<<<grid, block>>>(a, pitch_a, b, pitch_b, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(back.data(), height * sizeof(int), b, pitch_b, height * sizeof(int), width, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            wrong += back[x * height + y] != host[y * width + x];
    std::printf("2D %s\n", wrong ? "WRONG" : "ok");
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
}

static void volume()
{
    cudaExtent extent = make_cudaExtent(24, 5, 3);
    cudaPitchedPtr device;
    CHECK(cudaMalloc3D(&device, extent));
    std::vector<unsigned char> host(24 * 5 * 3), back(24 * 5 * 3);
    for (size_t i = 0; i < host.size(); i++)
        host[i] = (unsigned char)(i * 3);
    cudaMemcpy3DParms up = {};
    up.srcPtr = make_cudaPitchedPtr(host.data(), 24, 24, 5);
    up.dstPtr = device;
    up.extent = extent;
    up.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&up));
    cudaMemcpy3DParms down = {};
    down.srcPtr = device;
    down.dstPtr = make_cudaPitchedPtr(back.data(), 24, 24, 5);
    down.extent = extent;
    down.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&down));
    std::printf("3D %s\n", host == back ? "ok" : "WRONG");
    CHECK(cudaFree(device.ptr));
}

// The deprecated copies of bytes: from within a row over whole rows to within another, and all of an array.
static void array_bytes()
{
    const int width = 20, height = 6, first = width + 5, count = 3 * width + 7;
    const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    std::vector<int> all(width * height), some(count), back(width * height), part(count);
    for (int i = 0; i < width * height; i++)
        all[i] = i;
    for (int i = 0; i < count; i++)
        some[i] = 1000 + i;
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &ints, width, height));
    CHECK(cudaMemcpyToArray(array, 0, 0, all.data(), all.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToArrayAsync(array, 5 * sizeof(int), 1, some.data(), count * sizeof(int), cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpyFromArray(part.data(), array, 5 * sizeof(int), 1, count * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromArrayAsync(back.data(), array, 0, 0, back.size() * sizeof(int), cudaMemcpyDeviceToHost, 0));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++)
        all[first + i] = some[i];
    std::printf("bytes of arrays %s\n", all == back && part == some ? "ok" : "WRONG");
    CHECK(cudaFreeArray(array));
}

static void pinned()
{
    const int n = 100000;
    int *host, *mapped;
    CHECK(cudaHostAlloc(&host, n * sizeof *host, cudaHostAllocMapped));
    std::memset(host, 0, n * sizeof *host);
    CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
    count_up<<<(n + 255) / 256, 256>>>(mapped, n);
    CHECK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += host[i] != i;
    int *device;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&device, n * sizeof *device));
    CHECK(cudaMemcpyAsync(device, host, n * sizeof *host, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(device, 0, 4096, stream));
    CHECK(cudaMemcpyAsync(host, device, n * sizeof *host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        wrong += host[i] != (i < 1024 ? 0 : i);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, host));
    wrong += attributes.type != cudaMemoryTypeHost;
    CHECK(cudaPointerGetAttributes(&attributes, device));
    wrong += attributes.type != cudaMemoryTypeDevice;
    CHECK(cudaPointerGetAttributes(&attributes, &wrong));
    wrong += attributes.type != cudaMemoryTypeUnregistered;
    std::printf("pinned %s\n", wrong ? "WRONG" : "ok");
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(host));
    CHECK(cudaStreamDestroy(stream));
}

static void large_pageable()
{
    const size_t n = 9 << 20;
    std::vector<int> host(n), back(n);
    for (size_t i = 0; i < n; i++)
        host[i] = (int)(i * 2654435761u);
    int *device;
    CHECK(cudaMalloc(&device, n * sizeof(int)));
    CHECK(cudaMemcpy(device, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(back.data(), device, n * sizeof(int), cudaMemcpyDefault));
    std::printf("pageable %s\n", host == back ? "ok" : "WRONG");
    CHECK(cudaFree(device));
}

int main()
{
    pitched();
    volume();
    array_bytes();
    pinned();
    large_pageable();
    return 0;
}
