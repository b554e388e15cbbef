// C = A * B for square matrices of floats, row by row, in tiles of 16 x 16 through shared memory.
#define TILE 16

extern "C" __global__ void matrix_product(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += TILE) {
        int ka = k + threadIdx.x;
        int kb = k + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < n && ka < n ? a[row * n + ka] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = kb < n && column < n ? b[kb * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}
