// Products of matrices as Triton and CUTLASS make them: tiles of 64 x 64 by four warps, three stages of cp.async, ldmatrix from
// swizzled shared memory, mma.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

constexpr int TILE = 64, DEPTH = 32, STAGES = 3;

// Rows of 32 halves are four pieces of 16 bytes; the exclusive or keeps the rows that ldmatrix reads at once in different banks.
static __device__ uint32_t place(int row, int piece)
{
    return row * DEPTH * 2 + ((piece ^ (row >> 1 & 3)) << 4);
}

// 16 bytes of which only the first `bytes` are there; the others become zeros.
static __device__ void copyAsync(uint32_t to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

static __device__ void load4(uint32_t *to, uint32_t from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
}

static __device__ void load4Transposed(uint32_t *to, uint32_t from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
}

static __device__ void multiplyHalves(float *d, const uint32_t *a, const uint32_t *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ void multiplyBrains(float *d, const uint32_t *a, const uint32_t *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// c (m x n, float) = a (m x k) times the transpose of b (n x k); k a multiple of 8.
extern "C" __global__ void __launch_bounds__(128) productOfHalves(const __half *a, const __half *b, float *c, int m, int n, int k)
{
    __shared__ __align__(128) char left[STAGES][TILE * DEPTH * 2];
    __shared__ __align__(128) char right[STAGES][TILE * DEPTH * 2];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    int warpRow = (warp >> 1) * 32, warpColumn = (warp & 1) * 32;
    float sums[2][4][4] = {};
    int steps = (k + DEPTH - 1) / DEPTH;

    auto fetch = [&](int step) {
        int stage = step % STAGES;
        for (int i = threadIdx.x; i < TILE * 4; i += 128) {
            int r = i >> 2, piece = i & 3, at = step * DEPTH + piece * 8;
            bool inA = row + r < m && at < k, inB = column + r < n && at < k;
            copyAsync((uint32_t)__cvta_generic_to_shared(left[stage]) + place(r, piece), inA ? a + (size_t)(row + r) * k + at : a,
                      inA ? 16 : 0);
            copyAsync((uint32_t)__cvta_generic_to_shared(right[stage]) + place(r, piece),
                      inB ? b + (size_t)(column + r) * k + at : b, inB ? 16 : 0);
        }
    };
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < steps)
            fetch(i);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        if (step + STAGES - 1 < steps)
            fetch(step + STAGES - 1);
        asm volatile("cp.async.commit_group;" ::: "memory");
        uint32_t fromA = (uint32_t)__cvta_generic_to_shared(left[step % STAGES]);
        uint32_t fromB = (uint32_t)__cvta_generic_to_shared(right[step % STAGES]);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint32_t fragmentA[2][4], fragmentB[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                load4(fragmentA[i], fromA + place(warpRow + i * 16 + (lane & 15), half * 2 + (lane >> 4)));
                load4(fragmentB[i], fromB + place(warpColumn + i * 16 + (lane & 7) + (lane >> 4) * 8, half * 2 + (lane >> 3 & 1)));
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    multiplyHalves(sums[i][j], fragmentA[i], fragmentB[j >> 1] + (j & 1) * 2);
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) {
                int r = row + warpRow + i * 16 + (lane >> 2) + (e >> 1) * 8;
                int col = column + warpColumn + j * 8 + (lane & 3) * 2 + (e & 1);
                if (r < m && col < n)
                    c[(size_t)r * n + col] = sums[i][j][e];
            }
}

// c (m x n, bfloat16) = the larger of 0 and a (m x k) times b (k x n); all multiples of 64. b comes into registers transposed.
extern "C" __global__ void __launch_bounds__(128) productOfBrains(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c,
                                                                  int m, int n, int k)
{
    extern __shared__ __align__(128) char shared[];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    int warpRow = (warp >> 1) * 32, warpColumn = (warp & 1) * 32;
    float sums[2][4][4] = {};
    uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);
    const int half = TILE * DEPTH * 2;

    auto fetch = [&](int step) {
        uint32_t left = base + step % STAGES * 2 * half, right = left + half;
        for (int i = threadIdx.x; i < TILE * 4; i += 128) {
            copyAsync(left + place(i >> 2, i & 3), a + (size_t)(row + (i >> 2)) * k + step * DEPTH + (i & 3) * 8, 16);
            // Rows of b are 64 wide: eight pieces.
            copyAsync(right + (i >> 3) * TILE * 2 + (((i & 7) ^ (i >> 3 & 7)) << 4),
                      b + (size_t)(step * DEPTH + (i >> 3)) * n + column + (i & 7) * 8, 16);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    int steps = k / DEPTH;
    fetch(0);
    for (int step = 0; step < steps; step++) {
        if (step + 1 < steps) {
            fetch(step + 1);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        uint32_t left = base + step % STAGES * 2 * half, right = left + half;
#pragma unroll
        for (int part = 0; part < 2; part++) {
            uint32_t fragmentA[2][4], fragmentB[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                load4(fragmentA[i], left + place(warpRow + i * 16 + (lane & 15), part * 2 + (lane >> 4)));
                int from = part * 16 + (lane & 15), piece = warpColumn / 8 + i * 2 + (lane >> 4);
                load4Transposed(fragmentB[i], right + from * TILE * 2 + ((piece ^ (from & 7)) << 4));
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    multiplyBrains(sums[i][j], fragmentA[i], fragmentB[j >> 1] + (j & 1) * 2);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int pair = 0; pair < 2; pair++) {
                int r = row + warpRow + i * 16 + (lane >> 2) + pair * 8, col = column + warpColumn + j * 8 + (lane & 3) * 2;
                *(__nv_bfloat162 *)(c + (size_t)r * n + col) =
                    __floats2bfloat162_rn(fmaxf(sums[i][j][pair * 2], 0), fmaxf(sums[i][j][pair * 2 + 1], 0));
            }
}
