// Operations of a warp with full and partial masks, and barriers.
extern "C" __global__ void shuffles(int *out)
{
    int lane = threadIdx.x;
    out[lane] = __shfl_up_sync(0xffffffff, lane, 3);
    out[32 + lane] = __shfl_down_sync(0xffffffff, lane, 5);
    out[64 + lane] = __shfl_xor_sync(0xffffffff, lane, 9);
    out[96 + lane] = __shfl_sync(0xffffffff, lane * 10, 7);
    out[128 + lane] = __shfl_up_sync(0xffffffff, lane, 2, 8);
    out[160 + lane] = __shfl_down_sync(0xffffffff, lane, 3, 4);
    out[192 + lane] = __shfl_sync(0xffffffff, lane, 1, 16);
}

extern "C" __global__ void partialMasks(int *out)
{
    int lane = threadIdx.x;
    int value = -1;
    if (lane % 3 == 0)
        value = __shfl_sync(0x49249249, lane * 2, 9);
    else if (lane % 3 == 1)
        value = __ballot_sync(0x92492492, lane > 15);
    else if (lane < 30)
        value = __reduce_max_sync(0x24924924 & 0x3fffffff, lane);
    out[lane] = value;
}

extern "C" __global__ void votes(unsigned *out)
{
    int lane = threadIdx.x;
    out[lane] = __ballot_sync(0xffffffff, lane & 1);
    out[32 + lane] = __all_sync(0xffffffff, lane < 32) | __any_sync(0xffffffff, lane == 40) << 1
        | __any_sync(0xffffffff, lane == 4) << 2;
    out[64 + lane] = __match_any_sync(0xffffffff, lane / 4);
    int agree;
    out[96 + lane] = __match_all_sync(0xffffffff, 7, &agree) + agree;
    if (lane >= 8)
        out[128 + lane] = __activemask();
    __syncwarp();
    out[160 + lane] = __popc(__activemask());
}

extern "C" __global__ void earlyExit(int *out)
{
    if (threadIdx.x >= 20)
        return;
    __syncthreads();
    out[threadIdx.x] = __shfl_xor_sync(0xfffff, threadIdx.x, 1);
}

extern "C" __global__ void countAtBarrier(int *out)
{
    int t = threadIdx.x;
    out[t] = __syncthreads_count(t % 3 == 0);
    out[blockDim.x + t] = __syncthreads_and(t >= 0) + 2 * __syncthreads_or(t == 1000);
}

// Half of the warps produce, the others consume, over two named barriers.
extern "C" __global__ void producers(int *out)
{
    __shared__ int buffer[64];
    int t = threadIdx.x;
    for (int round = 0; round < 4; round++) {
        if (t < 64) {
            asm volatile("barrier.sync 1, 128;" ::: "memory");
            buffer[t] = round * 100 + t;
            asm volatile("barrier.arrive 2, 128;" ::: "memory");
        } else {
            asm volatile("barrier.arrive 1, 128;" ::: "memory");
            asm volatile("barrier.sync 2, 128;" ::: "memory");
            out[round * 64 + t - 64] = buffer[63 - (t - 64)];
        }
    }
}

extern "C" __global__ void mismatch(int *out)
{
    if (threadIdx.x % 32 < 16)
        out[threadIdx.x] = __shfl_sync(0xffffffff, threadIdx.x, 0);
    else
        asm volatile("barrier.sync 3, 64;" ::: "memory");
}
