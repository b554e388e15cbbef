// printf, assert, trap, clocks.
#include <cassert>
#include <cstdio>
extern "C" __global__ void print(int n, double d)
{
    printf("thread %d of %u: %5.2f|%-6d|%06d|%+d|%x|%#X|%c|%s|%lld|%p|%e|%g|%%\n", threadIdx.x, blockDim.x, d, n, n, n, n,
           n, 'q', "text", 1LL << 40, (void *)0x1234, d, d);
}

extern "C" __global__ void expect(int limit)
{
    assert(threadIdx.x < limit);
}

extern "C" __global__ void stop(int when)
{
    if (threadIdx.x == when)
        __trap();
}

extern "C" __global__ void endless(int *flag)
{
    while (*(volatile int *)flag == 0)
        ;
}

extern "C" __global__ void times(long long *out)
{
    long long begin = clock64();
    for (int i = 0; i < 100; i++)
        out[1] += i;
    out[0] = clock64() - begin;
}
