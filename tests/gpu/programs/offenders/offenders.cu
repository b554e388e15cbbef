// Kernels that never end or that write where the program has no memory, as machine code alone, and a neighbour that computes meanwhile.
// usage: offenders word | clock | arithmetic | divergent | barrier | stray BYTES | NAME of faults.cu | neighbour
// Prints the error that the program gets. A neighbour says when it has begun, computes sums until a line comes in, and says how many were right.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <poll.h>

#include "faults.h"

/* Waits for a word in memory. */
__global__ void word(volatile int *p) {
    while (*p == 0)
        ;
}

/* As torch.cuda._sleep. */
__global__ void ticks(long long n) {
    long long start = clock64();
    while (clock64() - start < n)
        ;
}

/* No memory access and no clock. */
__global__ void arithmetic(int *p) {
    unsigned a = threadIdx.x | 1;
    while (a != 0)
        a = a * 1664525u | 1;
    *p = (int) a;
}

/* Threads of a warp are in different loops. */
__global__ void divergent(volatile int *p) {
    if (threadIdx.x % 3 == 0)
        while (p[0] == 0)
            ;
    else if (threadIdx.x % 3 == 1)
        while (p[1] == 0)
            p[2] = threadIdx.x;
    p[3] = 1;
}

/* One warp spins while the others wait for it at the block's barrier. */
__global__ void barrier(volatile int *p) {
    if (threadIdx.x < 32)
        while (*p == 0)
            ;
    __syncthreads();
    p[1] = 1;
}

/* Writes so far from its memory. */
__global__ void stray(int *p, long long bytes) {
    *(int *) ((char *) p + bytes) = 7;
}

/* Ends. Its loops look, and nothing that they compute may change by that. */
__global__ void sum(const unsigned *in, unsigned long long *out, int n) {
    unsigned long long s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        for (unsigned j = in[i]; j != 0; j &= j - 1)
            s += i ^ j;
    atomicAdd(out, s);
}

static int check(const char *what, cudaError_t error) {
    printf("%s: %d %s\n", what, (int) error, cudaGetErrorName(error));
    return error != cudaSuccess;
}

static unsigned *values(int n, unsigned long long *expected) {
    unsigned *in = (unsigned *) malloc(sizeof(unsigned) * n);
    for (int i = 0; i < n; i++) {
        in[i] = (unsigned) i * 2654435761u;
        for (unsigned j = in[i]; j != 0; j &= j - 1)
            *expected += (unsigned) i ^ j;
    }
    return in;
}

static int neighbour(unsigned long long *sums) {
    const int n = 1 << 20;
    unsigned long long expected = 0;
    unsigned *in = values(n, &expected), *device;
    if (check("malloc", cudaMalloc(&device, sizeof(unsigned) * n))
        || check("copy", cudaMemcpy(device, in, sizeof(unsigned) * n, cudaMemcpyHostToDevice)))
        return 2;
    long right = 0, wrong = 0;
    struct pollfd input = {0, POLLIN, 0};
    while (right + wrong == 0 || poll(&input, 1, 0) == 0) {
        unsigned long long got = 0;
        cudaMemset(sums, 0, sizeof *sums);
        sum<<<264, 256>>>(device, sums, n);
        cudaError_t error = cudaMemcpy(&got, sums, sizeof got, cudaMemcpyDeviceToHost);
        if (error != cudaSuccess)
            return check("sum", error);
        if (right + wrong == 0)
            printf("begun\n"), fflush(stdout);
        got == expected ? right++ : wrong++;
    }
    printf("sums: %ld right, %ld wrong\n", right, wrong);
    return wrong != 0;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "word";
    int *p;
    if (check("malloc", cudaMalloc(&p, 4096)) || check("memset", cudaMemset(p, 0, 4096)))
        return 2;
    if (!strcmp(what, "neighbour"))
        return neighbour(reinterpret_cast<unsigned long long *>(p));
    if (!strcmp(what, "word"))
        word<<<264, 256>>>(p);
    else if (!strcmp(what, "clock"))
        ticks<<<264, 256>>>(1ll << 62);
    else if (!strcmp(what, "arithmetic"))
        arithmetic<<<264, 256>>>(p);
    else if (!strcmp(what, "divergent"))
        divergent<<<264, 256>>>(p);
    else if (!strcmp(what, "barrier"))
        barrier<<<264, 256>>>(p);
    else if (!strcmp(what, "stray") && count > 2)
        stray<<<1, 1>>>(p, atoll(arguments[2]));
    else if (!launch_fault(what, p))
        return 3;
    return check(what, cudaGetLastError()) || check(what, cudaDeviceSynchronize());
}
