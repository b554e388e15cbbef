// State spaces, generic addresses, atomics, asynchronous copies, faults.
#include <cuda_pipeline.h>
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int counters[4] = {10, 20, 30, 40};
__device__ int *indirect = &counters[2];

extern "C" __global__ void spaces(int *out)
{
    extern __shared__ int dynamic[];
    __shared__ int fixed[32];
    int t = threadIdx.x, local[16];
    for (int i = 0; i < 16; i++)
        local[(i * 5 + t) % 16] = i + t;
    fixed[t] = t * 2;
    dynamic[t] = t * 3;
    __syncthreads();
    int *p = t % 4 == 0 ? &fixed[31 - t] : t % 4 == 1 ? &dynamic[31 - t] : t % 4 == 2 ? &local[t % 16] : &counters[t % 4];
    out[t] = *p + table[t % 8];
    out[32 + t] = *indirect;
    out[64 + t] = __isShared(p) | __isGlobal(p) << 1 | __isLocal(p) << 2;
}

extern "C" __global__ void atomics(int *ints, unsigned *wraps, float *singles, double *doubles,
                                   unsigned long long *longs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&ints[0], i);
    atomicMax(&ints[1], i);
    atomicMin(&ints[2], -i);
    atomicOr(&ints[3], 1 << (i % 31));
    atomicAnd(&ints[4], ~(1 << (i % 3)));
    atomicXor(&ints[5], i);
    atomicSub(&ints[6], 1);
    atomicInc(&wraps[0], 6);
    atomicDec(&wraps[1], 4);
    atomicAdd(&singles[0], 1.0f);
    atomicAdd(&doubles[0], 0.5);
    atomicAdd(&longs[0], 1ULL << 33);
    atomicMax(&longs[1], (unsigned long long)i << 40);
    unsigned long long old = longs[2], seen;
    do {
        seen = old;
        old = atomicCAS(&longs[2], seen, seen + 3);
    } while (old != seen);
}

extern "C" __global__ void asynchronous(const float4 *in, float *out)
{
    __shared__ float4 staged[64];
    __pipeline_memcpy_async(&staged[threadIdx.x], &in[blockIdx.x * blockDim.x + threadIdx.x], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    float4 v = staged[blockDim.x - 1 - threadIdx.x];
    out[blockIdx.x * blockDim.x + threadIdx.x] = v.x + v.y + v.z + v.w;
}

extern "C" __global__ void storeAt(int *base, long index)
{
    if (threadIdx.x == 7)
        base[index] = 1;
}

extern "C" __global__ void loadAt(const char *address, int *out)
{
    out[0] = *(const int *)address;
}

extern "C" __global__ void sharedAt(int index, int *out)
{
    __shared__ int buffer[32];
    buffer[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = buffer[index];
}

struct Wide {
    double a;
    int b[5];
    char c;
};

extern "C" __global__ void byValue(Wide wide, char last, double *out)
{
    double sum = wide.a + wide.c + last;
    for (int i = 0; i < 5; i++)
        sum += wide.b[(threadIdx.x + i) % 5] * (i + 1);
    out[threadIdx.x] = sum;
}

extern "C" __global__ void heap(int **keep)
{
    int *p = (int *)malloc(64);
    p[3] = threadIdx.x;
    keep[threadIdx.x] = p;
    if (threadIdx.x % 2)
        free(p);
}
