// The sum of n numbers: each block leaves one sum; a second launch over these sums finishes.
#define THREADS 128

extern "C" __global__ void reduction(const int *values, int *sums, int n)
{
    __shared__ int partial[THREADS];
    int sum = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        sum += values[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int width = THREADS / 2; width > 0; width /= 2) {
        if (threadIdx.x < width)
            partial[threadIdx.x] += partial[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = partial[0];
}
