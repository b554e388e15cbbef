// Divergence, calls, locks: what independent threads of a warp can do.
extern "C" __global__ void collatz(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long value = in[i];
    int steps = 0;
    while (value != 1) {
        for (; value % 2 == 0; value /= 2)
            steps++;
        if (value == 1)
            break;
        value = 3 * value + 1;
        if (++steps > 1000)
            return;
    }
    out[i] = steps;
}

extern "C" __global__ void choose(const int *op, const int *a, int *out)
{
    int i = threadIdx.x, x = a[i];
    switch (op[i]) {
    case 0: out[i] = x + 1; break;
    case 1: out[i] = x * 3; break;
    case 2: out[i] = x - 7;
    case 3: out[i] ^= 0x55; break;
    case 4: out[i] = x << 2; break;
    case 5: out[i] = -x; break;
    case 6: out[i] = x / 3; break;
    default: out[i] = 99;
    }
}

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursion(int *out)
{
    out[threadIdx.x] = fibonacci(threadIdx.x);
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int greatest(int a, int b) { return a > b ? a : b; }
__device__ Operation operations[3] = {add, subtract, greatest};

extern "C" __global__ void pointers(const int *which, int *out)
{
    int i = threadIdx.x;
    out[i] = operations[which[i]](i, 5);
}

extern "C" __global__ void wildPointer(long address, int *out)
{
    out[0] = ((Operation)address)(1, 2);
}

struct Shape {
    __device__ virtual int area() const = 0;
};
struct Square : Shape {
    int side;
    __device__ Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
struct Box : Shape {
    int w, h;
    __device__ Box(int a, int b) : w(a), h(b) {}
    __device__ int area() const override { return w * h; }
};

extern "C" __global__ void virtualCalls(int *out)
{
    Square square(threadIdx.x);
    Box box(threadIdx.x, 3);
    Shape *shape = threadIdx.x % 2 ? (Shape *)&square : (Shape *)&box;
    out[threadIdx.x] = shape->area();
}

// Each thread of a warp takes the same lock: deadlocks where lanes run in lockstep.
extern "C" __global__ void lockInWarp(int *lock, int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *(volatile int *)counter = *(volatile int *)counter + 1;
    __threadfence();
    atomicExch(lock, 0);
}

// Each block waits for all the others.
extern "C" __global__ void meet(int *arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile int *)arrived < gridDim.x)
            ;
    }
    __syncthreads();
}
