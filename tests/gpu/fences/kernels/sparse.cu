// Sparse matrices, graphs, indirection.
extern "C" __global__ void spmvCsr(int rows, const int *starts, const int *columns, const float *values, const float *x,
                                   float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

extern "C" __global__ void spmvCsrWarps(int rows, const int *starts, const int *columns, const float *values,
                                        const float *x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    int end = starts[row + 1];
    for (int i = starts[row] + lane; i < end; i += 32)
        sum += values[i] * x[columns[i]];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xFFFFFFFF, sum, step);
    if (lane == 0)
        y[row] = sum;
}

extern "C" __global__ void spmvEll(int rows, int width, const int *columns, const float *values, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = 0; i < width; i++)
        sum += values[i * rows + row] * x[columns[i * rows + row]];
    y[row] = sum;
}

extern "C" __global__ void pageRank(int nodes, const int *starts, const int *sources, const float *rank,
                                    const int *degrees, float *next)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    float sum = 0;
    for (int i = starts[node]; i < starts[node + 1]; i++) {
        int from = sources[i];
        sum += rank[from] / (float)(degrees[from] + 1);
    }
    next[node] = 0.15f / nodes + 0.85f * sum;
}

extern "C" __global__ void bfsLevel(int nodes, int level, const int *starts, const int *targets, const int *levels, int *found)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || levels[node] != level)
        return;
    for (int i = starts[node]; i < starts[node + 1]; i++) {
        int to = targets[i];
        if (levels[to] > level)
            found[to] = level + 1;
    }
}

extern "C" __global__ void relax(int nodes, const int *starts, const int *targets, const int *weights, const int *distances,
                                 int *shorter)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    int here = distances[node];
    for (int i = starts[node]; i < starts[node + 1]; i++)
        atomicMin(&shorter[targets[i]], here + weights[i]);
}

extern "C" __global__ void gather(int n, const int *from, const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[from[i]];
}

extern "C" __global__ void scatter(int n, int odd, const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[(i * odd) & (n - 1)] = in[i];
}

struct Link {
    Link *next;
    int value;
};

// Every thread follows a ring of its own, whose nodes lie far apart.
extern "C" __global__ void walkList(int n, int steps, Link *nodes, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++) {
        nodes[i + k * n].next = &nodes[i + (k + 1) % 4 * n];
        nodes[i + k * n].value = i + k;
    }
    int sum = 0;
    for (Link *at = &nodes[i]; steps > 0; steps--) {
        sum += at->value * steps;
        at = at->next;
    }
    out[i] = sum;
}
