// Transforms, particles, elimination, simulation.
struct Complex {
    float re, im;
};

extern "C" __global__ void fftRadix2(int n, int half, const Complex *in, Complex *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2)
        return;
    int k = i & (half - 1), to = ((i - k) << 1) + k;
    float sine, cosine;
    __sincosf(-3.14159265f * k / half, &sine, &cosine);
    Complex a = in[i], b = in[i + n / 2];
    Complex turned = {b.re * cosine - b.im * sine, b.re * sine + b.im * cosine};
    out[to] = {a.re + turned.re, a.im + turned.im};
    out[to + half] = {a.re - turned.re, a.im - turned.im};
}

extern "C" __global__ void fftShared(const float2 *in, float2 *out)
{
    __shared__ float2 line[1024];
    int base = blockIdx.x * 1024;
    for (int i = 0; i < 4; i++) {
        int at = threadIdx.x + 256 * i;
        line[__brev(at) >> 22] = in[base + at];
    }
    for (int quarter = 1; quarter < 1024; quarter *= 4) {
        __syncthreads();
        int k = threadIdx.x & (quarter - 1), at = ((threadIdx.x - k) << 2) + k;
        float2 v[4];
        for (int i = 0; i < 4; i++) {
            float sine, cosine;
            __sincosf(-1.57079633f * k * i / quarter, &sine, &cosine);
            float2 x = line[at + (i == 1 ? 2 : i == 2 ? 1 : i) * quarter];
            v[i] = make_float2(x.x * cosine - x.y * sine, x.x * sine + x.y * cosine);
        }
        float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
        float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
        line[at] = make_float2(a.x + c.x, a.y + c.y);
        line[at + quarter] = make_float2(b.x + d.x, b.y + d.y);
        line[at + 2 * quarter] = make_float2(a.x - c.x, a.y - c.y);
        line[at + 3 * quarter] = make_float2(b.x - d.x, b.y - d.y);
    }
    __syncthreads();
    for (int i = 0; i < 4; i++)
        out[base + threadIdx.x + 256 * i] = line[threadIdx.x + 256 * i];
}

extern "C" __global__ void nBody(int n, const float4 *bodies, float4 *forces)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 me = bodies[i], force = make_float4(0, 0, 0, 0);
    for (int base = 0; base < n; base += 256) {
        tile[threadIdx.x] = bodies[base + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 256; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), s = tile[j].w * inverse * inverse * inverse;
            force.x += dx * s;
            force.y += dy * s;
            force.z += dz * s;
        }
        __syncthreads();
    }
    forces[i] = force;
}

extern "C" __global__ void eliminate(int n, int pivot, const float *factors, const float *in, float *out)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row <= pivot || row >= n || column < pivot || column >= n)
        return;
    // Said as one operation: the assembler decides by the code around it whether to join the two.
    out[n * row + column] = fmaf(-factors[row], in[n * pivot + column], in[n * row + column]);
}

extern "C" __global__ void luBlock(int n, const float *in, float *out)
{
    __shared__ float tile[32][32];
    int corner = blockIdx.x * 32 * (n + 1);
    for (int i = 0; i < 32; i++)
        tile[i][threadIdx.x] = in[corner + i * n + threadIdx.x] + (i == threadIdx.x ? 40.f : 0.f);
    __syncwarp();
    for (int k = 0; k < 31; k++) {
        if (threadIdx.x > k) {
            tile[threadIdx.x][k] /= tile[k][k];
            for (int j = k + 1; j < 32; j++)
                tile[threadIdx.x][j] -= tile[threadIdx.x][k] * tile[k][j];
        }
        __syncwarp();
    }
    for (int i = 0; i < 32; i++)
        out[corner + i * n + threadIdx.x] = tile[i][threadIdx.x];
}

extern "C" __global__ void monteCarlo(int paths, unsigned seed, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = seed ^ (i * 2654435761u);
    int inside = 0;
    for (int k = 0; k < paths; k++) {
        state = state * 1664525u + 1013904223u;
        float x = (state >> 8) * 5.9604645e-8f;
        state = state * 1664525u + 1013904223u;
        float y = (state >> 8) * 5.9604645e-8f;
        inside += x * x + y * y < 1;
    }
    out[i] = 4.f * inside / paths;
}

extern "C" __global__ void blackScholes(int n, float rate, float volatility, const float *price, const float *strike,
                                        const float *years, float *call, float *put)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float s = price[i] * 30 + 5, x = strike[i] * 100 + 1, t = years[i] * 10 + 0.25f, root = sqrtf(t);
        float d1 = (__logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = normcdff(d1), n2 = normcdff(d2), discounted = x * __expf(-rate * t);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1 - n2) - s * (1 - n1);
    }
}

extern "C" __global__ void mandelbrot(int width, int height, int most, int *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float cr = -2.2f + 3.2f * x / width, ci = -1.3f + 2.6f * y / height, zr = 0, zi = 0;
    int k = 0;
    while (k < most && zr * zr + zi * zi < 4) {
        float next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
        k++;
    }
    out[y * width + x] = k;
}

extern "C" __global__ void convolution1d(int n, const float *in, const float *taps, float *out)
{
    __shared__ float line[256 + 32];
    int i = blockIdx.x * 256 + threadIdx.x;
    line[threadIdx.x] = i < n ? in[i] : 0;
    if (threadIdx.x < 32)
        line[256 + threadIdx.x] = i + 256 < n ? in[i + 256] : 0;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 32; k++)
        sum += line[threadIdx.x + k] * taps[k];
    if (i < n)
        out[i] = sum;
}
