/*
 * Every way to allocate and free, with contents, attributes and order, as a program sees them: the same under plans
 * plain, managed and swap, since a program gets what it asked for.
 */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

static void *context, *stream;
static int swapped;

static void holds(CUdeviceptr p, size_t bytes)
{
    unsigned char out[256], in[256] = {0};
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (unsigned char)(i ^ bytes);
    OKAY(cuMemsetD8_v2(p, 0x11, bytes));
    OKAY(cuMemcpyHtoD_v2(p + bytes - sizeof out, out, sizeof out));
    OKAY(cuMemcpyDtoH_v2(in, p + bytes - sizeof in, sizeof in));
    EQUAL(0, memcmp(in, out, sizeof in));
    OKAY(cuMemcpyDtoH_v2(in, p, 1));
    EQUAL(0x11, in[0]);
}

static void is_device_memory(CUdeviceptr p, size_t bytes, int managed)
{
    unsigned type = 0, is_managed = 9;
    int device = 9;
    CUdeviceptr start = 0;
    size_t size = 0;
    void *of = NULL, *host = NULL;
    OKAY(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 8));
    EQUAL(2, type);
    OKAY(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p + 8));
    EQUAL(managed, is_managed);
    OKAY(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p + 8));
    EQUAL(0, device);
    OKAY(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 8));
    EQUAL(p, start);
    OKAY(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p + 8));
    EQUAL(bytes, size);
    OKAY(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, p + 8));
    CHECK(of == context);
    EQUAL(managed ? 0 : 1,
          cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p + 8)); /* plain memory has no host pointer */
    int wanted[] = {2, 8, 4};
    void *values[] = {&type, &is_managed, &host};
    host = &host;
    OKAY(cuPointerGetAttributes(3, wanted, values, p));
    EQUAL(2, type);
    EQUAL(managed, is_managed);
    CHECK((host != NULL) == managed);
    start = 0;
    OKAY(cuMemGetAddressRange_v2(&start, &size, p + bytes - 1));
    EQUAL(p, start);
    EQUAL(bytes, size);
}

static void plain(size_t bytes)
{
    CUdeviceptr p;
    OKAY(cuMemAlloc_v2(&p, bytes));
    is_device_memory(p, bytes, 0);
    holds(p, bytes);
    OKAY(cuMemFree_v2(p));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p));
    if (!swapped) /* plan swap keeps some of what was freed mapped */
        EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(p, 0, 1));
}

