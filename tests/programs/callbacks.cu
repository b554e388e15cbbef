// Host functions and callbacks run in stream order, between the kernels around them.
#include <atomic>

#include "check.cuh"

static std::atomic<int> calls;
static int seen[3];

__global__ void set(int *value, int to)
{
    *value = to;
}

static void CUDART_CB look(void *data)
{
    int turn = calls++;
    seen[turn] = *(volatile int *)data;
}

static void CUDART_CB look_with_status(cudaStream_t, cudaError_t status, void *data)
{
    if (status == cudaSuccess)
        look(data);
}

int main()
{
    int *host;
    cudaStream_t stream;
    CHECK(cudaHostAlloc(&host, sizeof *host, cudaHostAllocMapped));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    set<<<1, 1, 0, stream>>>(host, 1);
    CHECK(cudaLaunchHostFunc(stream, look, host));
    set<<<1, 1, 0, stream>>>(host, 2);
    CHECK(cudaStreamAddCallback(stream, look_with_status, host, 0));
    set<<<1, 1, 0, stream>>>(host, 3);
    CHECK(cudaLaunchHostFunc(stream, look, host));
    set<<<1, 1, 0, stream>>>(host, 4);
    CHECK(cudaStreamSynchronize(stream));
    bool right = calls == 3 && seen[0] == 1 && seen[1] == 2 && seen[2] == 3 && *host == 4;
    std::printf("callbacks %d: %d %d %d, then %d %s\n", (int)calls, seen[0], seen[1], seen[2], *host, right ? "ok" : "WRONG");
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    return 0;
}
