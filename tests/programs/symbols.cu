// Device and constant variables: copied to and from, and by address.
#include "check.cuh"

__device__ int counter = 7;
__constant__ float weights[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__device__ float sums[8];

__global__ void use(int rounds)
{
    int i = threadIdx.x;
    sums[i] = weights[i & 3] * rounds;
    if (i == 0)
        counter += rounds;
}

int main()
{
    int value = 0;
    CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    std::printf("initial %d %s\n", value, value == 7 ? "ok" : "WRONG");
    value = 30;
    CHECK(cudaMemcpyToSymbol(counter, &value, sizeof value));
    use<<<1, 8>>>(12);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    std::printf("counter %d %s\n", value, value == 42 ? "ok" : "WRONG");
    float changed[4] = {10.0f, 20.0f, 30.0f, 40.0f};
    CHECK(cudaMemcpyToSymbol(weights, changed, sizeof changed));
    use<<<1, 8>>>(2);
    float results[8];
    void *address = nullptr;
    size_t bytes = 0;
    CHECK(cudaGetSymbolAddress(&address, sums));
    CHECK(cudaGetSymbolSize(&bytes, sums));
    CHECK(cudaMemcpy(results, address, sizeof results, cudaMemcpyDeviceToHost));
    std::printf("constants %g %g, %zu bytes %s\n", results[0], results[7], bytes,
                results[0] == 20 && results[7] == 80 && bytes == sizeof results ? "ok" : "WRONG");
    return 0;
}
