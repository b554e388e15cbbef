// Two streams with an event between them, the legacy stream's implicit order, and a time.
#include "check.cuh"

__global__ void fill(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = value;
}

__global__ void add(int *data, const int *other, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += other[i];
}

int main()
{
    const int n = 1 << 16, blocks = n / 256;
    int *a, *b, first = 0, last = 0;
    CHECK(cudaMalloc(&a, n * sizeof *a));
    CHECK(cudaMalloc(&b, n * sizeof *b));
    cudaStream_t one, two, blocking;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithPriority(&two, cudaStreamNonBlocking, -1));
    CHECK(cudaStreamCreate(&blocking));
    cudaEvent_t begin, filled, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&end));

    CHECK(cudaEventRecord(begin, one));
    fill<<<blocks, 256, 0, one>>>(a, n, 40);
    CHECK(cudaEventRecord(filled, one));
    fill<<<blocks, 256, 0, two>>>(b, n, 2);
    CHECK(cudaStreamWaitEvent(two, filled, 0));
    add<<<blocks, 256, 0, two>>>(a, b, n);
    CHECK(cudaEventRecord(end, two));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventQuery(end));
    CHECK(cudaMemcpy(&first, a, sizeof first, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&last, a + n - 1, sizeof last, cudaMemcpyDeviceToHost));
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    std::printf("event order %d %d %s\n", first, last, first == 42 && last == 42 && ms >= 0 ? "ok" : "WRONG");

    // A blocking stream and the legacy stream wait for each other without being told.
    for (int round = 0; round < 20; round++) {
        fill<<<blocks, 256, 0, blocking>>>(a, n, round);
        fill<<<blocks, 256>>>(b, n, 1);
        add<<<blocks, 256, 0, blocking>>>(a, b, n);
    }
    CHECK(cudaMemcpy(&last, a + n - 1, sizeof last, cudaMemcpyDeviceToHost));
    std::printf("legacy order %d %s\n", last, last == 20 ? "ok" : "WRONG");
    CHECK(cudaStreamQuery(one));
    CHECK(cudaStreamDestroy(one));
    CHECK(cudaStreamDestroy(two));
    CHECK(cudaStreamDestroy(blocking));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(filled));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
