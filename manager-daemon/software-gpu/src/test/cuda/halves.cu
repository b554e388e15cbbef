// Half precision as programs write it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void halves(const __half2 *a, const __half2 *b, __half2 *out, float *sums)
{
    int t = threadIdx.x;
    __half2 sum = __hadd2(a[t], b[t]);
    out[t] = __hfma2(sum, a[t], __hmax2(b[t], __float2half2_rn(0.25f)));
    sums[t] = __half2float(__hdiv(__low2half(sum), __high2half(a[t])));
    atomicAdd((__half2 *)&out[blockDim.x], a[t]);
}

extern "C" __global__ void brains(const __nv_bfloat16 *a, float *out)
{
    int t = threadIdx.x;
    __nv_bfloat16 x = a[t];
    out[t] = __bfloat162float(__hmul(x, __float2bfloat16(1.5f)) + x);
}

extern "C" __global__ void functions(const float *in, float *out)
{
    int t = threadIdx.x;
    float x = in[t];
    out[t] = sinf(x) + expf(-x * x) * sqrtf(fabsf(x)) + logf(1 + fabsf(x)) / (1 + x * x) + powf(fabsf(x), 1.5f);
    out[blockDim.x + t] = __fdividef(x, 3.0f) + __expf(x) + rsqrtf(1 + x * x) + floorf(x) + erff(x);
}

extern "C" __global__ void doubles(const double *in, double *out)
{
    int t = threadIdx.x;
    double x = in[t];
    out[t] = sin(x) + exp(-x) / (1 + x * x) + sqrt(fabs(x)) + cbrt(x) + fmod(x, 0.7) + rint(x * 3);
}
