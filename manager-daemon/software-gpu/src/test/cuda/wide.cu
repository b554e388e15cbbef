// Integers of 128 bits, fp8, memory of a size that is only known at run time.
#include <cuda_fp8.h>
extern "C" __global__ void divide(const __int128 *a, const __int128 *b, __int128 *out)
{
    out[2 * threadIdx.x] = a[threadIdx.x] / b[threadIdx.x];
    out[2 * threadIdx.x + 1] = a[threadIdx.x] * b[threadIdx.x];
}

extern "C" __global__ void eighths(const float *in, float *out)
{
    out[threadIdx.x] = float(__nv_fp8_e4m3(in[threadIdx.x]));
}

extern "C" __global__ void onTheStack(int n, int *out)
{
    int *p = (int *)alloca(n * 4), sum = 0;
    for (int i = 0; i < n; i++)
        p[i] = i * threadIdx.x;
    for (int i = 0; i < n; i++)
        sum += p[n - 1 - i];
    out[threadIdx.x] = sum;
}
