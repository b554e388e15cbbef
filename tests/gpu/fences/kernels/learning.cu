// What neural networks and clustering do.
extern "C" __global__ void softmaxRows(int columns, const float *in, float *out)
{
    __shared__ float partial[32];
    const float *row = in + (size_t)blockIdx.x * columns;
    float *to = out + (size_t)blockIdx.x * columns;
    float most = -1e30f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        most = fmaxf(most, row[i]);
    for (int step = 16; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFF, most, step));
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = most;
    __syncthreads();
    most = partial[0];
    for (int i = 1; i < blockDim.x / 32; i++)
        most = fmaxf(most, partial[i]);
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += __expf(row[i] - most);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xFFFFFFFF, sum, step);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < blockDim.x / 32; i++)
        sum += partial[i];
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        to[i] = __expf(row[i] - most) / sum;
}

extern "C" __global__ void layerNorm(int columns, const float *in, const float *scale, const float *shift, float *out)
{
    __shared__ float sums[32], squares[32];
    int row = blockIdx.x;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        float x = in[row * columns + i];
        sum += x;
        square += x * x;
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xFFFFFFFF, sum, step);
        square += __shfl_xor_sync(0xFFFFFFFF, square, step);
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        squares[threadIdx.x / 32] = square;
    }
    __syncthreads();
    sum = square = 0;
    for (int i = 0; i < blockDim.x / 32; i++) {
        sum += sums[i];
        square += squares[i];
    }
    float mean = sum / columns, inverse = rsqrtf(square / columns - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[row * columns + i] = (in[row * columns + i] - mean) * inverse * scale[i] + shift[i];
}

extern "C" __global__ void attention(int length, const float *q, const float *k, const float *v, float *out)
{
    __shared__ float keys[32][65], values[32][64];
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    float mine[64], sum[64] = {}, most = -1e30f, total = 0;
    for (int d = 0; d < 64; d++)
        mine[d] = q[query * 64 + d];
    for (int tile = 0; tile < length; tile += 32) {
        for (int i = threadIdx.x; i < 32 * 64; i += blockDim.x) {
            keys[i / 64][i % 64] = k[tile * 64 + i];
            values[i / 64][i % 64] = v[tile * 64 + i];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float score = 0;
#pragma unroll
            for (int d = 0; d < 64; d++)
                score += mine[d] * keys[j][d];
            float high = fmaxf(most, score * 0.125f), fade = __expf(most - high), weight = __expf(score * 0.125f - high);
            most = high;
            total = total * fade + weight;
#pragma unroll
            for (int d = 0; d < 64; d++)
                sum[d] = sum[d] * fade + weight * values[j][d];
        }
        __syncthreads();
    }
    for (int d = 0; d < 64; d++)
        out[query * 64 + d] = sum[d] / total;
}

extern "C" __global__ void embedding(int width, const int *words, const float *table, float *out)
{
    int word = words[blockIdx.x];
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[(size_t)blockIdx.x * width + i] = table[(size_t)word * width + i];
}

extern "C" __global__ void convolution2d(int width, int height, const float *in, const float *weights, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= width - 2 || y >= height - 2)
        return;
    float sum = 0;
#pragma unroll
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++)
            sum += in[(y + j) * width + x + i] * weights[(j + 2) * 5 + i + 2];
    out[y * width + x] = sum;
}

extern "C" __global__ void kmeansAssign(int n, int clusters, int features, const float *points, const float *centres,
                                        int *nearest)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best = 1e30f;
    int found = 0;
    for (int c = 0; c < clusters; c++) {
        float distance = 0;
        for (int f = 0; f < features; f++) {
            float d = points[f * n + i] - centres[c * features + f];
            distance += d * d;
        }
        if (distance < best) {
            best = distance;
            found = c;
        }
    }
    nearest[i] = found;
}
