// A program of two files that are linked with each other: its kernels call a function of the other file and read a variable
// of it. With LAUNCHES a kernel launches another one, which is not done in space sharing.
#include <cstdio>

extern __device__ int offset;
__device__ int twice(int x);

__global__ void compute(int *out)
{
    if (out == nullptr)
        printf("nowhere, %d\n", offset); // never: each file has a text of its own, of one name
    out[threadIdx.x] = twice(threadIdx.x) + offset;
}

#ifdef LAUNCHES
__global__ void parent(int *out)
{
    compute<<<1, 32>>>(out);
}
#define KERNEL parent
#else
#define KERNEL compute
#endif

int main()
{
    int *out, values[32] = {};
    cudaMalloc(&out, sizeof values);
    KERNEL<<<1, 32>>>(out);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        if (values[i] != 2 * i + 5) {
            printf("wrong\n");
            return 0;
        }
    printf("right\n");
}
