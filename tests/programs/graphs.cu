// A captured graph with two branches, replayed; pageable copies beside a branch; a graph made by hand; an update of a kernel's parameters.
#include "check.cuh"

__global__ void axpy(int *y, const int *x, int a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

static void count(void *value)
{
    ++*(int *)value;
}

// A copy of pageable memory, and a host function, while a blocking stream takes part in the capture by an event alone.
static void pageable_beside_a_branch()
{
    const int n = 1000;
    int *data, called = 0, wrong = 0;
    static int up[n], down[n];
    for (int i = 0; i < n; i++)
        up[i] = i;
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    CHECK(cudaMalloc(&data, n * sizeof *data));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&side));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    cudaGraph_t graph;
    cudaGraphExec_t runnable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    CHECK(cudaMemcpyAsync(data, up, sizeof up, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    axpy<<<(n + 255) / 256, 256, 0, stream>>>(data, data, 1, n);
    CHECK(cudaMemcpyAsync(down, data, sizeof down, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, count, &called));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&runnable, graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(runnable, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        wrong += down[i] != 2 * i;
    std::printf("pageable beside a branch %s\n", wrong || called != 3 ? "WRONG" : "ok");
}

int main()
{
    pageable_beside_a_branch();
    const int n = 4096;
    int *x, *y, *z, host[2] = {0, 0};
    CHECK(cudaMalloc(&x, n * sizeof *x));
    CHECK(cudaMalloc(&y, n * sizeof *y));
    CHECK(cudaMalloc(&z, n * sizeof *z));
    int one = 1;
    for (int i = 0; i < n; i++)
        if (i == 0 || i == n - 1)
            CHECK(cudaMemcpy(x + i, &one, sizeof one, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(y, 0, n * sizeof *y));
    CHECK(cudaMemset(z, 0, n * sizeof *z));
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

    cudaGraph_t graph;
    cudaGraphExec_t runnable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    axpy<<<n / 256, 256, 0, stream>>>(y, x, 2, n);
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    axpy<<<n / 256, 256, 0, side>>>(z, y, 1, n);
    CHECK(cudaEventRecord(join, side));
    axpy<<<n / 256, 256, 0, stream>>>(x, x, 0, n);
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    axpy<<<n / 256, 256, 0, stream>>>(y, z, 0, n);
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphInstantiate(&runnable, graph, 0));
    for (int i = 0; i < 5; i++)
        CHECK(cudaGraphLaunch(runnable, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&host[0], y, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&host[1], z, sizeof(int), cudaMemcpyDeviceToHost));
    std::printf("captured %zu nodes: %d %d %s\n", nodes, host[0], host[1],
                nodes == 4 && host[0] == 10 && host[1] == 30 ? "ok" : "WRONG");
    CHECK(cudaGraphExecDestroy(runnable));
    CHECK(cudaGraphDestroy(graph));

    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t clear, kernel;
    cudaMemsetParams memset_parameters = {};
    memset_parameters.dst = y;
    memset_parameters.elementSize = 4;
    memset_parameters.width = n;
    memset_parameters.height = 1;
    CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &memset_parameters));
    int factor = 3, count = n;
    void *arguments[] = {&y, &x, &factor, &count};
    cudaKernelNodeParams kernel_parameters = {};
    kernel_parameters.func = (void *)axpy;
    kernel_parameters.gridDim = dim3(n / 256);
    kernel_parameters.blockDim = dim3(256);
    kernel_parameters.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &kernel_parameters));
    CHECK(cudaGraphInstantiate(&runnable, graph, 0));
    CHECK(cudaGraphLaunch(runnable, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&host[0], y, sizeof(int), cudaMemcpyDeviceToHost));
    factor = 8;
    CHECK(cudaGraphExecKernelNodeSetParams(runnable, kernel, &kernel_parameters));
    CHECK(cudaGraphLaunch(runnable, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&host[1], y + n - 1, sizeof(int), cudaMemcpyDeviceToHost));
    std::printf("by hand %d, updated %d %s\n", host[0], host[1], host[0] == 3 && host[1] == 8 ? "ok" : "WRONG");
    return 0;
}
