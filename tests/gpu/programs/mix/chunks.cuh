// Bitonic sorting of few blocks: chunks in shared memory.
#pragma once
#include "device.h"

/** Keys that a block sorts in shared memory. */
constexpr int CHUNK = 2048;

/** Puts the smaller key first, or last where the sequence of this length descends. */
__device__ __forceinline__ void order(uint32_t &a, uint32_t &b, bool ascending)
{
    if ((a > b) == ascending) {
        uint32_t kept = a;
        a = b;
        b = kept;
    }
}

/** In each chunk: for sequences of `from` up to `to` keys, all distances below the chunk. */
__device__ __forceinline__ void sortChunks(int n, int from, int to, uint32_t *keys)
{
    __shared__ uint32_t own[CHUNK];
    for (int chunk = blockIdx.x; chunk < n / CHUNK; chunk += gridDim.x) {
        int start = chunk * CHUNK;
        for (int i = threadIdx.x; i < CHUNK; i += THREADS)
            own[i] = keys[start + i];
        for (int length = from; length <= to; length *= 2)
            for (int distance = min(length, CHUNK) / 2; distance; distance /= 2) {
                __syncthreads();
                for (int pair = threadIdx.x; pair < CHUNK / 2; pair += THREADS) {
                    int i = pair / distance * 2 * distance + pair % distance;
                    order(own[i], own[i + distance], ((start + i) & length) == 0);
                }
            }
        __syncthreads();
        for (int i = threadIdx.x; i < CHUNK; i += THREADS)
            keys[start + i] = own[i];
        __syncthreads();
    }
}
