// Kernels whose blocks may wait for each other (waits_...), and others that look like it (runs_...). BlockWaitsTest and GridWaitsTest go by the names.

struct State {
    unsigned arrived, generation, lock, work, flag, total;
};

extern "C" __global__ void waits_at_a_barrier_of_the_grid(State *s, float *out, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        out[blockIdx.x * blockDim.x + threadIdx.x] += i;
        __syncthreads();
        if (threadIdx.x == 0) {
            unsigned generation = *(volatile unsigned *)&s->generation;
            __threadfence();
            if (atomicAdd(&s->arrived, 1) == gridDim.x - 1) {
                s->arrived = 0;
                __threadfence();
                atomicAdd(&s->generation, 1);
            } else {
                while (*(volatile unsigned *)&s->generation == generation) {}
            }
        }
        __syncthreads();
    }
}

extern "C" __global__ void waits_for_a_flag(volatile unsigned *flag, unsigned *out)
{
    if (blockIdx.x == 0) *flag = 1;
    while (*flag == 0) {}
    out[blockIdx.x] = 1;
}

extern "C" __global__ void waits_for_a_lock(State *s, unsigned *out)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&s->lock, 0, 1) != 0) {}
        __threadfence();
        *out += blockIdx.x;
        __threadfence();
        atomicExch(&s->lock, 0);
    }
}

// Decoupled look-back: the sum of all blocks before, as soon as they have theirs.
extern "C" __global__ void waits_by_looking_back(const unsigned *in, unsigned *out, volatile unsigned long long *states)
{
    unsigned own = in[blockIdx.x], before = 0;
    states[blockIdx.x] = 1ull << 32 | own;
    for (int block = (int)blockIdx.x - 1; block >= 0; block--) {
        unsigned long long state;
        do {
            state = states[block];
        } while (state >> 32 == 0);
        before += (unsigned)state;
        if (state >> 32 == 2) break;
    }
    states[blockIdx.x] = 2ull << 32 | (before + own);
    out[blockIdx.x] = before;
}

#define WAITS_BY(name, instruction)                                                      \
    extern "C" __global__ void waits_by_##name(const unsigned *flag, unsigned *out)      \
    {                                                                                    \
        unsigned value;                                                                  \
        do {                                                                             \
            asm volatile(instruction " %0, [%1];" : "=r"(value) : "l"(flag) : "memory"); \
        } while (value == 0);                                                            \
        out[threadIdx.x] = value;                                                        \
    }
WAITS_BY(acquire, "ld.acquire.gpu.global.u32")
WAITS_BY(acquire_of_system, "ld.acquire.sys.u32")
WAITS_BY(relaxed, "ld.relaxed.gpu.global.u32")
WAITS_BY(mmio, "ld.mmio.relaxed.sys.global.u32")
#if __CUDA_ARCH__ >= 900
WAITS_BY(relaxed_in_cluster, "ld.relaxed.cluster.global.u32")
#endif

// ptxas moves such loads out of loops that do not write to memory.
#define WAITS_AND_WRITES_BY(name, instruction)                                       \
    extern "C" __global__ void waits_by_##name(const unsigned *flag, unsigned *out)  \
    {                                                                                \
        unsigned value;                                                              \
        do {                                                                         \
            out[threadIdx.x]++;                                                      \
            asm volatile(instruction " %0, [%1];" : "=r"(value) : "l"(flag) : "memory"); \
        } while (value == 0);                                                        \
    }
WAITS_AND_WRITES_BY(cv, "ld.global.cv.u32")
WAITS_AND_WRITES_BY(cg, "ld.global.cg.u32")

extern "C" __global__ void waits_by_a_fence(const unsigned *flag, unsigned *out)
{
    while (*flag == 0) __threadfence();
    out[threadIdx.x] = 1;
}

__device__ __noinline__ unsigned poll(const unsigned *flag)
{
    return *(const volatile unsigned *)flag;
}

extern "C" __global__ void waits_by_a_function(const unsigned *flag, unsigned *out)
{
    while (poll(flag) == 0) {}
    out[threadIdx.x] = 1;
}

__device__ __noinline__ void spin(const unsigned *flag)
{
    while (*(const volatile unsigned *)flag == 0) {}
}

extern "C" __global__ void waits_in_a_function(const unsigned *flag, unsigned *out)
{
    spin(flag);
    out[threadIdx.x] = 1;
}

__device__ __noinline__ unsigned other(const unsigned *flag)
{
    return flag[1];
}

