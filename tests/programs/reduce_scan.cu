// Reductions, a scan, a histogram and a radix sort from CUB, checked on the CPU.
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <vector>

#include "check.cuh"

template <typename Call> static void with_storage(Call call)
{
    size_t bytes = 0;
    void *storage = nullptr;
    CHECK(call(storage, bytes));
    CHECK(cudaMalloc(&storage, bytes));
    CHECK(call(storage, bytes));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(storage));
}

int main()
{
    const int n = 40000;
    std::vector<uint32_t> host(n);
    uint32_t state = 12345;
    for (auto &value : host) {
        state = state * 1664525u + 1013904223u;
        value = state >> 8;
    }
    uint32_t *in, *out;
    CHECK(cudaMalloc(&in, n * sizeof *in));
    CHECK(cudaMalloc(&out, n * sizeof *out));
    CHECK(cudaMemcpy(in, host.data(), n * sizeof *in, cudaMemcpyHostToDevice));

    with_storage([&](void *s, size_t &b) { return cub::DeviceReduce::Sum(s, b, in, out, n); });
    uint32_t sum = 0, got = 0;
    for (uint32_t value : host)
        sum += value;
    CHECK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
    std::printf("sum %u %s\n", got, got == sum ? "ok" : "WRONG");

    with_storage([&](void *s, size_t &b) { return cub::DeviceReduce::Max(s, b, in, out, n); });
    uint32_t most = 0;
    for (uint32_t value : host)
        most = value > most ? value : most;
    CHECK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
    std::printf("max %u %s\n", got, got == most ? "ok" : "WRONG");

    with_storage([&](void *s, size_t &b) { return cub::DeviceScan::ExclusiveSum(s, b, in, out, n); });
    std::vector<uint32_t> result(n);
    CHECK(cudaMemcpy(result.data(), out, n * sizeof *out, cudaMemcpyDeviceToHost));
    uint32_t running = 0;
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        wrong += result[i] != running;
        running += host[i];
    }
    std::printf("scan %u %s\n", result[n - 1], wrong ? "WRONG" : "ok");

    with_storage([&](void *s, size_t &b) { return cub::DeviceRadixSort::SortKeys(s, b, in, out, n); });
    CHECK(cudaMemcpy(result.data(), out, n * sizeof *out, cudaMemcpyDeviceToHost));
    wrong = 0;
    for (int i = 1; i < n; i++)
        wrong += result[i - 1] > result[i];
    std::printf("sort %u..%u %s\n", result[0], result[n - 1], wrong ? "WRONG" : "ok");
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return 0;
}
