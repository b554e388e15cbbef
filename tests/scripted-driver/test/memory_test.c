/* Memory: contents, bounds, accounting, attributes, and every way to allocate and free. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { MIB = 1 << 20 };

static size_t free_bytes(void)
{
    size_t free, total;
    OKAY(cuMemGetInfo_v2(&free, &total));
    EQUAL(64 * MIB, total);
    return free;
}

static void linear(void)
{
    size_t before = free_bytes();
    CUdeviceptr a, b;
    OKAY(cuMemAlloc_v2(&a, 8192));
    OKAY(cuMemAlloc_v2(&b, 8192));
    CHECK(free_bytes() == before - 16384);
    unsigned char host[8192], back[8192] = {0};
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)(i * 7);
    OKAY(cuMemcpyHtoD_v2(a, host, sizeof host));
    OKAY(cuMemcpyDtoD_v2(b, a, sizeof host));
    OKAY(cuMemcpyDtoH_v2(back, b, sizeof back));
    EQUAL(0, memcmp(host, back, sizeof host));
    OKAY(cuMemsetD16_v2(b, 0x1234, 100));
    OKAY(cuMemcpyDtoH_v2(back, b, 204));
    EQUAL(0x34, back[198]);
    EQUAL(host[200], back[200]);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(a + 1, host, sizeof host)); /* past the end */
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(a, 0, 8193));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(back, 4096, 16)); /* never allocated */
    CUdeviceptr base;
    size_t bytes;
    OKAY(cuMemGetAddressRange_v2(&base, &bytes, a + 100));
    EQUAL(a, base);
    EQUAL(8192, bytes);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(a + 512));
    OKAY(cuMemFree_v2(a));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(a));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(back, a, 16));
    OKAY(cuMemFree_v2(b));
    EQUAL(before, free_bytes());
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&a, 65 * (size_t)MIB));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(&a, 0));
}

static void rows(void)
{
    CUdeviceptr p;
    size_t pitch;
    OKAY(cuMemAllocPitch_v2(&p, &pitch, 100, 4, 4));
    EQUAL(512, pitch);
    char host[400], back[400] = {0};
    for (int i = 0; i < 400; i++)
        host[i] = (char)i;
    struct call_copy_2d in = {.source_type = 1,
                              .source_host = host,
                              .source_pitch = 100,
                              .target_type = 2,
                              .target_device = p,
                              .target_pitch = pitch,
                              .width = 100,
                              .height = 4};
    OKAY(cuMemcpy2D_v2(&in));
    struct call_copy_3d out = {.source_type = 2,
                               .source_device = p,
                               .source_pitch = pitch,
                               .target_type = 1,
                               .target_host = back,
                               .target_pitch = 100,
                               .width = 100,
                               .height = 2,
                               .depth = 2,
                               .source_height = 2,
                               .target_height = 2};
    OKAY(cuMemcpy3D_v2(&out));
    EQUAL(0, memcmp(host, back, sizeof host));
    OKAY(cuMemsetD2D32_v2(p, pitch, 0x01020304, 2, 4));
    in = (struct call_copy_2d){.source_type = 2,
                               .source_device = p,
                               .source_pitch = pitch,
                               .target_type = 1,
                               .target_host = back,
                               .target_pitch = 100,
                               .width = 100,
                               .height = 4};
    OKAY(cuMemcpy2D_v2(&in));
    EQUAL(4, back[300]);
    EQUAL(host[308], back[308]);
    OKAY(cuMemFree_v2(p));
}

static void arrays(void)
{
    void *array;
    struct call_array d = {8, 2, 0x20, 1};
    OKAY(cuArrayCreate_v2(&array, &d));
    float values[16] = {[9] = 3.5f}, got[16] = {0};
    struct call_copy_2d to = {.source_type = 1,
                              .source_host = values,
                              .source_pitch = 32,
                              .target_type = 3,
                              .target_array = array,
                              .width = 32,
                              .height = 2};
    OKAY(cuMemcpy2D_v2(&to));
    struct call_copy_2d from = {.source_type = 3,
                                .source_array = array,
                                .target_type = 1,
                                .target_host = got,
                                .target_pitch = 32,
                                .width = 32,
                                .height = 2};
    OKAY(cuMemcpy2D_v2(&from));
    CHECK(got[9] == 3.5f);
    OKAY(cuArrayDestroy(array));
}

static void attributes(void)
{
    CUdeviceptr plain, managed, start;
    unsigned type, is_managed;
    void *pool;
    OKAY(cuMemAlloc_v2(&plain, 4096));
    OKAY(cuMemAllocManaged(&managed, 4096, 1));
    OKAY(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, plain));
    EQUAL(2, type);
    OKAY(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, plain));
    EQUAL(0, is_managed);
    EQUAL(CUDA_ERROR_INVALID_VALUE,
          cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_HOST_POINTER, plain)); /* no host pointer */
    OKAY(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    EQUAL(1, is_managed);
    OKAY(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, managed + 10));
    EQUAL(managed, start);
    *(int *)(uintptr_t)managed = 77; /* the host reaches managed memory */
    CUipcMemHandle handle;
    OKAY(cuIpcGetMemHandle(&handle, plain));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, managed));
    int wanted[] = {2, 8, 9};
    unsigned values[3] = {9, 9, 9};
    void *places[] = {&values[0], &values[1], &values[2]};
    OKAY(cuPointerGetAttributes(3, wanted, places, (CUdeviceptr)(uintptr_t)values));
    EQUAL(0, values[0]);
    EQUAL(-2, (int)values[2]);
    OKAY(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, plain));
    CHECK(!pool);
    OKAY(cuMemFree_v2(plain));
    OKAY(cuMemFree_v2(managed));

    void *host;
    char own[4096];
    OKAY(cuMemHostAlloc(&host, 4096, 0));
    OKAY(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)host));
    EQUAL(1, type);
    OKAY(cuMemHostRegister_v2(own, sizeof own, 0));
    EQUAL(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(own, sizeof own, 0));
    OKAY(cuMemHostUnregister(own));
    EQUAL(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));
    OKAY(cuMemFreeHost(host));
}

