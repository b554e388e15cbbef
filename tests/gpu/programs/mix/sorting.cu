// Bitonic sorting of keys: short distances in shared memory, long ones through global memory; quantiles go to the host.
#include "chunks.cuh"
#include "device.h"
#include "task.h"

namespace {

__global__ void shuffle(int n, uint32_t seed, uint32_t *keys)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        keys[i] = mixed(seed + i);
}

__global__ void inChunks(int n, int from, int to, uint32_t *keys)
{
    sortChunks(n, from, to, keys);
}

__global__ void across(int n, int length, int distance, uint32_t *keys)
{
    for (int pair = blockIdx.x * blockDim.x + threadIdx.x; pair < n / 2; pair += gridDim.x * blockDim.x) {
        int low = pair & (distance - 1), i = 2 * (pair - low) + low;
        order(keys[i], keys[i + distance], (i & length) == 0);
    }
}

class Sorting : public Task {
public:
    explicit Sorting(Size size) : n_(size.of(1 << 22, 1 << 13)), blocks_(size.of(48, 2)), keys_(n_) {}

    uint64_t run(int iterations) override
    {
        uint64_t sum = 0;
        for (int i = 0; i < iterations; i++) {
            shuffle<<<blocks_, THREADS>>>(n_, mixed(i + 13), keys_.get());
            sort();
            std::vector<uint32_t> quantiles(64);
            size_t pitch = static_cast<size_t>(n_) / 64 * sizeof(uint32_t);
            CHECK(cudaMemcpy2D(quantiles.data(), sizeof(uint32_t), keys_.get(), pitch, sizeof(uint32_t), 64, cudaMemcpyDeviceToHost));
            sum = checksum(quantiles, sum);
        }
        std::vector<uint32_t> keys = keys_.download();
        for (int i = 1; i < n_; i++)
            if (keys[i - 1] > keys[i]) {
                std::fprintf(stderr, "mix: key %d is not in its place\n", i);
                std::exit(1);
            }
        return checksum(keys, sum);
    }

private:
    void sort()
    {
        inChunks<<<blocks_, THREADS>>>(n_, 2, CHUNK, keys_.get());
        for (int length = 2 * CHUNK; length <= n_; length *= 2) {
            for (int distance = length / 2; distance >= CHUNK; distance /= 2)
                across<<<blocks_, THREADS>>>(n_, length, distance, keys_.get());
            inChunks<<<blocks_, THREADS>>>(n_, length, length, keys_.get());
        }
    }

    int n_, blocks_;
    Buffer<uint32_t> keys_;
};

} // namespace

std::unique_ptr<Task> makeSorting(Size size) { return std::make_unique<Sorting>(size); }