extern "C" __global__ void waits_by_a_pointer(const unsigned *flag, unsigned *out, int which)
{
    unsigned (*read)(const unsigned *) = which ? poll : other;
    while (read(flag) == 0) {}
    out[threadIdx.x] = 1;
}

// It takes other work each time.
extern "C" __global__ void runs_a_queue(State *s, float *out, unsigned count)
{
    for (unsigned i = atomicAdd(&s->work, 1); i < count; i = atomicAdd(&s->work, 1)) out[i] *= 2;
}

extern "C" __global__ void runs_a_reduction(const float *in, float *sums, State *s, int n)
{
    __shared__ float part[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    part[threadIdx.x] = sum;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = part[0];
        __threadfence();
        if (atomicAdd(&s->arrived, 1) == gridDim.x - 1) {
            sums[gridDim.x] = sums[0] + sums[1];
            s->arrived = 0;
        }
    }
}

extern "C" __global__ void runs_a_histogram(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}

extern "C" __global__ void runs_a_histogram_in_memory(const unsigned char *in, unsigned *bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
}

extern "C" __global__ void runs_a_loop(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float sum = 0;
        for (int j = 0; j < i; j++) sum += in[j] * in[i - j];
        out[i] = sum;
    }
}

extern "C" __global__ void runs_a_search(const int *sorted, int *out, int n, int value)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < value) low = middle + 1;
        else high = middle;
    }
    out[threadIdx.x] = low;
}

extern "C" __global__ void runs_a_loop_on_shared_memory(unsigned *out)
{
    __shared__ volatile unsigned flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 32) flag = 1;
    while (flag == 0) {}
    out[threadIdx.x] = flag;
}

extern "C" __global__ void runs_a_counted_loop_on_volatile_memory(const volatile unsigned *in, unsigned *out)
{
    unsigned sum = 0;
#pragma unroll 1
    for (int i = 0; i < 100; i++) sum += in[i];
    out[threadIdx.x] = sum;
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void runs_to_a_barrier_of_the_cluster(unsigned *out, int n)
{
    for (int i = 0; i < n; i += gridDim.x) {
        out[threadIdx.x + i] = i;
        asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    }
}
#endif

extern "C" __global__ void runs_through_constant_memory(const int *__restrict__ in, int *out)
{
    int at = threadIdx.x;
    while (at >= 0) {
        at = __ldg(in + at);
        __threadfence();
    }
    out[threadIdx.x] = at;
}

extern "C" __global__ void runs_divisions(unsigned long long *out, const unsigned long long *in, State *s, int n)
{
    unsigned first = atomicAdd(&s->total, 1);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i] / in[i + n] + first;
}

// Loops that are counted, to a number that nobody waits for.
#define MANY 400000000u

extern "C" __global__ void waits_in_a_counted_loop(const volatile unsigned *flag, unsigned *out)
{
    unsigned i = 0;
    for (; i < MANY; i++)
        if (*flag % gridDim.x == 0) break;
    out[blockIdx.x] = i < MANY;
}

extern "C" __global__ void waits_in_a_counted_loop_and_ends(const volatile unsigned *flag, unsigned *out)
{
    for (unsigned i = 0; i < MANY; i++) {
        out[threadIdx.x] = i;
        if (*flag != 0) return;
    }
    out[blockIdx.x] = 1;
}

extern "C" __global__ void waits_in_a_counted_loop_by_two_conditions(const volatile double *flags, unsigned *out)
{
    bool there = false;
    for (unsigned i = 0; i < MANY && !there; i++) {
        if (flags[0] > 1 && flags[1] < 2) there = true;
        out[threadIdx.x] += i;
    }
    out[blockIdx.x] = there;
}

extern "C" __global__ void waits_in_a_counted_loop_by_shared_memory(const volatile unsigned *flag, unsigned *out)
{
    __shared__ unsigned seen;
    for (unsigned i = 0; i < MANY; i++) {
        if (threadIdx.x == 0) seen = *flag;
        __syncthreads();
        if (seen != 0) break;
        __syncthreads();
    }
    out[blockIdx.x] = 1;
}

extern "C" __global__ void waits_in_a_counted_loop_by_local_memory(const volatile unsigned *flag, unsigned *out, int shift)
{
    unsigned seen[64];
    for (unsigned i = 0; i < 64; i++) seen[i] = out[i];
    for (unsigned i = 0; i < MANY; i++) {
        seen[i % 64] = *flag;
        if (seen[(i + shift) % 64] != 0) break;
    }
    out[blockIdx.x] = 1;
}

