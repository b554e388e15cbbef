// Pictures through a pipeline: histogram, prefix sums, equalisation, and the bright pixels' places packed; the host decides between.
#include "device.h"
#include "task.h"

namespace {

constexpr int BINS = 256;
static_assert(BINS == THREADS, "a thread for every bin");

__global__ void shoot(int words, uint32_t seed, uint32_t *picture)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        uint32_t noise = mixed(seed + i);
        picture[i] = noise & mixed(noise); // dark pixels are more frequent
    }
}

__global__ void count(int words, const uint32_t *picture, unsigned *bins)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
        for (int shift = 0; shift < 32; shift += 8)
            atomicAdd(&own[picture[i] >> shift & 255], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

/** The sum of this and all earlier threads' values. Of a block; all threads call it. */
__device__ unsigned inclusiveSum(unsigned value)
{
    __shared__ unsigned sums[2][THREADS];
    int at = 0;
    sums[0][threadIdx.x] = value;
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2, at ^= 1) {
        unsigned left = threadIdx.x >= distance ? sums[at][threadIdx.x - distance] : 0;
        sums[at ^ 1][threadIdx.x] = sums[at][threadIdx.x] + left;
        __syncthreads();
    }
    unsigned result = sums[at][threadIdx.x];
    __syncthreads();
    return result;
}

__global__ void levels(unsigned pixels, const unsigned *bins, unsigned char *map)
{
    unsigned below = inclusiveSum(bins[threadIdx.x]);
    map[threadIdx.x] = static_cast<unsigned char>(255ull * below / pixels);
}

/** Equalises each block's part of the picture; counts words whose first pixel is at least as bright. */
__global__ void equalise(int part, const unsigned char *map, unsigned threshold, uint32_t *picture, unsigned *bright)
{
    __shared__ unsigned char own[BINS];
    __shared__ unsigned total;
    own[threadIdx.x] = map[threadIdx.x];
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    unsigned found = 0;
    for (int i = blockIdx.x * part + threadIdx.x; i < (blockIdx.x + 1) * part; i += THREADS) {
        uint32_t word = picture[i], result = 0;
        for (int shift = 0; shift < 32; shift += 8)
            result |= static_cast<uint32_t>(own[word >> shift & 255]) << shift;
        picture[i] = result;
        found += (result & 255) >= threshold;
    }
    atomicAdd(&total, found);
    __syncthreads();
    if (threadIdx.x == 0)
        bright[blockIdx.x] = total;
}

__global__ void starts(int blocks, unsigned *bright)
{
    unsigned own = threadIdx.x < blocks ? bright[threadIdx.x] : 0, sum = inclusiveSum(own);
    if (threadIdx.x < blocks)
        bright[threadIdx.x] = sum - own;
}

/** Writes the places of bright words one after the other, in order. */
__global__ void pack(int part, unsigned threshold, const uint32_t *picture, const unsigned *bright, unsigned *places)
{
    __shared__ unsigned last;
    unsigned written = bright[blockIdx.x];
    for (int from = blockIdx.x * part; from < (blockIdx.x + 1) * part; from += THREADS) {
        unsigned is = (picture[from + threadIdx.x] & 255) >= threshold, sum = inclusiveSum(is);
        if (is)
            places[written + sum - 1] = from + threadIdx.x;
        if (threadIdx.x == THREADS - 1)
            last = sum;
        __syncthreads();
        written += last;
    }
}

class Histogram : public Task {
public:
    explicit Histogram(Size size)
        : blocks_(size.of(32, 2)), words_(size.of(1 << 20, 1 << 10)), picture_(words_), bins_(BINS), bright_(blocks_), places_(words_), map_(BINS)
    {
    }

    uint64_t run(int iterations) override
    {
        uint64_t sum = 0;
        unsigned threshold = 128;
        for (int i = 0; i < iterations; i++) {
            shoot<<<blocks_, THREADS>>>(words_, mixed(i + 7), picture_.get());
            bins_.clear();
            count<<<blocks_, THREADS>>>(words_, picture_.get(), bins_.get());
            levels<<<1, BINS>>>(4u * words_, bins_.get(), map_.get());
            equalise<<<blocks_, THREADS>>>(words_ / blocks_, map_.get(), threshold, picture_.get(), bright_.get());
            starts<<<1, THREADS>>>(blocks_, bright_.get());
            pack<<<blocks_, THREADS>>>(words_ / blocks_, threshold, picture_.get(), bright_.get(), places_.get());
            std::vector<unsigned> bins = bins_.download();
            sum = checksum(bins, sum);
            threshold = 64 + median(bins) % 128;
        }
        // Earlier iterations may have left more places behind than the last: they are of this run too.
        return checksum(picture_.download(), checksum(bright_.download(), sum));
    }

private:
    unsigned median(const std::vector<unsigned> &bins) const
    {
        unsigned below = 0, level = 0;
        while (level < BINS - 1 && (below += bins[level]) < 2u * words_)
            level++;
        return level;
    }

    int blocks_, words_;
    Buffer<uint32_t> picture_;
    Buffer<unsigned> bins_, bright_, places_;
    Buffer<unsigned char> map_;
};

} // namespace

std::unique_ptr<Task> makeHistogram(Size size) { return std::make_unique<Histogram>(size); }
