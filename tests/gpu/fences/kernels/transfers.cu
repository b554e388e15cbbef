// What libcu++ and CUB do with barriers in shared memory: a pipeline of copies, a barrier of a block's threads, and CUB's transform,
// which copies by bulk (its device function as CCCL 3.0 of CUDA 13.0 has it; the library's own launch code chooses the numbers).
#include <cooperative_groups.h>
#include <cub/device/device_transform.cuh>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

extern "C" __global__ void __launch_bounds__(256) pipelineTiles(int tiles, const int *in, int *out)
{
    constexpr int stages = 4, items = 4;
    __shared__ int4 stage[stages][256];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const size_t first = (size_t)blockIdx.x * tiles;
    for (int tile = 0, next = 0; tile < tiles; tile++) {
        for (; next < tiles && next < tile + stages; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[next % stages][threadIdx.x],
                               reinterpret_cast<const int4 *>(in) + (first + next) * 256 + threadIdx.x,
                               cuda::aligned_size_t<16>(sizeof(int4)), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        block.sync();
        const int *now = reinterpret_cast<const int *>(stage[tile % stages]);
        for (int i = 0; i < items; i++) {
            const int at = i * 256 + threadIdx.x;
            out[(first + tile) * 1024 + at] = now[at] * 3 + now[at ^ 1023];
        }
        block.sync();
        pipe.consumer_release();
    }
}

extern "C" __global__ void __launch_bounds__(256) barrierSum(int n, const int *in, int *out)
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
    for (int half = 128; half > 0; half /= 2) {
        together.arrive_and_wait();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

struct Axpy {
    __device__ float operator()(float x, float y) const { return 2.5f * x + y; }
};

extern "C" __global__ void __launch_bounds__(256) cubTransform(int n, const float *x, const float *y, float *out)
{
    using namespace cub::detail::transform;
    constexpr int elementsPerThread = 8, alignment = 128;
    transform_kernel_ublkcp<async_copy_policy_t<256>>(n, elementsPerThread, Axpy{}, out, make_aligned_base_ptr(x, alignment),
                                                      make_aligned_base_ptr(y, alignment));
}
