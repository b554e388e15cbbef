// Two processes: one makes memory and an event, the other opens both by their IPC handles, waits, computes and writes back.
#include <sys/wait.h>
#include <unistd.h>

#include "check.cuh"

enum { COUNT = 1 << 16, THREADS = 256, ROUNDS = 8 };

struct Handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t written, answered;
};

__global__ void fill(unsigned *data, unsigned value)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = value + i;
}

__global__ void triple(unsigned *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] *= 3;
}

static void step(int end)
{
    if (write(end, "", 1) != 1)
        std::exit(1);
}

static void await(int end)
{
    char byte;
    if (read(end, &byte, 1) != 1)
        std::exit(1);
}

static cudaEvent_t shared_event(cudaIpcEventHandle_t *handle)
{
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaIpcGetEventHandle(handle, event));
    return event;
}

static void owner(int from, int to)
{
    static unsigned got[COUNT];
    Handles handles;
    unsigned *data;
    int wrong = 0;
    CHECK(cudaMalloc(&data, sizeof got));
    CHECK(cudaIpcGetMemHandle(&handles.memory, data));
    cudaEvent_t written = shared_event(&handles.written), answered = shared_event(&handles.answered);
    if (write(to, &handles, sizeof handles) != sizeof handles)
        std::exit(1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill<<<COUNT / THREADS, THREADS>>>(data, round);
        CHECK(cudaEventRecord(written));
        step(to);
        await(from);
        CHECK(cudaStreamWaitEvent(0, answered, 0));
        CHECK(cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost));
        for (unsigned i = 0; i < COUNT; i++)
            wrong += got[i] != (round + i) * 3;
    }
    await(from); // the other has closed
    std::printf("exchanged %d rounds, %d wrong %s\n", ROUNDS, wrong, wrong ? "WRONG" : "ok");
    CHECK(cudaEventDestroy(written));
    CHECK(cudaEventDestroy(answered));
    CHECK(cudaFree(data));
}

static void other(int from, int to)
{
    Handles handles;
    void *data;
    cudaEvent_t written, answered;
    if (read(from, &handles, sizeof handles) != sizeof handles)
        std::exit(1);
    CHECK(cudaIpcOpenMemHandle(&data, handles.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&written, handles.written));
    CHECK(cudaIpcOpenEventHandle(&answered, handles.answered));
    for (int round = 0; round < ROUNDS; round++) {
        await(from);
        CHECK(cudaStreamWaitEvent(0, written, 0));
        triple<<<COUNT / THREADS, THREADS>>>((unsigned *)data);
        CHECK(cudaEventRecord(answered));
        step(to);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(written));
    CHECK(cudaEventDestroy(answered));
    CHECK(cudaIpcCloseMemHandle(data));
    step(to);
}

int main()
{
    int forth[2], back[2], status = 0;
    if (pipe(forth) != 0 || pipe(back) != 0)
        return 1;
    pid_t child = fork(); // before either has anything of CUDA
    if (child < 0)
        return 1;
    if (child == 0) {
        other(forth[0], back[1]);
        return 0;
    }
    owner(back[0], forth[1]);
    bool ended = waitpid(child, &status, 0) == child && status == 0;
    std::printf("the other process ended with %d %s\n", status, ended ? "ok" : "WRONG");
    return 0;
}
