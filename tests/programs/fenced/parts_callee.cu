// The other file of parts.cu.
#include <cstdio>

__device__ int offset = 5;

__device__ int twice(int x)
{
    if (x > 1000)
        printf("too much: %d\n", x);
    return 2 * x;
}
