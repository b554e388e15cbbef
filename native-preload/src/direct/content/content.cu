/*
 * Examines device memory that is about to leave the device: tests whether it is all zero, and computes a keyed hash
 * (content_look.h). `make content-ptx` generates content.ptx from this file.
 *
 * The hash of 2 MiB, four numbers below 2^61, has two stages. Each thread computes NH (Black et al., "UMAC", 1999) of the 8 KiB
 * that it reads, four times, with keys shifted by two words each (Toeplitz): two different inputs of a thread agree in a given
 * number with a probability of at most 2^-32, and in k of them with 2^-32k. Then, separately for each of the four, the threads'
 * numbers are multiplied by other keys and added modulo the prime 2^61 - 1: two different inputs agree with 2^-61. So two
 * different contents have the same hash with a probability of at most (2^-32 + 2^-61)^4, which is 2^-128 except for rounding.
 * This holds because the keys are random and contents are chosen without knowledge of them. A program could read the keys from
 * its own memory, but would harm only its own contents.
 */
#define ROWS 512      /* reads of 16 bytes by each thread */
#define THREADS 256   /* of a block */
#define LINES 4       /* numbers of a hash */
#define SHIFT 2       /* words between the keys of two lines */
#define WORDS 5       /* of a result: the lines, and a number that is 1 if anything is not zero, else 0 */
#define PRIME 0x1fffffffffffffffULL

typedef unsigned int word;
typedef unsigned long long number;

extern "C" {
__constant__ word tessera_content_words[ROWS * 4 + SHIFT * (LINES - 1)];
__device__ number tessera_content_numbers[THREADS * LINES * 2];
}

/* Congruent modulo the prime, and below 2^61 + 8. */
static __device__ __forceinline__ number fold(number x)
{
    return (x & PRIME) + (x >> 61);
}

/* key * value modulo the prime, not fully reduced; the key is below 2^61. */
static __device__ __forceinline__ number product(number key, word value)
{
    number low = key * value, high = __umul64hi(key, value);
    return fold((low & PRIME) + (low >> 61 | high << 3));
}

/* One block for each part; it does nothing if the address is 0. `results` has WORDS numbers for each block. */
extern "C" __global__ void __launch_bounds__(THREADS) tessera_content(const number *parts, number *results)
{
    __shared__ number sums[THREADS / 32][LINES];
    __shared__ int filled[THREADS / 32];
    unsigned thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const uint4 *at = (const uint4 *)parts[blockIdx.x];
    number line[LINES] = {0, 0, 0, 0};
    word any = 0;
    if (!at)
        return;
    at += thread;
#pragma unroll 8
    for (int row = 0; row < ROWS; row++) {
        uint4 value = __ldcs(at + row * THREADS);
        any |= value.x | value.y | value.z | value.w;
#pragma unroll
        for (int i = 0; i < LINES; i++) {
            const word *key = tessera_content_words + 4 * row + SHIFT * i;
            line[i] += (number)(value.x + key[0]) * (value.y + key[1]);
            line[i] += (number)(value.z + key[2]) * (value.w + key[3]);
        }
    }
    const number *key = tessera_content_numbers + thread * LINES * 2;
#pragma unroll
    for (int i = 0; i < LINES; i++) {
        number sum = fold(product(key[2 * i], (word)line[i]) + product(key[2 * i + 1], (word)(line[i] >> 32)));
#pragma unroll
        for (int distance = 16; distance; distance /= 2)
            sum = fold(sum + __shfl_xor_sync(~0u, sum, distance));
        if (lane == 0)
            sums[warp][i] = sum;
    }
    int some = __any_sync(~0u, any != 0);
    if (lane == 0)
        filled[warp] = some;
    __syncthreads();
    if (thread >= WORDS)
        return;
    number result = 0;
    for (int i = 0; i < THREADS / 32; i++)
        result = thread < LINES ? fold(result + sums[i][thread]) : result | filled[i];
    if (thread < LINES) {
        result = fold(result);
        result = result >= PRIME ? result - PRIME : result;
    }
    results[blockIdx.x * WORDS + thread] = result;
}
