// Atomics and scopes, votes, shuffles, cooperative groups, clusters.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
__global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d)
{
    atomicAdd(i, 1); atomicSub(i, 2); atomicMin(i, 3); atomicMax(u, 4u); atomicAnd(u, 5u); atomicOr(l, 6ull);
    atomicXor(u, 7u); atomicInc(u, 8u); atomicDec(u, 9u); atomicAdd(f, 1.5f);
    *i = atomicCAS(i, 1, 2) + atomicExch(i, 3);
    *l = atomicCAS(l, 1ull, 2ull);
#if __CUDA_ARCH__ >= 600
    atomicAdd(d, 2.5); atomicAdd_block(i, 1); atomicAdd_system(i, 1);
#endif
    __threadfence(); __threadfence_block(); __threadfence_system();
#if __CUDA_ARCH__ >= 700
    cuda::atomic_ref<int, cuda::thread_scope_device> r(*i);
    r.fetch_add(1, cuda::memory_order_acq_rel);
    r.store(r.load(cuda::memory_order_acquire) + 1, cuda::memory_order_release);
#endif
}
__global__ void warps(int *p)
{
    int v = p[threadIdx.x];
    v += __shfl_sync(0xffffffff, v, 3) + __shfl_xor_sync(0xffffffff, v, 1) + __shfl_down_sync(0xffff, v, 2, 16);
    v += __ballot_sync(0xffffffff, v > 3) + __any_sync(~0u, v) + __all_sync(~0u, v) + __activemask();
#if __CUDA_ARCH__ >= 700
    int all;
    v += __match_any_sync(~0u, v) + __match_all_sync(~0u, v, &all);
    __syncwarp();
#endif
#if __CUDA_ARCH__ >= 800
    v += __reduce_add_sync(~0u, v);
#endif
    v += __syncthreads_count(v) + __syncthreads_or(v);
    p[threadIdx.x] = v + cg::reduce(cg::tiled_partition<8>(cg::this_thread_block()), v, cg::plus<int>());
}
__global__ void grid(int *p)
{
    cg::this_grid().sync();
    cg::coalesced_group g = cg::coalesced_threads();
    if (g.thread_rank() == 0) p[0] = g.size();
}
#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) clusters(int *p)
{
    __shared__ int s;
    s = threadIdx.x;
    cg::cluster_group c = cg::this_cluster();
    c.sync();
    p[c.block_rank()] = *c.map_shared_rank(&s, 1);
    c.sync();
}
#endif
