// Atomics under load, warp votes and shuffles, shared memory, half precision, and a launch that must fail.
#include <cuda_fp16.h>

#include "check.cuh"

__global__ void count(unsigned *total, unsigned long long *sum, float *average, int *most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, 1u);
    atomicAdd(sum, (unsigned long long)i);
    atomicAdd(average, 0.5f);
    atomicMax(most, i);
}

__global__ void warps(int *out)
{
    int lane = threadIdx.x & 31, value = threadIdx.x;
    for (int offset = 16; offset; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    unsigned odd = __ballot_sync(0xffffffffu, lane & 1);
    if (lane == 0) {
        out[threadIdx.x / 32 * 2] = value;
        out[threadIdx.x / 32 * 2 + 1] = __popc(odd);
    }
}

__global__ void halves(__half *x, int n)
{
    int i = threadIdx.x;
    if (i < n)
        x[i] = __hfma(x[i], __float2half(2.0f), __float2half(1.0f));
}

int main()
{
    struct {
        unsigned total;
        int most;
        unsigned long long sum;
        float average;
    } host = {}, *device;
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMemset(device, 0, sizeof host));
    count<<<64, 128>>>(&device->total, &device->sum, &device->average, &device->most);
    CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
    bool right = host.total == 8192 && host.sum == 8191ull * 8192 / 2 && host.average == 4096 && host.most == 8191;
    std::printf("atomics %u %llu %g %d %s\n", host.total, host.sum, host.average, host.most, right ? "ok" : "WRONG");

    int *out, results[8];
    CHECK(cudaMalloc(&out, sizeof results));
    warps<<<1, 128>>>(out);
    CHECK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    right = results[0] == 496 && results[2] == 496 + 32 * 32 && results[7] == 16;
    std::printf("warps %d %d %d %s\n", results[0], results[2], results[7], right ? "ok" : "WRONG");

    __half small[4], *on_device;
    for (int i = 0; i < 4; i++)
        small[i] = __float2half(i + 0.5f);
    CHECK(cudaMalloc(&on_device, sizeof small));
    CHECK(cudaMemcpy(on_device, small, sizeof small, cudaMemcpyHostToDevice));
    halves<<<1, 4>>>(on_device, 4);
    CHECK(cudaMemcpy(small, on_device, sizeof small, cudaMemcpyDeviceToHost));
    std::printf("halves %g %g %s\n", __half2float(small[0]), __half2float(small[3]),
                __half2float(small[0]) == 2 && __half2float(small[3]) == 8 ? "ok" : "WRONG");

    halves<<<1, 4096>>>(on_device, 4);
    cudaError_t wrong = cudaGetLastError();
    std::printf("too many threads: %s %s\n", cudaGetErrorName(wrong), cudaGetLastError() == cudaSuccess ? "ok" : "WRONG");
    return 0;
}