static void pitched(void)
{
    CUdeviceptr p;
    size_t pitch;
    OKAY(cuMemAllocPitch_v2(&p, &pitch, 1000, 10, 4));
    CHECK(pitch >= 1000);
    unsigned is_managed;
    OKAY(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
    EQUAL(0, is_managed);
    unsigned char host[1000], back[1000];
    memset(host, 0x77, sizeof host);
    struct call_copy_2d in = {.source_type = 1,
                              .source_host = host,
                              .source_pitch = 100,
                              .target_type = 2,
                              .target_device = p,
                              .target_pitch = pitch,
                              .width = 100,
                              .height = 10};
    OKAY(cuMemcpy2D_v2(&in));
    struct call_copy_2d out = {.source_type = 2,
                               .source_device = p,
                               .source_pitch = pitch,
                               .target_type = 1,
                               .target_host = back,
                               .target_pitch = 100,
                               .width = 100,
                               .height = 10};
    OKAY(cuMemcpy2D_v2(&out));
    EQUAL(0, memcmp(host, back, sizeof host));
    OKAY(cuMemFree_v2(p));
}

static void own_managed(void)
{
    CUdeviceptr p;
    OKAY(cuMemAllocManaged(&p, 8192, 1));
    is_device_memory(p, 8192, 1);
    holds(p, 8192);
    ((volatile char *)(uintptr_t)p)[100] = 3;
    OKAY(cuMemPrefetchAsync_v2(p, 8192, (struct call_location){1, 0}, 0, stream));
    OKAY(cuMemFree_v2(p));
}

/* Memory of pools: in the order of the stream, seen as device memory of the pool that the program knows. */
static void pooled(void)
{
    CUdeviceptr p, q;
    void *standard, *current, *of, *own;
    unsigned is_managed, value;
    OKAY(cuDeviceGetDefaultMemPool(&standard, 0));
    OKAY(cuDeviceGetMemPool(&current, 0));
    CHECK(standard == current);
    OKAY(cuMemAllocAsync(&p, 1 << 20, stream));
    OKAY(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
    EQUAL(0, is_managed);
    OKAY(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    CHECK(of == standard);
    OKAY(cuMemsetD32Async(p, 5, 1 << 18, stream));
    OKAY(cuMemAllocAsync(&q, 1 << 20, stream));
    OKAY(cuMemcpyDtoDAsync_v2(q, p, 1 << 20, stream));
    OKAY(cuMemFreeAsync(p, stream)); /* before the copy has run: it comes after it */
    OKAY(cuMemcpyDtoHAsync_v2(&value, q + (1 << 20) - 4, 4, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(5, value);
    OKAY(cuMemFree_v2(q)); /* a pool's memory through the other free */
    struct call_pool_properties properties = {.allocation_type = 1, .location = {1, 0}};
    uint64_t threshold = 1 << 20, got = 0;
    OKAY(cuMemPoolCreate(&own, &properties));
    OKAY(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OKAY(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &got));
    EQUAL(threshold, got);
    OKAY(cuMemAllocFromPoolAsync(&p, 4096, own, stream));
    OKAY(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    CHECK(of == own);
    holds(p, 4096);
    OKAY(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &got));
    EQUAL(4096, got);
    OKAY(cuMemFreeAsync(p, stream));
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuMemPoolDestroy(own));
    OKAY(cuMemPoolCreate(&own, &properties));
    OKAY(cuDeviceSetMemPool(0, own));
    OKAY(cuDeviceGetMemPool(&current, 0));
    CHECK(current == own);
    OKAY(cuMemAllocAsync(&p, 4096, stream));
    OKAY(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    CHECK(of == own);
    OKAY(cuMemFreeAsync(p, NULL));
    OKAY(cuCtxSynchronize());
    OKAY(cuDeviceSetMemPool(0, standard));
    OKAY(cuMemPoolDestroy(own));
}

/* Memory allocated directly and freed in the order of a stream. */
static void freed_in_order(void)
{
    CUdeviceptr p;
    OKAY(cuMemAlloc_v2(&p, 4096));
    OKAY(cuMemsetD8Async(p, 1, 4096, stream));
    OKAY(cuMemFreeAsync(p, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p));
}

static void mapped(void)
{
    size_t grain;
    CUdeviceptr p;
    void *handle;
    struct call_allocation_properties properties = {.type = 1, .location = {1, 0}};
    struct call_access access = {{1, 0}, 3};
    OKAY(cuMemGetAllocationGranularity(&grain, &properties, 0));
    OKAY(cuMemAddressReserve(&p, 2 * grain, 0, 0, 0));
    OKAY(cuMemCreate(&handle, grain, &properties, 0));
    OKAY(cuMemMap(p + grain, grain, 0, handle, 0));
    OKAY(cuMemSetAccess(p + grain, grain, &access, 1));
    OKAY(cuMemRelease(handle)); /* the mapping keeps it */
    holds(p + grain, grain);
    OKAY(cuMemUnmap(p + grain, grain));
    OKAY(cuMemAddressFree(p, 2 * grain));
}

static void graphs(void)
{
    void *graph, *exec;
    CUdeviceptr p, result;
    unsigned value;
    OKAY(cuMemAlloc_v2(&result, 4));
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OKAY(cuMemAllocAsync(&p, 4096, stream));
    OKAY(cuMemsetD32Async(p, 9, 1024, stream));
    OKAY(cuMemcpyDtoDAsync_v2(result, p + 4092, 4, stream));
    OKAY(cuMemFreeAsync(p, stream));
    OKAY(cuStreamEndCapture(stream, &graph));
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        OKAY(cuMemsetD32_v2(result, 0, 1));
        OKAY(cuCtxSynchronize());
        OKAY(cuGraphLaunch(exec, stream));
        OKAY(cuStreamSynchronize(stream));
        OKAY(cuMemcpyDtoH_v2(&value, result, 4));
        EQUAL(9, value);
    }
    OKAY(cuGraphExecDestroy(exec));
    OKAY(cuGraphDestroy(graph));
    OKAY(cuMemFree_v2(result));
}

static void host_memory(void)
{
    void *a, *b;
    CUdeviceptr d, p;
    static char own[8192];
    OKAY(cuMemHostAlloc(&a, 4096, 2));
    OKAY(cuMemAllocHost_v2(&b, 4096));
    OKAY(cuMemHostGetDevicePointer_v2(&d, a, 0));
    OKAY(cuMemHostRegister_v2(own, sizeof own, 0));
    memset(a, 0x3c, 4096);
    OKAY(cuMemAlloc_v2(&p, 4096));
    OKAY(cuMemcpyAsync(p, d, 4096, stream));
    OKAY(cuMemcpyDtoHAsync_v2(b, p, 4096, stream));
    OKAY(cuMemcpyDtoHAsync_v2(own, p, 4096, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(0x3c, ((char *)b)[4095]);
    EQUAL(0x3c, own[4095]);
    OKAY(cuMemHostUnregister(own));
    OKAY(cuMemFreeHost(a));
    OKAY(cuMemFreeHost(b));
    OKAY(cuMemFree_v2(p));
}

/*
 * Other threads tell what is free: under plan swap they forget graphs and give up chunks without contents, and under the
 * other plans they read once a second what graphs hold.
 */
static void all_free(size_t bytes)
{
    size_t now, total;
    OKAY(cuMemGetInfo_v2(&now, &total));
    for (int i = 0; i < 20000 && now != bytes; i++) {
        usleep(1000);
        OKAY(cuCtxSynchronize());
        OKAY(cuMemGetInfo_v2(&now, &total));
    }
    EQUAL(bytes, now);
}

int main(void)
{
    const char *plan = getenv("TESSERA_PLAN");
    swapped = plan && strcmp(plan, "swap") == 0;
    OKAY(cuInit(0));
    OKAY(cuCtxCreate_v2(&context, 0, 0));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    size_t free_before, total;
    OKAY(cuMemGetInfo_v2(&free_before, &total));
    plain(512);
    plain(4096);
    plain(5 << 20);
    pitched();
    own_managed();
    pooled();
    freed_in_order();
    mapped();
    graphs();
    host_memory();
    all_free(free_before); /* every path gave back what it took */
    CUdeviceptr left;
    OKAY(cuMemAlloc_v2(&left, 1 << 20));
    OKAY(cuCtxDestroy_v2(context)); /* frees what is left */
    OKAY(cuCtxCreate_v2(&context, 0, 0));
    all_free(free_before);
    printf("done\n");
    return 0;
}
