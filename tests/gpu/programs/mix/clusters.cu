// K-means: the device assigns points and adds them up, the host moves the centres.
#include "device.h"
#include "task.h"

namespace {

constexpr int DIMENSIONS = 8, CLUSTERS = 16, SUMS = CLUSTERS * (DIMENSIONS + 1);
/** Coordinates are whole numbers below this: sums of integers do not depend on their order. */
constexpr int RANGE = 1024;

__global__ void scatter(int n, float *points)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * DIMENSIONS; i += gridDim.x * blockDim.x)
        points[i] = mixed(i) % (RANGE / 2) + mixed(i % n * 31 + 5) % 4 * (RANGE / 8);
}

__global__ void assign(int n, const float *points, const float *centres, unsigned char *chosen, unsigned long long *sums)
{
    __shared__ float near[CLUSTERS][DIMENSIONS];
    __shared__ unsigned own[SUMS];
    for (int i = threadIdx.x; i < CLUSTERS * DIMENSIONS; i += THREADS)
        near[i / DIMENSIONS][i % DIMENSIONS] = centres[i];
    for (int i = threadIdx.x; i < SUMS; i += THREADS)
        own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float point[DIMENSIONS], least = 1e30f;
        int best = 0;
        for (int d = 0; d < DIMENSIONS; d++)
            point[d] = points[d * n + i];
        for (int c = 0; c < CLUSTERS; c++) {
            float distance = 0;
            for (int d = 0; d < DIMENSIONS; d++)
                distance += (point[d] - near[c][d]) * (point[d] - near[c][d]);
            if (distance < least) {
                least = distance;
                best = c;
            }
        }
        chosen[i] = best;
        for (int d = 0; d < DIMENSIONS; d++)
            atomicAdd(&own[best * (DIMENSIONS + 1) + d], static_cast<unsigned>(point[d]));
        atomicAdd(&own[best * (DIMENSIONS + 1) + DIMENSIONS], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SUMS; i += THREADS)
        atomicAdd(&sums[i], static_cast<unsigned long long>(own[i]));
}

class Clusters : public Task {
public:
    explicit Clusters(Size size)
        : n_(size.of(1 << 20, 1 << 9)), blocks_(size.of(48, 2)), points_(static_cast<size_t>(n_) * DIMENSIONS), centres_(CLUSTERS * DIMENSIONS),
          chosen_(n_), sums_(SUMS)
    {
        scatter<<<blocks_, THREADS>>>(n_, points_.get());
        CHECK(cudaDeviceSynchronize());
    }

    uint64_t run(int iterations) override
    {
        std::vector<float> centres = uniforms(CLUSTERS * DIMENSIONS, 11, 0, RANGE);
        uint64_t sum = 0;
        for (int i = 0; i < iterations; i++) {
            centres_.upload(centres);
            sums_.clear();
            assign<<<blocks_, THREADS>>>(n_, points_.get(), centres_.get(), chosen_.get(), sums_.get());
            std::vector<unsigned long long> sums = sums_.download();
            sum = checksum(sums, sum);
            move(sums, i, centres);
        }
        return checksum(chosen_.download(), sum);
    }

private:
    /**
     * To the middle of what chose it; one that nobody chose starts again. Some never rest, so that there is always
     * work.
     */
    static void move(const std::vector<unsigned long long> &sums, int iteration, std::vector<float> &centres)
    {
        for (int c = 0; c < CLUSTERS; c++) {
            const unsigned long long *own = &sums[c * (DIMENSIONS + 1)];
            bool anew = own[DIMENSIONS] == 0 || (iteration % 16 == c && iteration % 32 < 16);
            for (int d = 0; d < DIMENSIONS; d++)
                centres[c * DIMENSIONS + d] =
                    anew ? RANGE * uniform(iteration * 64 + c * DIMENSIONS + d) : static_cast<float>(static_cast<double>(own[d]) / own[DIMENSIONS]);
        }
    }

    int n_, blocks_;
    Buffer<float> points_, centres_;
    Buffer<unsigned char> chosen_;
    Buffer<unsigned long long> sums_;
};

} // namespace

std::unique_ptr<Task> makeClusters(Size size) { return std::make_unique<Clusters>(size); }
