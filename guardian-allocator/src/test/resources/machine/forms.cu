// Kernels for fences in machine code: every way in which code reaches global memory, and every way in which it jumps.
#include <cassert>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

extern "C" __global__ void loops(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float sum = 0;
        for (int j = 0; j < i; j++) {
            if (in[j] < 0) continue;
            if (in[j] > 1e6f) break;
            sum += in[j];
        }
        out[i] = sum;
    }
}

extern "C" __global__ void divergent(int *out, const int *in)
{
    int i = threadIdx.x;
    if (in[i] & 1) {
        for (int j = 0; j < in[i]; j++) out[j * 32 + i] = in[j];
    } else if (in[i] & 2) {
        out[i] = in[i + 1];
        __syncwarp();
        out[i + 64] = __shfl_xor_sync(~0u, in[i], 1);
    }
    out[i] += 1;
}

__device__ __noinline__ int twice(const int *from, int at)
{
    return from[at] * 2 + from[at + 1];
}

__device__ __noinline__ void put(int *to, int at, int value)
{
    if (at > 3) to[at] = twice(to, at);
    to[at + 1] = value;
}

extern "C" __global__ void called(int *out, const int *in)
{
    put(out, threadIdx.x, twice(in, threadIdx.x));
    put(out, threadIdx.x + 64, twice(out, threadIdx.x));
}

extern "C" __global__ void divided(double *out, const double *in, unsigned long long *q)
{
    int i = threadIdx.x;
    out[i] = in[i] / in[i + 32] + sqrt(in[i + 64]);
    q[i] = q[i + 32] / q[i + 64];
}

extern "C" __global__ void switched(int *p, const int *in)
{
    int i = threadIdx.x;
    switch (in[i]) {
    case 0: p[i] = p[i + 1] * 3; break;
    case 1: p[i] = __clz(p[i + 7]); break;
    case 2: p[i] = __popc(p[i]); break;
    case 3: p[i] += 17; atomicMax(p, 3); break;
    case 4: p[i + 9] = p[i] ^ 5; break;
    case 5: p[i] = clock(); break;
    case 6: p[0] = 1; break;
    case 7: p[i * 2] = __brev(p[i]); break;
    case 8: p[i * 3] = p[i * 5]; p[i] = 2; break;
    default: p[i] = -1;
    }
}

extern "C" __global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d, __half2 *h)
{
    int t = threadIdx.x;
    atomicAdd(i, t);
    atomicMin(i + 1, t);
    atomicMax(u + 1, t);
    atomicAnd(u + 2, t);
    atomicOr(u + 3, t);
    atomicXor(u + 4, t);
    atomicInc(u + 5, 7);
    atomicAdd(f, 1.5f);
    atomicAdd(d, 2.5);
    atomicAdd(h, __half2half2(__float2half(1.f)));
    atomicAdd(l, 3ull);
    atomicMax(l + 1, (unsigned long long)t);
    u[64 + t] = atomicDec(u + 6, 9) + atomicExch(u + 7, t) + atomicAdd(u + 8, t) + atomicSub(u + 9, 1);
    f[64 + t] = atomicAdd(f + 1, 2.f) + atomicExch(f + 2, 1.f);
    d[64 + t] = atomicAdd(d + 1, 2.);
    l[64 + t] = atomicAdd(l + 2, 5ull) + atomicExch(l + 3, 6ull) + atomicMin(l + 4, 2ull);
    atomicAdd_block(i + 2, 1);
    atomicAdd_system(i + 3, 1);
}

extern "C" __global__ void compared(int *i, unsigned long long *l, unsigned short *s)
{
    int t = threadIdx.x;
    i[64 + t] = atomicCAS(i, t, t + 1);
    l[64 + t] = atomicCAS(l, 1ull, 2ull);
    s[64 + t] = atomicCAS(s, (unsigned short)1, (unsigned short)2);
    int old = i[1];
    for (int seen; (seen = atomicCAS(i + 1, old, old * 3)) != old;) old = seen;
}

