// Barriers in shared memory as libcu++ makes them: pipelines, barriers of threads, asynchronous copies.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

// Tiles of 256 numbers, two of which are on their way while one is used.
extern "C" __global__ void pipeline_tiles(const int *in, int *out, int tiles)
{
    __shared__ int stage[2][256];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const int first = blockIdx.x * tiles;
    for (int tile = 0, next = 0; tile < tiles; tile++) {
        for (; next < tiles && next < tile + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[next & 1][threadIdx.x], in + (size_t)(first + next) * 256 + threadIdx.x, sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        block.sync();
        out[(size_t)(first + tile) * 256 + threadIdx.x] = stage[tile & 1][threadIdx.x] * 3 + stage[tile & 1][threadIdx.x ^ 255];
        block.sync();
        pipe.consumer_release();
    }
}

// The sum of a block's share, with a barrier of its threads between the steps.
extern "C" __global__ void barrier_sum(const int *in, int *out, int n)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier together;
    __shared__ int part[256];
    if (threadIdx.x == 0)
        init(&together, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    part[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        together.arrive_and_wait();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

// Tiles of 1024 numbers that one thread asks for, reversed.
extern "C" __global__ void bulk_tiles(const int *in, int *out, int n)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier here;
    __shared__ alignas(16) int tile[1024];
    if (threadIdx.x == 0)
        init(&here, blockDim.x);
    __syncthreads();
    for (int first = blockIdx.x * 1024; first < n; first += gridDim.x * 1024) {
        if (threadIdx.x == 0)
            cuda::memcpy_async(tile, in + first, cuda::aligned_size_t<16>(sizeof(tile)), here);
        here.arrive_and_wait();
        for (int i = threadIdx.x; i < 1024; i += blockDim.x)
            out[first + i] = tile[1023 - i] + 1;
        here.arrive_and_wait();
    }
}
