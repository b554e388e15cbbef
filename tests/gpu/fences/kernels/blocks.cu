// Block-wide algorithms of CCCL, as a library's kernels use them.
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

extern "C" __global__ void __launch_bounds__(128) cubReduce(const int *in, int *out)
{
    using Load = cub::BlockLoad<int, 128, 8, cub::BLOCK_LOAD_VECTORIZE>;
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Reduce::TempStorage reduce;
    } shared;
    int items[8];
    Load(shared.load).Load(in + blockIdx.x * 1024, items);
    __syncthreads();
    int sum = Reduce(shared.reduce).Sum(items);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(128) cubScan(int n, const int *in, int *out)
{
    using Load = cub::BlockLoad<int, 128, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<int, 128, 8, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<int, 128>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
    } shared;
    int items[8], base = blockIdx.x * 1024;
    Load(shared.load).Load(in + base, items, n - base, 0);
    __syncthreads();
    Scan(shared.scan).ExclusiveSum(items, items);
    __syncthreads();
    Store(shared.store).Store(out + base, items, n - base);
}

extern "C" __global__ void __launch_bounds__(128) cubRadixSort(const unsigned *in, unsigned *out)
{
    using Sort = cub::BlockRadixSort<unsigned, 128, 8>;
    using Load = cub::BlockLoad<unsigned, 128, 8, cub::BLOCK_LOAD_TRANSPOSE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
    } shared;
    unsigned items[8];
    Load(shared.load).Load(in + blockIdx.x * 1024, items);
    __syncthreads();
    Sort(shared.sort).SortBlockedToStriped(items);
    cub::StoreDirectStriped<128>(threadIdx.x, out + blockIdx.x * 1024, items);
}

extern "C" __global__ void __launch_bounds__(128) cubSelect(const int *in, int *out, int *counts)
{
    using Load = cub::BlockLoad<int, 128, 8, cub::BLOCK_LOAD_VECTORIZE>;
    using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage scan;
    __shared__ int kept[1024];
    int items[8], flags[8], places[8], total;
    Load().Load(in + blockIdx.x * 1024, items);
    for (int i = 0; i < 8; i++)
        flags[i] = items[i] % 3 == 0;
    Scan(scan).ExclusiveSum(flags, places, total);
    for (int i = 0; i < 8; i++)
        if (flags[i])
            kept[places[i]] = items[i];
    __syncthreads();
    for (int i = threadIdx.x; i < total; i += 128)
        out[blockIdx.x * 1024 + i] = kept[i];
    if (threadIdx.x == 0)
        counts[blockIdx.x] = total;
}
