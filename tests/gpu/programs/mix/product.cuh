// Matrix products of few blocks: tiles in shared memory, each block takes one after the other.
#pragma once
#include "device.h"

constexpr int TILE = 64, DEPTH = 16, OWN = 4;

/** c = scale * op(a) op(b) + keep * c; rows x columns, all sizes multiples of the tile. A transposed operand lies transposed. */
template <bool TRANSPOSE_A, bool TRANSPOSE_B>
__device__ __forceinline__ void multiply(int rows, int columns, int depth, float scale, const float *a, const float *b, float keep, float *c)
{
    __shared__ float left[DEPTH][TILE + 1], right[DEPTH][TILE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, across = columns / TILE;
    for (int t = blockIdx.x; t < across * (rows / TILE); t += gridDim.x) {
        int row = t / across * TILE, column = t % across * TILE;
        float sum[OWN][OWN] = {};
        for (int k = 0; k < depth; k += DEPTH) {
            for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
                int d = TRANSPOSE_A ? i / TILE : i % DEPTH, r = TRANSPOSE_A ? i % TILE : i / DEPTH;
                left[d][r] = TRANSPOSE_A ? a[(k + d) * rows + row + r] : a[(row + r) * depth + k + d];
                int e = TRANSPOSE_B ? i % DEPTH : i / TILE, s = TRANSPOSE_B ? i / DEPTH : i % TILE;
                right[e][s] = TRANSPOSE_B ? b[(column + s) * depth + k + e] : b[(k + e) * columns + column + s];
            }
            __syncthreads();
#pragma unroll
            for (int d = 0; d < DEPTH; d++)
                for (int i = 0; i < OWN; i++)
                    for (int j = 0; j < OWN; j++)
                        sum[i][j] += left[d][ty + 16 * i] * right[d][tx + 16 * j];
            __syncthreads();
        }
        for (int i = 0; i < OWN; i++)
            for (int j = 0; j < OWN; j++) {
                float *at = &c[(row + ty + 16 * i) * columns + column + tx + 16 * j];
                *at = keep == 0 ? scale * sum[i][j] : scale * sum[i][j] + keep * *at;
            }
    }
}
