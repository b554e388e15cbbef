/* The kernel in the fat binaries of resources/images. */
extern "C" __device__ int bias = 1000;

extern "C" __global__ void scale(int *data, int factor, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        data[i] = data[i] * factor + bias;
    }
}
