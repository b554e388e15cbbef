// Arithmetic, conversions, half precision, matrices.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#if __CUDA_ARCH__ >= 890
#include <cuda_fp8.h>
#endif
template <typename T> __device__ T blend(T a, T b, T c) { return a * b + c / (a + T(1)); }
template <typename T> __global__ void templated(T *p) { p[0] = blend(p[1], p[2], p[3]) - p[4] % p[5]; }
template __global__ void templated<int>(int *);
template __global__ void templated<unsigned char>(unsigned char *);
template __global__ void templated<long long>(long long *);
template __global__ void templated<unsigned short>(unsigned short *);
__global__ void singles(float *p, double *d, int *i, long long *l)
{
    float x = p[0], y = p[1];
    p[2] = sinf(x) + __sinf(y) + cosf(x) + expf(y) + __expf(x) + logf(y) + sqrtf(x) + rsqrtf(y) + powf(x, y) + tanhf(x);
    p[3] = fmaf(x, y, 1) + __fdividef(x, y) + x / y + __fadd_rz(x, y) + fminf(x, y) + fmaxf(x, y) + copysignf(x, y) + floorf(x);
    p[4] = isnan(x) ? 1 : isinf(y) ? 2 : __saturatef(x) + INFINITY + NAN;
    d[0] = sin(d[1]) * exp(d[2]) / sqrt(d[3]) + fma(d[1], d[2], d[3]) + x + __drcp_rn(d[4]);
    i[0] = (int)x + __float2int_rn(y) + (int)d[1] + __mulhi(i[1], i[2]) + __funnelshift_l(i[1], i[2], i[3]) + __brev(i[4]) + __byte_perm(i[1], i[2], 0x3210) + __sad(i[1], i[2], 3) + __dp4a(i[1], i[2], i[3]);
    l[0] = l[1] / l[2] + __mul64hi(l[3], l[4]) + __double_as_longlong(d[0]) + (l[1] >> 3) % 7 + __ffsll(l[5]) + (unsigned)i[3] * 5ull;
    p[5] = (float)l[1] + (float)(unsigned char)i[1] + (float)i[2] + (float)(short)i[3];
    i[7] = __vadd4(i[1], i[2]) + __vabsdiffu4(i[3], i[4]) + __vmaxs2(i[1], i[2]);
}
__global__ void halves(__half2 *h, __nv_bfloat162 *b, float *f)
{
    h[0] = __hfma2(h[1], h[2], h[3]) + __hmul2(h[4], h[5]) - h[6];
    h[7] = h2exp(h[1]);
#if __CUDA_ARCH__ >= 800
    b[0] = __hfma2(b[1], b[2], b[3]);
#endif
    f[0] = __half2float(h[0].x) + __bfloat162float(b[0].y);
    h[8].x = __float2half_rn(f[1]); b[8].x = __float2bfloat16(f[2]);
#if __CUDA_ARCH__ >= 700
    atomicAdd(&h[9], h[1]);
#endif
#if __CUDA_ARCH__ >= 890
    __nv_fp8_e4m3 e(f[3]);
    f[4] = float(e);
#endif
}
#if __CUDA_ARCH__ >= 700
__global__ void matrices(const __half *a, const __half *b, float *c)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
#endif
#if __CUDA_ARCH__ >= 800
__global__ void fragments(float *d, const unsigned *a, const unsigned *b)
{
    __shared__ unsigned s[256];
    unsigned base = (unsigned)__cvta_generic_to_shared(s), r0, r1, r2, r3;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(base));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(b[0]), "r"(b[1]));
    d[4] = a[0];
}
#endif
