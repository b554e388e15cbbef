// Training of a network with one hidden layer by plain tiled matrix products; every step brings a batch from pinned memory.
#include "device.h"
#include "product.cuh"
#include "task.h"

namespace {

template <bool TRANSPOSE_A, bool TRANSPOSE_B>
__global__ void product(int rows, int columns, int depth, float scale, const float *a, const float *b, float keep, float *c)
{
    multiply<TRANSPOSE_A, TRANSPOSE_B>(rows, columns, depth, scale, a, b, keep, c);
}

__global__ void rectify(int n, float *x)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = fmaxf(x[i], 0);
}

__global__ void maskWhereZero(int n, const float *x, float *gradient)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (x[i] <= 0)
            gradient[i] = 0;
}

/** gradient = y - target, and the sum of squares of each block. */
__global__ void differ(int n, const float *y, const float *target, float *gradient, float *losses)
{
    __shared__ float squares[THREADS];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float difference = y[i] - target[i];
        gradient[i] = difference;
        sum += difference * difference;
    }
    squares[threadIdx.x] = sum;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            squares[threadIdx.x] += squares[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        losses[blockIdx.x] = squares[0];
}

class Training : public Task {
public:
    explicit Training(Size size)
        : batch_(size.of(256, 64)), in_(size.of(1024, 64)), out_(size.of(256, 64)), blocks_(size.of(48, 2)), x_(batch_ * in_),
          hidden_(batch_ * in_), hiddenGradient_(batch_ * in_), y_(batch_ * out_), gradient_(batch_ * out_), target_(batch_ * out_),
          first_(in_ * in_), second_(in_ * out_), losses_(blocks_), firstStart_(uniforms(in_ * in_, 3, -0.04f, 0.04f)),
          secondStart_(uniforms(in_ * out_, 4, -0.04f, 0.04f))
    {
        CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        CHECK(cudaMallocHost(&batches_, sizeof(float) * BATCHES * batch_ * in_));
        std::vector<float> values = uniforms(static_cast<size_t>(BATCHES) * batch_ * in_, 5, -1, 1);
        std::memcpy(batches_, values.data(), values.size() * sizeof(float));
        target_.upload(uniforms(batch_ * out_, 6, -1, 1));
    }

    ~Training() override
    {
        cudaFreeHost(batches_);
        cudaStreamDestroy(stream_);
    }

    uint64_t run(int iterations) override
    {
        first_.upload(firstStart_);
        second_.upload(secondStart_);
        CHECK(cudaDeviceSynchronize()); // the stream does not wait for the default stream
        uint64_t sum = checksum(firstStart_);
        for (int i = 1; i <= iterations; i++) {
            step(i % BATCHES);
            if (i % 10 == 0 || i == iterations) {
                std::vector<float> losses(blocks_);
                CHECK(cudaMemcpyAsync(losses.data(), losses_.get(), blocks_ * sizeof(float), cudaMemcpyDeviceToHost, stream_));
                CHECK(cudaStreamSynchronize(stream_));
                sum = checksum(losses, sum);
            }
        }
        return checksum(second_.download(), checksum(first_.download(), sum));
    }

private:
    static constexpr int BATCHES = 8;
    static constexpr float RATE = 1e-5f;

    void step(int number)
    {
        const float *from = batches_ + static_cast<size_t>(number) * batch_ * in_;
        CHECK(cudaMemcpyAsync(x_.get(), from, sizeof(float) * batch_ * in_, cudaMemcpyHostToDevice, stream_));
        product<false, false><<<blocks_, THREADS, 0, stream_>>>(batch_, in_, in_, 1, x_.get(), first_.get(), 0, hidden_.get());
        rectify<<<blocks_, THREADS, 0, stream_>>>(batch_ * in_, hidden_.get());
        product<false, false><<<blocks_, THREADS, 0, stream_>>>(batch_, out_, in_, 1, hidden_.get(), second_.get(), 0, y_.get());
        differ<<<blocks_, THREADS, 0, stream_>>>(batch_ * out_, y_.get(), target_.get(), gradient_.get(), losses_.get());
        product<false, true><<<blocks_, THREADS, 0, stream_>>>(batch_, in_, out_, 1, gradient_.get(), second_.get(), 0, hiddenGradient_.get());
        maskWhereZero<<<blocks_, THREADS, 0, stream_>>>(batch_ * in_, hidden_.get(), hiddenGradient_.get());
        product<true, false><<<blocks_, THREADS, 0, stream_>>>(in_, out_, batch_, -RATE, hidden_.get(), gradient_.get(), 1, second_.get());
        product<true, false><<<blocks_, THREADS, 0, stream_>>>(in_, in_, batch_, -RATE, x_.get(), hiddenGradient_.get(), 1, first_.get());
    }

    int batch_, in_, out_, blocks_;
    Buffer<float> x_, hidden_, hiddenGradient_, y_, gradient_, target_, first_, second_, losses_;
    std::vector<float> firstStart_, secondStart_;
    float *batches_ = nullptr;
    cudaStream_t stream_ = nullptr;
};

} // namespace

std::unique_ptr<Task> makeTraining(Size size) { return std::make_unique<Training>(size); }
