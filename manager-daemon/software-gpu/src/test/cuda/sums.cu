// Reductions, scan, histogram, matrix product: shared memory, barriers, shuffles, atomics.
extern "C" __global__ void sum(const int *in, int *out, int n)
{
    __shared__ int partial[32];
    int value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        value += in[i];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
        value = __reduce_add_sync(0xffffffff, value);
        if (threadIdx.x == 0)
            atomicAdd(out, value);
    }
}

extern "C" __global__ void scan(const int *in, int *out)
{
    extern __shared__ int buffer[];
    int t = threadIdx.x, n = blockDim.x, from = 0;
    buffer[t] = in[blockIdx.x * n + t];
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        int value = buffer[from * n + t];
        if (t >= offset)
            value += buffer[from * n + t - offset];
        from ^= 1;
        buffer[from * n + t] = value;
        __syncthreads();
    }
    out[blockIdx.x * n + t] = buffer[from * n + t];
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}

#define TILE 16
extern "C" __global__ void multiply(const float *a, const float *b, float *c, int n)
{
    __shared__ float tileA[TILE][TILE], tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        tileA[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        tileB[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tileA[threadIdx.y][i] * tileB[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
