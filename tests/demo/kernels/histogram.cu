// Counts of the 256 values of bytes: each block counts in shared memory, then adds to the result.
extern "C" __global__ void histogram(const unsigned char *values, unsigned long long count, unsigned *bins)
{
    __shared__ unsigned mine[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        atomicAdd(&mine[values[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], mine[i]);
}
