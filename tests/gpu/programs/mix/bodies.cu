// Bodies that attract each other: all pairs, through shared tiles; positions are fetched now and then.
#include "device.h"
#include "task.h"

namespace {

__global__ void attract(int n, const float4 *position, float4 *next, float4 *velocity)
{
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 here = position[i];
    float ax = 0, ay = 0, az = 0;
    for (int from = 0; from < n; from += THREADS) {
        tile[threadIdx.x] = position[from + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < THREADS; j++) {
            float dx = tile[j].x - here.x, dy = tile[j].y - here.y, dz = tile[j].z - here.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float force = tile[j].w * inverse * inverse * inverse;
            ax += dx * force;
            ay += dy * force;
            az += dz * force;
        }
        __syncthreads();
    }
    constexpr float STEP = 0.001f;
    float4 v = velocity[i];
    v = make_float4(v.x + ax * STEP, v.y + ay * STEP, v.z + az * STEP, 0);
    velocity[i] = v;
    next[i] = make_float4(here.x + v.x * STEP, here.y + v.y * STEP, here.z + v.z * STEP, here.w);
}

class Bodies : public Task {
public:
    explicit Bodies(Size size) : n_(size.of(32, 1) * THREADS), start_(n_), a_(n_), b_(n_), velocity_(n_)
    {
        for (int i = 0; i < n_; i++)
            start_[i] = make_float4(uniform(3 * i), uniform(3 * i + 1), uniform(3 * i + 2), 1.0f / n_);
    }

    uint64_t run(int iterations) override
    {
        a_.upload(start_);
        velocity_.clear();
        uint64_t sum = 0;
        for (int i = 1; i <= iterations; i++) {
            const Buffer<float4> &from = i % 2 ? a_ : b_, &to = i % 2 ? b_ : a_;
            attract<<<n_ / THREADS, THREADS>>>(n_, from.get(), to.get(), velocity_.get());
            if (i % 20 == 0 || i == iterations)
                sum = checksum(to.download(), sum);
        }
        return sum;
    }

private:
    int n_;
    std::vector<float4> start_;
    Buffer<float4> a_, b_, velocity_;
};

} // namespace

std::unique_ptr<Task> makeBodies(Size size) { return std::make_unique<Bodies>(size); }
