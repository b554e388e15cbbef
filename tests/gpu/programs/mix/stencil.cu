// Heat in a plate with sources: a five-point stencil through shared tiles, a row looked at now and then.
#include "device.h"
#include "task.h"

namespace {

constexpr int TILE = 16;

__global__ void spread(int n, const float *power, const float *in, float *out)
{
    __shared__ float tile[TILE + 2][TILE + 2];
    int tx = threadIdx.x % TILE, ty = threadIdx.x / TILE, across = n / TILE;
    for (int t = blockIdx.x; t < across * across; t += gridDim.x) {
        int x = t % across * TILE + tx, y = t / across * TILE + ty, i = y * n + x;
        tile[ty + 1][tx + 1] = in[i];
        if (tx == 0)
            tile[ty + 1][0] = in[x > 0 ? i - 1 : i];
        if (tx == TILE - 1)
            tile[ty + 1][TILE + 1] = in[x < n - 1 ? i + 1 : i];
        if (ty == 0)
            tile[0][tx + 1] = in[y > 0 ? i - n : i];
        if (ty == TILE - 1)
            tile[TILE + 1][tx + 1] = in[y < n - 1 ? i + n : i];
        __syncthreads();
        float here = tile[ty + 1][tx + 1];
        float sides = tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty][tx + 1] + tile[ty + 2][tx + 1];
        out[i] = here + 0.1f * (power[i] + 0.3f * (sides - 4 * here) + 0.05f * (80 - here));
        __syncthreads();
    }
}

class Stencil : public Task {
public:
    explicit Stencil(Size size)
        : n_(size.of(2048, 32)), blocks_(size.of(48, 2)), start_(uniforms(n_ * n_, 1, 60, 100)), power_(n_ * n_), a_(n_ * n_), b_(n_ * n_)
    {
        power_.upload(uniforms(n_ * n_, 2, 0, 1));
    }

    uint64_t run(int iterations) override
    {
        a_.upload(start_);
        float *from = a_.get(), *to = b_.get();
        uint64_t sum = checksum(start_);
        for (int i = 1; i <= iterations; i++) {
            spread<<<blocks_, THREADS>>>(n_, power_.get(), from, to);
            std::swap(from, to);
            if (i % 20 == 0 || i == iterations) {
                std::vector<float> row(n_);
                CHECK(cudaMemcpy(row.data(), from + n_ * (n_ / 2), n_ * sizeof(float), cudaMemcpyDeviceToHost));
                sum = checksum(row, sum);
            }
        }
        return checksum((iterations % 2 ? b_ : a_).download(), sum);
    }

private:
    int n_, blocks_;
    std::vector<float> start_;
    Buffer<float> power_, a_, b_;
};

} // namespace

std::unique_ptr<Task> makeStencil(Size size) { return std::make_unique<Stencil>(size); }
