/*
 * Calls of cuBLAS, cuRAND and cuFFT on small data, by the names in their libraries: no header of theirs is needed.
 *
 *   samples cublas|curand|cufft
 *
 * Prints a line a call: its name, a hash of all bits of the result, and its first numbers. Two runs that computed the same
 * print the same.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*allocate_t)(void **, size_t);
typedef int (*copy_t)(void *, const void *, size_t, int);
typedef int (*make_t)(void **);

static allocate_t allocate;
static copy_t copy;

static void *library(const char *name)
{
    void *found = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (found == NULL) {
        fprintf(stderr, "samples: %s\n", dlerror());
        exit(1);
    }
    return found;
}

static void *entry(void *from, const char *name)
{
    void *found = dlsym(from, name);
    if (found == NULL) {
        fprintf(stderr, "samples: no %s\n", name);
        exit(1);
    }
    return found;
}

static void check(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "samples: %s returned %d\n", what, status);
        exit(1);
    }
}

static void *device(const void *values, size_t bytes)
{
    void *memory;
    check(allocate(&memory, bytes), "cudaMalloc");
    if (values != NULL) {
        check(copy(memory, values, bytes, 1), "cudaMemcpy to the device");
    }
    return memory;
}

/* FNV-1a over the result's bytes. */
static void tell(const char *what, const void *memory, size_t bytes)
{
    float *host = malloc(bytes);
    check(copy(host, memory, bytes, 2), "cudaMemcpy from the device");
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ ((unsigned char *)host)[i]) * 1099511628211u;
    }
    printf("%s %016lx %g %g\n", what, hash, (double)host[0], (double)host[1]);
    free(host);
}

static float *numbers(size_t count)
{
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)(i * 37 % 101) / 101.0f - 0.5f;
    }
    return values;
}

static void blas(void)
{
    enum { N = 257, BYTES = N * N * sizeof(float) };
    void *from = library("libcublas.so.11");
    void *handle;
    check(((make_t)entry(from, "cublasCreate_v2"))(&handle), "cublasCreate");
    float *values = numbers(N * N);
    void *a = device(values, BYTES), *b = device(values, BYTES), *c = device(values, BYTES);
    float one = 1, half = 0.5f;
    int (*gemm)(void *, int, int, int, int, int, const float *, const void *, int, const void *, int, const float *,
                void *, int) = entry(from, "cublasSgemm_v2");
    for (int way = 0; way < 4; way++) {
        check(gemm(handle, way & 1, way >> 1, N, N, N, &one, a, N, b, N, &half, c, N), "cublasSgemm");
    }
    tell("sgemm", c, BYTES);
    int (*gemv)(void *, int, int, int, const float *, const void *, int, const void *, int, const float *, void *,
                int) = entry(from, "cublasSgemv_v2");
    check(gemv(handle, 0, N, N, &one, a, N, b, 1, &half, c, 1), "cublasSgemv");
    tell("sgemv", c, BYTES);
    int (*axpy)(void *, int, const float *, const void *, int, void *, int) = entry(from, "cublasSaxpy_v2");
    check(axpy(handle, N * N, &half, a, 1, c, 1), "cublasSaxpy");
    tell("saxpy", c, BYTES);
    float sum;
    int (*dot)(void *, int, const void *, int, const void *, int, float *) = entry(from, "cublasSdot_v2");
    check(dot(handle, N * N, a, 1, b, 1, &sum), "cublasSdot");
    printf("sdot %a\n", (double)sum);
}

static void rand_(void)
{
    enum { N = 100000, BYTES = N * sizeof(float) };
    static const int KINDS[] = {101, 121, 141, 142, 161, 201}; /* XORWOW, MRG32K3A, MTGP32, MT19937, Philox, Sobol32 */
    void *from = library("libcurand.so.10");
    int (*make)(void **, int) = entry(from, "curandCreateGenerator");
    int (*seed)(void *, unsigned long long) = entry(from, "curandSetPseudoRandomGeneratorSeed");
    int (*uniform)(void *, void *, size_t) = entry(from, "curandGenerateUniform");
    int (*normal)(void *, void *, size_t, float, float) = entry(from, "curandGenerateNormal");
    void *out = device(NULL, BYTES);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        void *generator;
        char name[32];
        check(make(&generator, KINDS[i]), "curandCreateGenerator");
        if (KINDS[i] < 200) {
            check(seed(generator, 1234), "curandSetPseudoRandomGeneratorSeed");
        }
        check(uniform(generator, out, N), "curandGenerateUniform");
        snprintf(name, sizeof name, "uniform-%d", KINDS[i]);
        tell(name, out, BYTES);
        check(normal(generator, out, N, 0, 1), "curandGenerateNormal");
        snprintf(name, sizeof name, "normal-%d", KINDS[i]);
        tell(name, out, BYTES);
    }
}

static void fft(void)
{
    static const int SIZES[] = {64, 1000, 1009, 4096, 65536};
    void *from = library("libcufft.so.10");
    int (*plan1)(int *, int, int, int) = entry(from, "cufftPlan1d");
    int (*plan2)(int *, int, int, int) = entry(from, "cufftPlan2d");
    int (*complex)(int, void *, void *, int) = entry(from, "cufftExecC2C");
    int (*real)(int, void *, void *) = entry(from, "cufftExecR2C");
    size_t largest = 2 * 65536 * sizeof(float);
    void *in = device(numbers(2 * 65536), largest);
    void *out = device(NULL, largest);
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        int plan;
        char name[32];
        check(plan1(&plan, SIZES[i], 0x29, 1), "cufftPlan1d");
        check(complex(plan, in, out, -1), "cufftExecC2C");
        snprintf(name, sizeof name, "c2c-%d", SIZES[i]);
        tell(name, out, 2 * (size_t)SIZES[i] * sizeof(float));
    }
    int plan;
    check(plan2(&plan, 128, 120, 0x2a), "cufftPlan2d");
    check(real(plan, in, out), "cufftExecR2C");
    tell("r2c-128x120", out, 128 * 61 * 2 * sizeof(float));
}

int main(int count, char **words)
{
    const char *what = count == 2 ? words[1] : "";
    void *runtime = library("libcudart.so.11.0");
    allocate = (allocate_t)entry(runtime, "cudaMalloc");
    copy = (copy_t)entry(runtime, "cudaMemcpy");
    if (strcmp(what, "cublas") == 0) {
        blas();
    } else if (strcmp(what, "curand") == 0) {
        rand_();
    } else if (strcmp(what, "cufft") == 0) {
        fft();
    } else {
        fprintf(stderr, "samples cublas|curand|cufft\n");
        return 2;
    }
    return 0;
}