extern "C" __global__ void vectors_moved(float4 *out, const float4 *__restrict__ in, double2 *d, const short4 *s, char2 *c)
{
    int t = threadIdx.x;
    out[t] = __ldg(in + t);
    out[t + 32] = __ldcs(in + t + 32);
    __stcg(out + t + 64, in[t + 64]);
    d[t] = make_double2(s[t].x, s[t].w);
    c[t] = make_char2(s[t].y, c[t + 32].x);
}

extern "C" __global__ void copied(const float4 *in, float4 *out, const int *words)
{
    __shared__ float4 tile[128];
    __shared__ int small[128];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
    __pipeline_memcpy_async(&small[threadIdx.x], &words[threadIdx.x], 4);
    if (threadIdx.x & 1) __pipeline_memcpy_async(&tile[threadIdx.x ^ 1], &in[threadIdx.x + 128], 16, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[127 - threadIdx.x];
    out[threadIdx.x].x += small[threadIdx.x ^ 1];
}

__device__ __noinline__ int generic_sum(const int *p, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += p[i];
    return sum;
}

extern "C" __global__ void generic(int *out, const int *in)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = generic_sum(in[0] ? tile : in, 64);
}

__device__ int counter;

extern "C" __global__ void variable(int *out)
{
    out[threadIdx.x] = atomicAdd(&counter, 1);
}

extern "C" __global__ void printed(int *p)
{
    printf("%d %d\n", threadIdx.x, p[threadIdx.x]);
    p[threadIdx.x + 1] = 3;
}

extern "C" __global__ void printed_text(int *p)
{
    if (p[threadIdx.x] < 0) printf("%s %d\n", "a text of the module", p[threadIdx.x]);
    p[threadIdx.x + 1] = 3;
}

extern "C" __global__ void asserted(int *p)
{
    assert(p[threadIdx.x] > 0);
    p[threadIdx.x + 64] = 3;
}

typedef int (*Operation)(const int *, int);
extern "C" __global__ void indirect(int *out, const int *in, int which)
{
    Operation operation = which ? twice : generic_sum;
    out[threadIdx.x] = operation(in, threadIdx.x);
}

extern "C" __global__ void prefetched(const int *in, int *out)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(in));
    asm volatile("prefetchu.L1 [%0];" ::"l"(in + 64));
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(out));
    out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void trapped(int *p)
{
    if (p[threadIdx.x] == 7) __trap();
    if (p[threadIdx.x] == 8) __nanosleep(100);
    __threadfence();
    p[threadIdx.x] = __ballot_sync(~0u, p[threadIdx.x]) + __reduce_add_sync(~0u, p[threadIdx.x + 32]);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
struct alignas(64) TensorMap {
    char bytes[128];
};

extern "C" __global__ void tensor_maps(int n, const __grid_constant__ TensorMap from, int *out, const __grid_constant__ TensorMap to)
{
    extern __shared__ __align__(128) char tile[];
    unsigned at = (unsigned)__cvta_generic_to_shared(tile), barrier = at + 4096;
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&from));
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at),
                     "l"(&from), "r"(n), "r"(0), "r"(barrier) : "memory");
        asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(&from), "r"(n), "r"(64));
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%1, {%2, %3}], [%0];" ::"r"(at), "l"(n > 3 ? &to : &from),
                     "r"(n), "r"(0) : "memory");
    }
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void invalidated(float *out)
{
    __shared__ unsigned long long word;
    unsigned barrier = (unsigned)__cvta_generic_to_shared(&word);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(barrier) : "memory");
    out[threadIdx.x] = (float)threadIdx.x;
}

extern "C" __global__ void tensor_map_in_memory(const TensorMap *map, int n)
{
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(map), "r"(n), "r"(0));
}
#endif
