// Memory of the device with an owner, checked calls, checksums, and numbers that look random and are always the same.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

/** Threads of a block, in every kind of work. */
constexpr int THREADS = 256;

inline void check(cudaError_t result, const char *call)
{
    if (result == cudaSuccess)
        return;
    std::fprintf(stderr, "mix: %s: %s\n", call, cudaGetErrorName(result));
    std::exit(1);
}
#define CHECK(call) check((call), #call)

/** So many values on the device; uninitialised. Copies are synchronous. */
template <typename T> class Buffer {
public:
    explicit Buffer(size_t count) : count_(count) { CHECK(cudaMalloc(&data_, count * sizeof(T))); }
    ~Buffer() { cudaFree(data_); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    T *get() const { return data_; }

    void upload(const std::vector<T> &from) { CHECK(cudaMemcpy(data_, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice)); }

    void clear() { CHECK(cudaMemset(data_, 0, count_ * sizeof(T))); }

    /** The first values; all of them unless a number is given. */
    std::vector<T> download(size_t count = 0) const
    {
        std::vector<T> into(count ? count : count_);
        CHECK(cudaMemcpy(into.data(), data_, into.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return into;
    }

private:
    T *data_ = nullptr;
    size_t count_;
};

/** FNV-1a over 32-bit words. */
template <typename T> uint64_t checksum(const std::vector<T> &values, uint64_t from = 0xcbf29ce484222325ull)
{
    size_t bytes = values.size() * sizeof(T);
    auto raw = reinterpret_cast<const unsigned char *>(values.data());
    for (size_t at = 0; at + 4 <= bytes; at += 4) {
        uint32_t word;
        std::memcpy(&word, raw + at, 4);
        from = (from ^ word) * 0x100000001b3ull;
    }
    return from;
}

/** A hash of 32 bits (the finaliser of MurmurHash3). */
__host__ __device__ inline uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

/** A number in [0, 1) with 24 bits. */
__host__ __device__ inline float uniform(uint32_t seed) { return (mixed(seed) >> 8) * (1.0f / 16777216.0f); }

/** Values in [low, high). */
inline std::vector<float> uniforms(size_t count, uint32_t seed, float low, float high)
{
    std::vector<float> values(count);
    for (size_t i = 0; i < count; i++)
        values[i] = low + (high - low) * uniform(seed * 0x9e3779b9u + static_cast<uint32_t>(i));
    return values;
}
