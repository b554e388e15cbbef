// Grids and clusters whose blocks wait for each other.
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

extern "C" __global__ void rotate(int *data, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int n = grid.size(), i = grid.thread_rank();
    for (int r = 0; r < rounds; r++) {
        int next = data[(r % 2) * n + (i + 1) % n];
        data[((r + 1) % 2) * n + i] = next + 1;
        grid.sync();
    }
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) neighbours(int *out)
{
    __shared__ int mine[32];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
    cluster.sync();
    int *theirs = cluster.map_shared_rank(mine, (cluster.block_rank() + 1) % cluster.num_blocks());
    out[blockIdx.x * 32 + threadIdx.x] = theirs[31 - threadIdx.x];
    cluster.sync();
}

extern "C" __global__ void tiles(int *out)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int value = threadIdx.x;
    for (int i = tile.size() / 2; i > 0; i /= 2)
        value += tile.shfl_down(value, i);
    out[threadIdx.x] = tile.shfl(value, 0);
    auto even = cg::coalesced_threads();
    out[blockDim.x + threadIdx.x] = even.size() > 0;
}

extern "C" __global__ void phases(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int value[64];
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        value[threadIdx.x] = round + threadIdx.x;
        barrier.arrive_and_wait();
        out[round * 64 + threadIdx.x] = value[(threadIdx.x + 17) % 64];
        barrier.arrive_and_wait();
    }
}
