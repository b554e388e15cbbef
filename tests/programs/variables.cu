// Variables of a module that other variables, constants and functions have the addresses of.
#include "check.cuh"

__device__ int counter;
__device__ float table[64] = {1.0f, 2.0f, 3.0f};
static __device__ int local_value = 7;
__device__ int *pointer = &local_value;
__device__ int filled[100];
__constant__ const int *constant_pointer = filled;
__device__ int large[1 << 20];
// No kernel names it: the host passes its address.
__device__ int passed[16];

__device__ __noinline__ int add(int *to, int number)
{
    return atomicAdd(to, number);
}

__global__ void use(int *out)
{
    *out = static_cast<int>(table[2]) + add(&counter, 1) + local_value + *pointer;
}

__global__ void choose(int *out, int which)
{
    *out = add(which ? &counter : &local_value, 10);
}

__global__ void by_constant(int *out, int i)
{
    *out = constant_pointer[i];
}

__global__ void by_address(int *out, int *from, int i)
{
    *out = from[i]++;
}

__global__ void fill(int number)
{
    for (int i = threadIdx.x; i < 1 << 20; i += blockDim.x)
        large[i] += i + number;
}

static int wrong(const char *what, int value, int expected)
{
    std::printf("%s %d %s\n", what, value, value == expected ? "ok" : "WRONG");
    return value != expected;
}

static int result(const int *out)
{
    int value = 0;
    CHECK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

int main()
{
    int *out = nullptr;
    int failed = 0;
    CHECK(cudaMalloc(&out, sizeof *out));
    int values[100];
    for (int i = 0; i < 100; i++)
        values[i] = 1000 + i;
    CHECK(cudaMemcpyToSymbol(filled, values, sizeof values));
    use<<<1, 1>>>(out);
    failed += wrong("first use", result(out), 3 + 0 + 7 + 7);
    use<<<1, 1>>>(out);
    failed += wrong("second use", result(out), 3 + 1 + 7 + 7);
    choose<<<1, 1>>>(out, 0);
    failed += wrong("value before", result(out), 7);
    choose<<<1, 1>>>(out, 1);
    failed += wrong("counter before", result(out), 2);
    use<<<1, 1>>>(out);
    failed += wrong("by its pointer", result(out), 3 + 12 + 17 + 17);
    by_constant<<<1, 1>>>(out, 42);
    failed += wrong("by a constant", result(out), 1042);
    fill<<<1, 256>>>(1);
    fill<<<1, 256>>>(2);
    int last = 0;
    CHECK(cudaMemcpyFromSymbol(&last, large, sizeof last, ((1 << 20) - 1) * sizeof last));
    failed += wrong("last word", last, 2 * ((1 << 20) - 1) + 3);
    int count = 500;
    CHECK(cudaMemcpyToSymbol(counter, &count, sizeof count));
    use<<<1, 1>>>(out);
    CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    failed += wrong("counter", count, 501);
    void *address = nullptr;
    CHECK(cudaGetSymbolAddress(&address, table));
    float numbers[3];
    CHECK(cudaMemcpy(numbers, address, sizeof numbers, cudaMemcpyDeviceToHost));
    failed += wrong("table", static_cast<int>(numbers[0] + 10 * numbers[1] + 100 * numbers[2]), 321);
    CHECK(cudaMemset(address, 0, sizeof table));
    use<<<1, 1>>>(out);
    failed += wrong("cleared table", result(out), 501 + 17 + 17);
    CHECK(cudaGetSymbolAddress(&address, passed));
    CHECK(cudaMemcpyToSymbol(passed, values, sizeof passed));
    by_address<<<1, 1>>>(out, static_cast<int *>(address), 9);
    failed += wrong("by its address", result(out), 1009);
    CHECK(cudaMemcpyFromSymbol(&count, passed, sizeof count, 9 * sizeof count));
    failed += wrong("changed by its address", count, 1010);
    return failed != 0;
}
