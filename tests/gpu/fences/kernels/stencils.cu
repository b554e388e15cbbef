// Stencils and grids.
extern "C" __global__ void stencil2d(int width, int height, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    int i = y * width + x;
    out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

extern "C" __global__ void stencil3d(int n, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1, z = blockIdx.z + 1;
    if (x >= n - 1 || y >= n - 1 || z >= n - 1)
        return;
    int i = (z * n + y) * n + x;
    out[i] = -6 * in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n];
}

extern "C" __global__ void jacobiColumns(int n, const double *in, double *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (x >= n - 1)
        return;
    double above = in[x], here = in[n + x];
    for (int y = 1; y < n - 1; y++) {
        double below = in[(y + 1) * n + x];
        out[y * n + x] = 0.25 * (above + below + in[y * n + x - 1] + in[y * n + x + 1]);
        above = here;
        here = below;
    }
}

extern "C" __global__ void hotspot(int n, const float *power, const float *in, float *out)
{
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int column = threadIdx.x + 1, row = threadIdx.y + 1, i = y * n + x;
    tile[row][column] = in[i];
    if (threadIdx.x == 0)
        tile[row][0] = in[x > 0 ? i - 1 : i];
    if (threadIdx.x == 15)
        tile[row][17] = in[x < n - 1 ? i + 1 : i];
    if (threadIdx.y == 0)
        tile[0][column] = in[y > 0 ? i - n : i];
    if (threadIdx.y == 15)
        tile[17][column] = in[y < n - 1 ? i + n : i];
    __syncthreads();
    float here = tile[row][column];
    out[i] = here + 0.1f * (power[i] + (tile[row][column - 1] + tile[row][column + 1] - 2 * here) * 0.3f +
                            (tile[row - 1][column] + tile[row + 1][column] - 2 * here) * 0.3f + (80 - here) * 0.05f);
}

extern "C" __global__ void latticeBoltzmann(int n, const float *from, float *to)
{
    const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float weight[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    float f[9], density = 0, ux = 0, uy = 0;
#pragma unroll
    for (int d = 0; d < 9; d++) {
        int sx = (x - dx[d] + n) % n, sy = (y - dy[d] + n) % n;
        f[d] = from[d * n * n + sy * n + sx] + 0.1f;
        density += f[d];
        ux += dx[d] * f[d];
        uy += dy[d] * f[d];
    }
    ux /= density;
    uy /= density;
#pragma unroll
    for (int d = 0; d < 9; d++) {
        float along = 3 * (dx[d] * ux + dy[d] * uy);
        float still = weight[d] * density * (1 + along + 0.5f * along * along - 1.5f * (ux * ux + uy * uy));
        to[d * n * n + y * n + x] = f[d] + (still - f[d]) * 0.6f;
    }
}

extern "C" __global__ void pathFinder(int columns, int rows, const int *wall, const int *before, int *after)
{
    __shared__ int cost[256], next[256];
    int x = blockIdx.x * (256 - 2 * 8) + (int)threadIdx.x - 8;
    int at = min(max(x, 0), columns - 1);
    cost[threadIdx.x] = before[at];
    __syncthreads();
    for (int row = 0; row < rows; row++) {
        int left = threadIdx.x > 0 ? threadIdx.x - 1 : 0, right = threadIdx.x < 255 ? threadIdx.x + 1 : 255;
        next[threadIdx.x] = min(cost[threadIdx.x], min(cost[left], cost[right])) + wall[row * columns + at];
        __syncthreads();
        cost[threadIdx.x] = next[threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.x >= 8 && threadIdx.x < 248 && x < columns)
        after[x] = cost[threadIdx.x];
}

extern "C" __global__ void needlemanWunsch(int n, int penalty, const int *reference, const int *in, int *out)
{
    __shared__ int score[17][17], match[16][16];
    int lane = threadIdx.x, corner = blockIdx.y * 16 * n + blockIdx.x * 16;
    for (int i = 0; i < 16; i++)
        match[i][lane] = reference[corner + n + 1 + i * n + lane];
    score[0][lane + 1] = in[corner + lane + 1];
    score[lane + 1][0] = in[corner + (lane + 1) * n];
    if (lane == 0)
        score[0][0] = in[corner];
    __syncwarp(0xFFFF);
    for (int wave = 0; wave < 31; wave++) {
        int column = wave - lane;
        if (column >= 0 && column < 16)
            score[lane + 1][column + 1] = max(score[lane][column] + match[lane][column],
                                              max(score[lane + 1][column], score[lane][column + 1]) - penalty);
        __syncwarp(0xFFFF);
    }
    for (int i = 0; i < 16; i++)
        out[corner + n + 1 + i * n + lane] = score[i + 1][lane + 1];
}