static void pools(void)
{
    void *stream, *pool, *standard;
    uint64_t value;
    size_t before = free_bytes();
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr a;
    OKAY(cuMemAllocAsync(&a, MIB, stream));
    OKAY(cuMemsetD8Async(a, 5, MIB, stream));
    OKAY(cuMemFreeAsync(a, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(before, free_bytes());
    struct call_pool_properties properties = {.allocation_type = 1, .location = {1, 0}};
    OKAY(cuMemPoolCreate(&pool, &properties));
    value = 1ULL << 40;
    OKAY(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    OKAY(cuMemAllocFromPoolAsync(&a, MIB, pool, stream));
    OKAY(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    EQUAL(MIB, value);
    OKAY(cuMemFree_v2(a)); /* a pool's memory may be freed like any other */
    OKAY(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
    EQUAL(MIB, value); /* kept, below the threshold */
    EQUAL(before - MIB, free_bytes());
    OKAY(cuMemPoolTrimTo(pool, 0));
    EQUAL(before, free_bytes());
    OKAY(cuDeviceGetDefaultMemPool(&standard, 0));
    CHECK(standard != pool);
    OKAY(cuMemPoolDestroy(pool));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard));
    properties.allocation_type = 2;
    OKAY(cuMemPoolCreate(&pool, &properties));
    OKAY(cuMemAllocFromPoolAsync(&a, 200 * (size_t)MIB, pool, stream)); /* more than the device has */
    OKAY(cuMemFreeAsync(a, stream));
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuMemPoolDestroy(pool));
    OKAY(cuStreamDestroy_v2(stream));
}

/* The system asks in the host's place, and is not ended by it. */
static bool host_reads(CUdeviceptr address)
{
    int ends[2];
    OKAY(pipe(ends));
    bool read = write(ends[1], (const void *)(uintptr_t)address, 1) == 1;
    CHECK(read || errno == EFAULT);
    OKAY(close(ends[0]));
    OKAY(close(ends[1]));
    return read;
}

static void virtual_memory(void)
{
    size_t before = free_bytes(), grain;
    struct call_allocation_properties p = {.type = 1, .handle_types = 1, .location = {1, 0}};
    OKAY(cuMemGetAllocationGranularity(&grain, &p, 0));
    CUdeviceptr range;
    void *first, *second;
    OKAY(cuMemAddressReserve(&range, 2 * grain, 0, 0, 0));
    OKAY(cuMemCreate(&first, grain, &p, 0));
    OKAY(cuMemCreate(&second, grain, &p, 0));
    EQUAL(before - 2 * grain, free_bytes());
    OKAY(cuMemMap(range, grain, 0, first, 0));
    OKAY(cuMemMap(range + grain, grain, 0, second, 0));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(range, 1, grain)); /* no access yet */
    CHECK(!host_reads(range));
    struct call_access access = {{1, 0}, 3};
    OKAY(cuMemSetAccess(range, 2 * grain, &access, 1));
    CHECK(host_reads(range));
    unsigned char first_byte, last;
    OKAY(cuMemcpyDtoH_v2(&first_byte, range + grain, 1)); /* new memory is full of garbage */
    OKAY(cuMemcpyDtoH_v2(&last, range + 2 * grain - 1, 1));
    CHECK(first_byte != 0 && last != 0);
    OKAY(cuMemsetD32_v2(range, 0, grain / 4));
    OKAY(cuMemcpyDtoH_v2(&first_byte, range, 1));
    OKAY(cuMemcpyDtoH_v2(&last, range + grain - 1, 1));
    CHECK(first_byte == 0 && last == 0);
    OKAY(cuMemcpyDtoH_v2(&last, range + grain, 1));
    CHECK(last != 0);
    OKAY(cuMemsetD8_v2(range, 7, 2 * grain)); /* across the two mappings */
    OKAY(cuMemcpyDtoH_v2(&last, range + 2 * grain - 1, 1));
    EQUAL(7, last);
    int fd;
    OKAY(cuMemExportToShareableHandle(&fd, first, 1, 0));
    OKAY(close(fd));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 2 * grain));
    OKAY(cuMemRelease(first));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemRelease(first)); /* no handle of the program's any more, though still mapped */
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemExportToShareableHandle(&fd, first, 1, 0));
    void *again;
    OKAY(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)range));
    OKAY(cuMemRelease(again));
    EQUAL(before - 2 * grain, free_bytes());
    OKAY(cuMemUnmap(range, 2 * grain));
    OKAY(cuMemRelease(second));
    OKAY(cuMemAddressFree(range, 2 * grain));
    EQUAL(before, free_bytes());
}

int main(void)
{
    setenv("TESSERA_SCRIPT", "memory 64MiB", 1);
    CUdeviceptr p;
    EQUAL(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc_v2(&p, 1));
    OKAY(cuInit(0));
    EQUAL(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc_v2(&p, 1));
    void *context;
    OKAY(cuCtxCreate_v2(&context, 0, 0));
    linear();
    rows();
    arrays();
    attributes();
    pools();
    virtual_memory();
    OKAY(cuMemAlloc_v2(&p, MIB));
    OKAY(cuCtxDestroy_v2(context)); /* frees what it owned */
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    EQUAL(64 * MIB, free_bytes());
    return 0;
}
