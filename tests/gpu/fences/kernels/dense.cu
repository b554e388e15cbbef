// Dense linear algebra and data movement.
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void gemmNaive(int n, const float *a, const float *b, float *c)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

extern "C" __global__ void gemmTiled(int n, const float *a, const float *b, float *c)
{
    __shared__ float left[32][32], right[32][33];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 32) {
        left[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 32; k++)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void __launch_bounds__(256) gemmRegisters(int n, const float *a, const float *b, float *c)
{
    __shared__ float left[16][65], right[16][64];
    int column = threadIdx.x % 16, row = threadIdx.x / 16;
    float sum[4][4] = {};
    for (int tile = 0; tile < n; tile += 16) {
        for (int i = 0; i < 4; i++) {
            left[column][row + 16 * i] = a[(blockIdx.y * 64 + row + 16 * i) * n + tile + column];
            right[row][column + 16 * i] = b[(tile + row) * n + blockIdx.x * 64 + column + 16 * i];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += left[k][row + 16 * i] * right[k][column + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(blockIdx.y * 64 + row + 16 * i) * n + blockIdx.x * 64 + column + 16 * j] = sum[i][j];
}

extern "C" __global__ void transposeNaive(int n, const float *in, float *out)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && column < n)
        out[column * n + row] = in[row * n + column];
}

extern "C" __global__ void transposeTiled(int n, const float *in, float *out)
{
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * n + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(row + i) * n + column] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void copyVectors(long long n, const int4 *in, int4 *out)
{
    long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += stride) {
        int4 v = in[i];
        out[i] = make_int4(v.w, v.z, v.y, v.x);
    }
}

extern "C" __global__ void matvecRows(int n, const float *a, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[k * n + row] * x[k];
    y[row] = sum;
}

extern "C" __global__ void matvecWarps(int n, const float *a, const float *x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n)
        return;
    float sum = 0;
    for (int k = lane; k < n; k += 32)
        sum += a[row * n + k] * x[k];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xFFFFFFFF, sum, step);
    if (lane == 0)
        y[row] = sum;
}
