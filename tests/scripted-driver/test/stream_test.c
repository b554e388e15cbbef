/* Order and time: streams, events, the default streams, host functions, values, kernels that compute and fault. */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

static void *function(const char *name)
{
    static void *module;
    void *f;
    if (!module)
        OKAY(cuModuleLoadData(&module, "any image"));
    OKAY(cuModuleGetFunction(&f, module, name));
    return f;
}

static void sleep_kernel(void *stream, uint64_t us)
{
    void *parameters[] = {&us};
    OKAY(cuLaunchKernel(function("scripted_sleep_us"), 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void time_and_events(void)
{
    void *a, *b, *start, *end;
    OKAY(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OKAY(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OKAY(cuEventCreate(&start, 0));
    OKAY(cuEventCreate(&end, 0));
    double began = now_ms();
    OKAY(cuEventRecord(start, a));
    for (int i = 0; i < 20; i++)
        sleep_kernel(a, 20000);
    OKAY(cuEventRecord(end, a));
    EQUAL(CUDA_ERROR_NOT_READY, cuStreamQuery(a)); /* launches return at once, on a busy machine too */
    EQUAL(CUDA_ERROR_NOT_READY, cuEventQuery(end));
    OKAY(cuStreamWaitEvent(b, end, 0));
    sleep_kernel(b, 5000);
    OKAY(cuStreamSynchronize(b));
    CHECK(now_ms() - began > 404.9);
    OKAY(cuEventQuery(end));
    float ms;
    OKAY(cuEventElapsedTime(&ms, start, end));
    CHECK(ms > 399.9f && ms < 800); /* back to back on the GPU's clock */
    OKAY(cuStreamDestroy_v2(a));
    OKAY(cuStreamDestroy_v2(b));
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(a));
}

static void default_streams(void)
{
    void *blocking, *other;
    OKAY(cuStreamCreate(&blocking, 0));
    OKAY(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    double began = now_ms();
    sleep_kernel(blocking, 200000);
    sleep_kernel(NULL, 100000); /* the legacy stream waits for the blocking one */
    sleep_kernel(blocking, 100000);
    sleep_kernel(other, 1000); /* but not for this one, nor it for them */
    OKAY(cuStreamSynchronize(other));
    EQUAL(CUDA_ERROR_NOT_READY,
          cuStreamQuery(blocking)); /* 0.4 s: longer than a busy machine keeps this thread waiting */
    OKAY(cuStreamSynchronize(blocking));
    CHECK(now_ms() - began > 399.9);
    began = now_ms();
    uint64_t us = 20000;
    void *parameters[] = {&us};
    OKAY(cuLaunchKernel_ptsz(function("scripted_sleep_us"), 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    OKAY(cuCtxSynchronize());
    CHECK(now_ms() - began > 19.9);
}

static int order[4], steps;
static CUresult inside;

static void step(void *data)
{
    order[steps++] = *(int *)data;
    inside = cuCtxSynchronize();
}

static void callback(void *stream, CUresult error, void *data)
{
    CHECK(stream != NULL);
    EQUAL(0, error);
    step(data);
}

static void functions_and_values(void)
{
    void *s;
    static int one = 1, two = 2;
    CUdeviceptr word;
    OKAY(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&word, 4));
    OKAY(cuMemsetD32_v2(word, 0, 1));
    OKAY(cuCtxSynchronize());
    OKAY(cuStreamWaitValue32_v2(s, word, 3, 1));
    OKAY(cuLaunchHostFunc(s, step, &one));
    OKAY(cuStreamAddCallback(s, callback, &two, 0));
    nanosleep(&(struct timespec){0, 5000000}, NULL);
    EQUAL(0, steps);
    OKAY(cuStreamWriteValue32_v2(NULL, word, 3, 0));
    OKAY(cuStreamSynchronize(s));
    EQUAL(2, steps);
    EQUAL(1, order[0]);
    EQUAL(2, order[1]);
    EQUAL(800, inside); /* no calls from a function of a stream */
}

static void kernels(void)
{
    CUdeviceptr a, b, c;
    OKAY(cuMemAlloc_v2(&a, 400));
    OKAY(cuMemAlloc_v2(&b, 400));
    OKAY(cuMemAlloc_v2(&c, 400));
    uint64_t n = 100;
    float one = 1.5f;
    uint32_t bits;
    memcpy(&bits, &one, 4);
    void *fill[] = {&a, &bits, &n}, *add[] = {&a, &b, &c, &n};
    OKAY(cuLaunchKernel(function("scripted_fill"), 1, 1, 1, 1, 1, 1, 0, NULL, fill, NULL));
    OKAY(cuMemcpyDtoD_v2(b, a, 400));
    struct call_launch config = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    OKAY(cuLaunchKernelEx(&config, function("scripted_add"), add, NULL));
    float out[100];
    OKAY(cuMemcpyDtoH_v2(out, c, 400));
    CHECK(out[99] == 3.0f);
    struct {
        CUdeviceptr p;
        uint32_t v;
        uint64_t n;
    } block = {a, 9, 100};
    size_t size = sizeof block, offset, bytes;
    void *extra[] = {(void *)1, &block, (void *)2, &size, NULL};
    OKAY(cuLaunchKernel(function("scripted_fill"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    OKAY(cuMemcpyDtoH_v2(out, a, 400));
    EQUAL(9, *(uint32_t *)&out[42]);
    OKAY(cuFuncGetParamInfo(function("scripted_fill"), 2, &offset, &bytes));
    EQUAL(16, offset);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(function("scripted_fill"), 3, &offset, &bytes));
    EQUAL(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(&size, 1, 1, 1, 1, 1, 1, 0, NULL, fill, NULL));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function("anything"), 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    double began = now_ms();
    OKAY(cuLaunchKernel(function("anything"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OKAY(cuCtxSynchronize());
    CHECK(now_ms() - began > 2.9); /* the script's 3 ms */
    void *library, *kernel, *of_kernel;
    OKAY(cuLibraryLoadData(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    OKAY(cuLibraryGetKernel(&kernel, library, "scripted_fill"));
    OKAY(cuKernelGetFunction(&of_kernel, kernel));
    OKAY(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, fill, NULL)); /* a kernel is as good as a function */
    n = 101;                                                             /* past the end: the error is sticky */
    OKAY(cuLaunchKernel(function("scripted_fill"), 1, 1, 1, 1, 1, 1, 0, NULL, fill, NULL));
    EQUAL(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    EQUAL(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc_v2(&a, 16));
}

static void *many(void *context)
{
    OKAY(cuCtxSetCurrent(context));
    void *s;
    OKAY(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 50; i++)
        sleep_kernel(s, 10);
    OKAY(cuStreamSynchronize(s));
    OKAY(cuStreamDestroy_v2(s));
    return NULL;
}

/* What a kernel ends with that fills host memory with a value; a context that it ended works again. */
static CUresult fill_host(void *context, void *to, uint64_t count)
{
    CUdeviceptr p = (CUdeviceptr)(uintptr_t)to;
    uint32_t value = 7;
    void *parameters[] = {&p, &value, &count}, *module, *fill;
    OKAY(cuModuleLoadData(&module, "any image")); /* that of function() ends with the first context */
    OKAY(cuModuleGetFunction(&fill, module, "scripted_fill"));
    OKAY(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    CUresult result = cuCtxSynchronize();
    if (result) {
        OKAY(cuDevicePrimaryCtxReset_v2(0));
        OKAY(cuCtxSetCurrent(context));
    }
    return result;
}

static void host_memory(void *context)
{
    static _Alignas(4096) uint32_t host[2048];
    OKAY(cuMemHostRegister_v2(host, 4096, 1));
    OKAY(fill_host(context, host + 4, 1020)); /* to the end of what is registered */
    EQUAL(0, host[3]);
    EQUAL(7, host[4]);
    EQUAL(7, host[1023]);
    EQUAL(0, host[1024]);
    EQUAL(CUDA_ERROR_ILLEGAL_ADDRESS,
          fill_host(context, host + 4, 1021)); /* past it; the registration ends with the context */
    EQUAL(CUDA_ERROR_ILLEGAL_ADDRESS, fill_host(context, host, 1));
    OKAY(cuMemHostRegister_v2(host, 4096, 1));
    OKAY(fill_host(context, host, 1));
    EQUAL(CUDA_ERROR_ILLEGAL_ADDRESS, fill_host(context, host + 1024, 1)); /* never registered */
    EQUAL(0, host[1024]);
}

int main(void)
{
    setenv("TESSERA_SCRIPT", "kernel anything 3ms", 1);
    void *context;
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    function("scripted_sleep_us");
    time_and_events();
    default_streams();
    functions_and_values();
    pthread_t threads[16];
    for (int i = 0; i < 16; i++)
        OKAY(pthread_create(&threads[i], NULL, many, context));
    for (int i = 0; i < 16; i++)
        OKAY(pthread_join(threads[i], NULL));
    kernels();
    OKAY(cuDevicePrimaryCtxReset_v2(0)); /* a reset context works again */
    CUdeviceptr p;
    OKAY(cuMemAlloc_v2(&p, 16));
    host_memory(context);
    return 0;
}
