// Halves of a warp that sort segments of different lengths, each with barriers and exchanges among its own lanes alone.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.cuh"

static const int LANES = 16, LONGEST = 96, WARPS = 4, SEGMENTS = 512;

__device__ static void order(uint32_t &low, uint32_t &high)
{
    if (low > high) {
        uint32_t other = low;
        low = high;
        high = other;
    }
}

/* Odd-even transposition: as many rounds as the segment has words, so that the halves of a warp part soon. */
__global__ void sort(uint32_t *words, const int *lengths, uint32_t *sums)
{
    __shared__ uint32_t all[WARPS * 2][LONGEST];
    int part = threadIdx.x / LANES, lane = threadIdx.x % LANES, segment = blockIdx.x * WARPS * 2 + part, length = lengths[segment];
    uint32_t mask = 0xffffu << threadIdx.x % 32 / LANES * LANES, *own = all[part];
    for (int i = lane; i < length; i += LANES)
        own[i] = words[segment * LONGEST + i];
    __syncwarp(mask);
    for (int round = 0; round < length; round++) {
        for (int i = 2 * lane + round % 2; i + 1 < length; i += 2 * LANES)
            order(own[i], own[i + 1]);
        __syncwarp(mask);
    }
    uint32_t sum = 0;
    for (int i = lane; i < length; i += LANES) {
        words[segment * LONGEST + i] = own[i];
        sum += own[i];
    }
    for (int distance = LANES / 2; distance; distance /= 2)
        sum += __shfl_xor_sync(mask, sum, distance, LANES);
    if (lane == 0)
        sums[segment] = sum;
}

int main()
{
    std::vector<uint32_t> words(SEGMENTS * LONGEST), sums(SEGMENTS), got(words.size());
    std::vector<int> lengths(SEGMENTS);
    uint32_t state = 12345;
    for (auto &word : words)
        word = (state = state * 1664525u + 1013904223u) >> 8;
    for (int i = 0; i < SEGMENTS; i++)
        lengths[i] = i % 5 == 0 ? 1 : (int) (words[i] % LONGEST) + 1;
    uint32_t *memory, *sum_memory;
    int *length_memory;
    CHECK(cudaMalloc(&memory, words.size() * sizeof *memory));
    CHECK(cudaMalloc(&length_memory, SEGMENTS * sizeof *length_memory));
    CHECK(cudaMalloc(&sum_memory, SEGMENTS * sizeof *sum_memory));
    CHECK(cudaMemcpy(memory, words.data(), words.size() * sizeof *memory, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(length_memory, lengths.data(), SEGMENTS * sizeof *length_memory, cudaMemcpyHostToDevice));
    sort<<<SEGMENTS / (WARPS * 2), WARPS * 32>>>(memory, length_memory, sum_memory);
    CHECK(cudaMemcpy(got.data(), memory, words.size() * sizeof *memory, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sums.data(), sum_memory, SEGMENTS * sizeof *sum_memory, cudaMemcpyDeviceToHost));
    int wrong = 0, wrong_sums = 0;
    for (int i = 0; i < SEGMENTS; i++) {
        auto from = words.begin() + i * LONGEST;
        uint32_t sum = 0;
        for (int k = 0; k < lengths[i]; k++)
            sum += from[k];
        std::sort(from, from + lengths[i]);
        wrong += !std::equal(from, from + lengths[i], got.begin() + i * LONGEST);
        wrong_sums += sum != sums[i];
    }
    std::printf("%d segments sorted %s\n", SEGMENTS, wrong ? "WRONG" : "ok");
    std::printf("their sums %s\n", wrong_sums ? "WRONG" : "ok");
    return 0;
}
