// Sorting, scanning, counting.
extern "C" __global__ void bitonicStep(int distance, int length, int *keys)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ distance;
    if (other <= i)
        return;
    int a = keys[i], b = keys[other];
    bool up = (i & length) == 0;
    if ((a > b) == up) {
        keys[i] = b;
        keys[other] = a;
    }
}

extern "C" __global__ void bitonicShared(int *keys)
{
    __shared__ int tile[1024];
    int base = blockIdx.x * 1024;
    tile[threadIdx.x] = keys[base + threadIdx.x];
    tile[threadIdx.x + 512] = keys[base + threadIdx.x + 512];
    for (int length = 2; length <= 1024; length *= 2)
        for (int distance = length / 2; distance > 0; distance /= 2) {
            __syncthreads();
            int at = 2 * threadIdx.x - (threadIdx.x & (distance - 1));
            int a = tile[at], b = tile[at + distance];
            bool up = (at & length) == 0;
            if ((a > b) == up) {
                tile[at] = b;
                tile[at + distance] = a;
            }
        }
    __syncthreads();
    keys[base + threadIdx.x] = tile[threadIdx.x];
    keys[base + threadIdx.x + 512] = tile[threadIdx.x + 512];
}

extern "C" __global__ void radixCount(int n, int shift, const int *keys, int *counts)
{
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    int stride = gridDim.x * 256;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += stride)
        atomicAdd(&bins[(keys[i] >> shift) & 255], 1);
    __syncthreads();
    counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void scanBlocks(const int *in, int *out, int *totals)
{
    extern __shared__ int sums[];
    int n = 2 * blockDim.x, base = blockIdx.x * n, offset = 1;
    sums[2 * threadIdx.x] = in[base + 2 * threadIdx.x];
    sums[2 * threadIdx.x + 1] = in[base + 2 * threadIdx.x + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (threadIdx.x < d)
            sums[offset * (2 * threadIdx.x + 2) - 1] += sums[offset * (2 * threadIdx.x + 1) - 1];
        offset *= 2;
    }
    if (threadIdx.x == 0) {
        totals[blockIdx.x] = sums[n - 1];
        sums[n - 1] = 0;
    }
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (threadIdx.x < d) {
            int left = offset * (2 * threadIdx.x + 1) - 1, right = offset * (2 * threadIdx.x + 2) - 1;
            int kept = sums[left];
            sums[left] = sums[right];
            sums[right] += kept;
        }
    }
    __syncthreads();
    out[base + 2 * threadIdx.x] = sums[2 * threadIdx.x];
    out[base + 2 * threadIdx.x + 1] = sums[2 * threadIdx.x + 1];
}

extern "C" __global__ void scanWarps(int n, const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int sum = i < n ? in[i] : 0;
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(0xFFFFFFFF, sum, step);
        if (lane >= step)
            sum += left;
    }
    if (i < n)
        out[i] = sum;
}

extern "C" __global__ void reduceShared(int n, const float *in, float *out)
{
    __shared__ float sums[256];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = sums[0];
}

extern "C" __global__ void reduceVectors(int n, const float4 *in, float *out)
{
    __shared__ float sums[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = in[i];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xFFFFFFFF, sum, step);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x / 32; i++)
            sum += sums[i];
        out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void histogramShared(int n, const unsigned char *in, int *bins)
{
    __shared__ int mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        atomicAdd(&mine[in[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

extern "C" __global__ void histogramGlobal(int n, const int *in, int *bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i] & 4095], 1);
}

extern "C" __global__ void mergeSorted(int n, const int *a, const int *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int key = a[i], low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (b[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    out[i + low] = key;
}
