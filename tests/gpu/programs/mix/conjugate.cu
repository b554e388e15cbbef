// Conjugate gradients for Poisson's equation on a lattice, as a sparse matrix; the residual is looked at now and then.
#include "device.h"
#include "task.h"

namespace {

/** Entries of a row are as many as places for them; those past the border have the value 0. */
constexpr int PLACES = 7;

__global__ void lattice(int n, int *columns, double *values)
{
    int rows = n * n * n;
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
        int x = row % n, y = row / n % n, z = row / (n * n);
        int there[PLACES] = {row, row - 1, row + 1, row - n, row + n, row - n * n, row + n * n};
        bool inside[PLACES] = {true, x > 0, x < n - 1, y > 0, y < n - 1, z > 0, z < n - 1};
        for (int i = 0; i < PLACES; i++) {
            columns[row * PLACES + i] = inside[i] ? there[i] : row;
            values[row * PLACES + i] = !inside[i] ? 0 : i ? -1 : 6;
        }
    }
}

__global__ void begin(int rows, uint32_t seed, double *x, double *r, double *p)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += gridDim.x * blockDim.x) {
        x[i] = 0;
        r[i] = p[i] = uniform(seed + i) - 0.5;
    }
}

__device__ void putBlockSum(double value, double *partial)
{
    __shared__ double sums[THREADS];
    sums[threadIdx.x] = value;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sums[0];
}

/** q = A p, and the blocks' parts of p q. */
__global__ void multiply(int rows, const int *columns, const double *values, const double *p, double *q, double *partial)
{
    double dot = 0;
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
        double sum = 0;
        for (int i = row * PLACES; i < (row + 1) * PLACES; i++)
            sum += values[i] * p[columns[i]];
        q[row] = sum;
        dot += sum * p[row];
    }
    putBlockSum(dot, partial);
}

__global__ void square(int rows, const double *r, double *partial)
{
    double dot = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += gridDim.x * blockDim.x)
        dot += r[i] * r[i];
    putBlockSum(dot, partial);
}

/** Adds parts up in their order; one thread, because there are few. */
__global__ void finish(int parts, const double *partial, double *previous, double *result)
{
    double sum = 0;
    for (int i = 0; i < parts; i++)
        sum += partial[i];
    if (previous)
        *previous = *result;
    *result = sum;
}

/** scalars: r r, p q, and r r before. */
__global__ void advance(int rows, const double *scalars, const double *p, const double *q, double *x, double *r)
{
    double alpha = scalars[0] / scalars[1];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += gridDim.x * blockDim.x) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
    }
}

__global__ void turn(int rows, const double *scalars, const double *r, double *p)
{
    double beta = scalars[0] / scalars[2];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += gridDim.x * blockDim.x)
        p[i] = r[i] + beta * p[i];
}

class Conjugate : public Task {
public:
    explicit Conjugate(Size size)
        : n_(size.of(96, 8)), rows_(n_ * n_ * n_), blocks_(size.of(44, 2)), columns_(rows_ * PLACES), values_(rows_ * PLACES),
          x_(rows_), r_(rows_), p_(rows_), q_(rows_), partial_(blocks_), scalars_(3)
    {
        lattice<<<blocks_, THREADS>>>(n_, columns_.get(), values_.get());
        CHECK(cudaDeviceSynchronize());
    }

    uint64_t run(int iterations) override
    {
        uint64_t sum = 0;
        for (int i = 0; i < iterations; i++) {
            if (i % FOR_ONE_SIDE == 0)
                restart(i);
            iterate();
            if (i % 10 == 9)
                sum = checksum(scalars_.download(), sum);
        }
        return checksum(x_.download(), sum);
    }

private:
    /** Iterations for one right-hand side: far from the end, where residuals would vanish. */
    static constexpr int FOR_ONE_SIDE = 50;

    void restart(int number)
    {
        begin<<<blocks_, THREADS>>>(rows_, mixed(number + 1), x_.get(), r_.get(), p_.get());
        square<<<blocks_, THREADS>>>(rows_, r_.get(), partial_.get());
        finish<<<1, 1>>>(blocks_, partial_.get(), nullptr, scalars_.get());
    }

    void iterate()
    {
        double *scalars = scalars_.get();
        multiply<<<blocks_, THREADS>>>(rows_, columns_.get(), values_.get(), p_.get(), q_.get(), partial_.get());
        finish<<<1, 1>>>(blocks_, partial_.get(), nullptr, scalars + 1);
        advance<<<blocks_, THREADS>>>(rows_, scalars, p_.get(), q_.get(), x_.get(), r_.get());
        square<<<blocks_, THREADS>>>(rows_, r_.get(), partial_.get());
        finish<<<1, 1>>>(blocks_, partial_.get(), scalars + 2, scalars);
        turn<<<blocks_, THREADS>>>(rows_, scalars, r_.get(), p_.get());
    }

    int n_, rows_, blocks_;
    Buffer<int> columns_;
    Buffer<double> values_, x_, r_, p_, q_, partial_, scalars_;
};

} // namespace

std::unique_ptr<Task> makeConjugate(Size size) { return std::make_unique<Conjugate>(size); }
