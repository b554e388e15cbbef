// C = alpha * A * B + beta * C. A has m rows and k columns, B k and n, C m and n; all row by row.
#define TILE 16

extern "C" __global__ void gemm(const float *a, const float *b, float *c, int m, int n, int k, float alpha, float beta)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int at = 0; at < k; at += TILE) {
        int ka = at + threadIdx.x;
        int kb = at + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = alpha * sum + beta * c[row * n + column];
}
