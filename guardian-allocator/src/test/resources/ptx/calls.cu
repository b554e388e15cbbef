// Virtual and indirect calls, recursion, printf, assert, device heap.
#include <cassert>
#include <cstdio>
struct Shape {
    __device__ virtual float area(float x) const = 0;
};
struct Square : Shape {
    __device__ float area(float x) const override { return x * x; }
};
struct Twice : Shape {
    __device__ float area(float x) const override { return x + x; }
};
__device__ __noinline__ float recurse(float a, int n)
{
    return n < 2 ? a : recurse(a * 1.5f, n - 1) + 1;
}
__device__ int counter;
typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ Operation operations[] = {plus, minus};
struct Large { double v[12]; };
__device__ __noinline__ Large fill(Large in, int n)
{
    in.v[n % 12] += n;
    return in;
}
__global__ void calls(float *p, int n, int which)
{
    Square square;
    Twice twice;
    Shape *shape = which ? (Shape *)&square : (Shape *)&twice;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        p[i] = shape->area(p[i]) + recurse(p[i], n) + operations[i & 1](i, n);
        printf("%d %f\n", i, p[i]);
        assert(p[i] > 0);
        Large l = {};
        p[i] += fill(l, i).v[i % 12];
        int *heap = (int *)malloc(64);
        if (heap) { heap[i & 15] = i; p[i] += heap[3]; free(heap); }
    }
    atomicAdd(&counter, 1);
}
__global__ void __launch_bounds__(256, 2) bounded(const __grid_constant__ Large l, double *out)
{
    out[threadIdx.x] = l.v[threadIdx.x % 12];
}
__global__ void switches(int *p)
{
    int i = threadIdx.x;
    switch (p[i]) {
    case 0: p[i] = p[i + 1] * 3; break;
    case 1: p[i] = __clz(p[i + 7]); break;
    case 2: p[i] = __popc(p[i]); break;
    case 3: p[i] += 17; atomicMax(p, 3); break;
    case 4: __trap(); break;
    case 5: p[i] = clock(); break;
    case 6: p[0] = 1; break;
    default: p[i] = -1;
    }
}
