// Batches of European options after Black and Scholes; each batch brings new quotes, and the host chooses the next volatility.
#include "device.h"
#include "task.h"

namespace {

__device__ float normal(float d) { return 0.5f * erfcf(-0.70710678f * d); }

__global__ void price(int n, float rate, float volatility, const float *spots, const float *strikes, const float *years, float *calls,
                      float *puts, double *totals)
{
    __shared__ double sums[THREADS];
    double total = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float spot = spots[i], strike = strikes[i], root = sqrtf(years[i]);
        float d1 = (logf(spot / strike) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
        float d2 = d1 - volatility * root, discounted = strike * expf(-rate * years[i]);
        calls[i] = spot * normal(d1) - discounted * normal(d2);
        puts[i] = discounted * normal(-d2) - spot * normal(-d1);
        total += calls[i] + puts[i];
    }
    sums[threadIdx.x] = total;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        totals[blockIdx.x] = sums[0];
}

class Options : public Task {
public:
    explicit Options(Size size)
        : n_(size.of(1 << 21, 1 << 10)), part_(n_ / 16), blocks_(size.of(40, 2)), quotes_(uniforms(n_, 8, 5, 30)), spots_(n_), strikes_(n_),
          years_(n_), calls_(n_), puts_(n_), totals_(blocks_)
    {
        strikes_.upload(uniforms(n_, 9, 1, 100));
        years_.upload(uniforms(n_, 10, 0.25f, 10));
    }

    uint64_t run(int iterations) override
    {
        spots_.upload(quotes_);
        uint64_t sum = 0;
        float volatility = 0.3f;
        for (int i = 0; i < iterations; i++) {
            // A part of the quotes is new: somebody else's, moved by one part.
            const float *from = quotes_.data() + static_cast<size_t>((i + 1) % 16) * part_;
            CHECK(cudaMemcpy(spots_.get() + static_cast<size_t>(i % 16) * part_, from, part_ * sizeof(float), cudaMemcpyHostToDevice));
            price<<<blocks_, THREADS>>>(n_, 0.02f, volatility, spots_.get(), strikes_.get(), years_.get(), calls_.get(), puts_.get(),
                                        totals_.get());
            std::vector<double> totals = totals_.download();
            sum = checksum(totals, sum);
            volatility = 0.2f + 0.2f * uniform(static_cast<uint32_t>(sum));
        }
        return checksum(puts_.download(), checksum(calls_.download(), sum));
    }

private:
    int n_, part_, blocks_;
    std::vector<float> quotes_;
    Buffer<float> spots_, strikes_, years_, calls_, puts_;
    Buffer<double> totals_;
};

} // namespace

std::unique_ptr<Task> makeOptions(Size size) { return std::make_unique<Options>(size); }