extern "C" __global__ void waits_in_a_counted_loop_by_a_vote(const volatile unsigned *flags, unsigned *out)
{
    for (unsigned i = 0; i < MANY; i++)
        if (__all_sync(~0u, flags[threadIdx.x] != 0)) break;
    out[blockIdx.x] = 1;
}

extern "C" __global__ void waits_in_a_counted_loop_by_a_shuffle(const volatile unsigned *flag, unsigned *out)
{
    for (unsigned i = 0; i < MANY; i++) {
        unsigned seen = threadIdx.x == 0 ? *flag : 0;
        if (__shfl_sync(~0u, seen, 0) != 0) break;
    }
    out[blockIdx.x] = 1;
}

extern "C" __global__ void waits_in_a_counted_loop_by_a_barrier(const volatile unsigned *flag, unsigned *out)
{
    for (unsigned i = 0; i < MANY; i++)
        if (__syncthreads_or(threadIdx.x == 0 && *flag != 0)) break;
    out[blockIdx.x] = 1;
}

extern "C" __global__ void waits_in_a_counted_loop_by_an_exchange(State *s, unsigned *out)
{
    for (unsigned i = 0; i < MANY; i++)
        if (atomicCAS(&s->lock, 0, 1) == 0) break;
    out[blockIdx.x] = 1;
}

extern "C" __global__ void waits_in_a_counted_loop_by_a_fence(const unsigned *flag, unsigned *out)
{
    for (unsigned i = 0; i < MANY; i++) {
        __threadfence();
        if (*flag != 0) break;
    }
    out[blockIdx.x] = 1;
}

extern "C" __global__ void waits_in_a_counted_loop_by_a_function(const unsigned *flag, unsigned *out)
{
    for (unsigned i = 0; i < MANY; i++)
        if (poll(flag) != 0) break;
    out[blockIdx.x] = 1;
}

#define WAITS_BY_COPIES(name, instruction, loop)                                                                                 \
    extern "C" __global__ void waits_by_##name(const unsigned *flag, unsigned *out)                                              \
    {                                                                                                                            \
        __shared__ __align__(16) unsigned words[4];                                                                              \
        unsigned place = (unsigned)__cvta_generic_to_shared(words);                                                              \
        loop                                                                                                                     \
        {                                                                                                                        \
            asm volatile(instruction "\n\tcp.async.wait_all;" ::"r"(place), "l"(flag) : "memory");                               \
            if (words[0] != 0) break;                                                                                            \
        }                                                                                                                        \
        out[blockIdx.x] = 1;                                                                                                     \
    }
WAITS_BY_COPIES(copies, "cp.async.cg.shared.global [%0], [%1], 16;", for (;;))
WAITS_BY_COPIES(small_copies, "cp.async.ca.shared.global [%0], [%1], 4;", for (;;))
WAITS_BY_COPIES(counted_copies, "cp.async.cg.shared.global [%0], [%1], 16;", for (unsigned i = 0; i < MANY; i++))

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void waits_by_bulk_copies(const unsigned *flag, unsigned *out)
{
    __shared__ __align__(16) unsigned words[4];
    __shared__ unsigned long long barrier;
    unsigned place = (unsigned)__cvta_generic_to_shared(words), phase = 0, done;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
    do {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;\n\t"
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], 16, [%0];" ::"r"(at), "r"(place), "l"(flag)
                     : "memory");
        do {
            asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                         : "=r"(done)
                         : "r"(at), "r"(phase)
                         : "memory");
        } while (!done);
        phase ^= 1;
    } while (words[0] == 0);
    out[blockIdx.x] = 1;
}
#endif

// Each round reads what it adds up while the next is copied, as products of matrices do.
extern "C" __global__ void runs_a_pipeline_of_copies(const float *in, float *out, int n)
{
    __shared__ __align__(16) float tiles[2][128 * 4];
    float sum = 0;
    for (int i = 0; i <= n; i++) {
        if (i < n) {
            unsigned to = (unsigned)__cvta_generic_to_shared(&tiles[i & 1][threadIdx.x * 4]);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\tcp.async.commit_group;" ::"r"(to), "l"(in + (i * 128 + threadIdx.x) * 4)
                         : "memory");
        }
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        if (i > 0)
            for (int j = 0; j < 4; j++) sum = fmaf(tiles[i - 1 & 1][(threadIdx.x + j) % 512], sum, tiles[i - 1 & 1][threadIdx.x]);
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void runs_a_counted_loop_of_exchanges(State *s, unsigned *out)
{
    unsigned sum = 0;
#pragma unroll 1
    for (int i = 0; i < 100; i++) sum += atomicMax(&s->total, threadIdx.x + i);
    out[threadIdx.x] = sum;
}
