/*
 * Contexts, devices and memory through the relay, as a program sees them: the stack of each thread, primary and created
 * contexts, context-local storage with its destructors, attributes, pools and virtual memory, and a child after a fork.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

#define MIB ((size_t)1 << 20)

CUresult cuCtxGetApiVersion(void *context, unsigned *version);
CUresult cuCtxGetId(void *context, unsigned long long *id);
CUresult cuCtxGetFlags(unsigned *flags);
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags);
CUresult cuDeviceGetPCIBusId(char *id, int bytes, CUdevice device);
CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id);
CUresult cuMemRetainAllocationHandle(void **handle, void *address);

static void *primary;

static void devices(void)
{
    int count = 0, value = 9, version = 0;
    CUdevice device = 9;
    char name[100], bus[20];
    size_t total = 0, free_bytes = 0;
    OKAY(cuDeviceGetCount(&count));
    EQUAL(1, count);
    OKAY(cuDeviceGet(&device, 0));
    EQUAL(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
    OKAY(cuDriverGetVersion(&version));
    EQUAL(13000, version);
    OKAY(cuDeviceGetName(name, sizeof name, 0));
    CHECK(strlen(name) > 3);
    OKAY(cuDeviceTotalMem_v2(&total, 0));
    CHECK(total > 100 * MIB);
    static const int withheld[] = {83, 88, 89, 91, 103, 125};
    for (unsigned i = 0; i < sizeof withheld / sizeof *withheld; i++) {
        CUresult result = cuDeviceGetAttribute(&value, withheld[i], 0);
        CHECK(result == 1 || value == 0);
    }
    OKAY(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    CHECK(value >= 3);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, 9999, 0));
    OKAY(cuDeviceGetPCIBusId(bus, sizeof bus, 0));
    OKAY(cuDeviceGetByPCIBusId(&device, bus));
    EQUAL(0, device);
    EQUAL(CUDA_ERROR_INVALID_CONTEXT, cuMemGetInfo_v2(&free_bytes, &total));
}

static void *other_thread(void *unused)
{
    void *current = &current;
    OKAY(cuCtxGetCurrent(&current));
    CHECK(current == NULL);
    OKAY(cuCtxSetCurrent(primary));
    return unused;
}

static void primary_context(void)
{
    unsigned flags = 9;
    int active = 9;
    void *again, *current;
    CUdevice device = 9;
    pthread_t thread;
    CUdeviceptr pointer;
    OKAY(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EQUAL(0, active);
    OKAY(cuDevicePrimaryCtxSetFlags_v2(0, 4));
    OKAY(cuDevicePrimaryCtxRetain(&primary, 0));
    OKAY(cuDevicePrimaryCtxRetain(&again, 0));
    CHECK(primary == again);
    OKAY(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EQUAL(1, active);
    EQUAL(4, flags);
    EQUAL(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice(&device));
    OKAY(cuCtxSetCurrent(primary));
    OKAY(cuCtxGetDevice(&device));
    EQUAL(0, device);
    EQUAL(0, pthread_create(&thread, NULL, other_thread, NULL));
    pthread_join(thread, NULL);
    OKAY(cuMemAlloc_v2(&pointer, MIB));
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    OKAY(cuMemFree_v2(pointer));
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    EQUAL(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&pointer, MIB));
    OKAY(cuCtxGetCurrent(&current));
    CHECK(current == primary);
    OKAY(cuDevicePrimaryCtxRetain(&again, 0));
    CHECK(again == primary);
    OKAY(cuMemAlloc_v2(&pointer, MIB));
    OKAY(cuDevicePrimaryCtxReset_v2(0));
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemFree_v2(pointer));
    OKAY(cuDevicePrimaryCtxRetain(&again, 0));
}

static void created_contexts(void)
{
    void *first, *second, *popped, *current;
    unsigned version = 0, flags = 0;
    unsigned long long id = 0, other_id = 0;
    CUdeviceptr pointer;
    OKAY(cuCtxCreate_v2(&first, 1, 0));
    OKAY(cuCtxCreate_v4(&second, NULL, 0, 0));
    CHECK(first != second && first != primary);
    OKAY(cuCtxGetCurrent(&current));
    CHECK(current == second);
    OKAY(cuCtxGetApiVersion(first, &version));
    CHECK(version >= 3020);
    OKAY(cuCtxGetId(first, &id));
    OKAY(cuCtxGetId(NULL, &other_id));
    CHECK(id != other_id);
    OKAY(cuCtxPopCurrent_v2(&popped));
    CHECK(popped == second);
    OKAY(cuCtxGetFlags(&flags));
    EQUAL(1, flags);
    OKAY(cuMemAlloc_v2(&pointer, MIB));
    OKAY(cuCtxPushCurrent_v2(second));
    OKAY(cuMemsetD8_v2(pointer, 1, MIB)); /* one address space */
    OKAY(cuCtxSynchronize());
    OKAY(cuCtxDestroy_v2(second));
    OKAY(cuCtxGetCurrent(&current));
    CHECK(current == first);
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxPushCurrent_v2(second));
    OKAY(cuCtxDestroy_v2(first));
    OKAY(cuCtxGetCurrent(&current));
    CHECK(current == primary);
    CHECK(cuCtxDestroy_v2(first) != 0);
    CHECK(cuCtxPushCurrent_v2((void *)0x1234) != 0);
}

static int destroyed;
static void *destroyed_key, *destroyed_value;

static void destroy(void *context, void *key, void *value)
{
    CHECK(context != NULL);
    destroyed++;
    destroyed_key = key;
    destroyed_value = value;
}

static void storage(void)
{
    static const unsigned char id[16] = {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11,
                                         0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93};
    const void *found;
    void *context, *value = NULL;
    int first, second;
    OKAY(cuGetExportTable(&found, id));
    void *const *table = found;
    CUresult (*put)(void *, void *, void *, void *) = (CUresult(*)(void *, void *, void *, void *))table[0];
    CUresult (*drop)(void *, void *) = (CUresult(*)(void *, void *))table[1];
    CUresult (*get)(void **, void *, void *) = (CUresult(*)(void **, void *, void *))table[2];
    OKAY(cuCtxCreate_v2(&context, 0, 0));
    CHECK(get(&value, context, &first) != 0);
    OKAY(put(context, &first, &second, (void *)destroy));
    OKAY(put(NULL, &second, &first, (void *)destroy));
    OKAY(get(&value, NULL, &first));
    CHECK(value == &second);
    OKAY(put(context, &first, &table, (void *)destroy));
    OKAY(get(&value, context, &first));
    CHECK(value == &table);
    OKAY(drop(context, &second));
    EQUAL(0, destroyed);
    CHECK(get(&value, context, &second) != 0);
    OKAY(cuCtxDestroy_v2(context));
    EQUAL(1, destroyed);
    CHECK(destroyed_key == &first && destroyed_value == &table);
}

static void pools(void)
{
    void *pool, *same, *own, *stream;
    CUdeviceptr pointer;
    uint64_t threshold = 12345, got = 0;
    OKAY(cuDeviceGetDefaultMemPool(&pool, 0));
    OKAY(cuDeviceGetMemPool(&same, 0));
    CHECK(pool == same);
    OKAY(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OKAY(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &got));
    EQUAL(threshold, got);
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAllocAsync(&pointer, MIB, stream));
    OKAY(cuMemsetD8Async(pointer, 7, MIB, stream));
    OKAY(cuMemFreeAsync(pointer, stream));
    struct call_pool_properties properties = {.allocation_type = 1, .location = {1, 0}};
    OKAY(cuMemPoolCreate(&own, &properties));
    OKAY(cuMemAllocFromPoolAsync(&pointer, MIB, own, stream));
    OKAY(cuPointerGetAttribute(&same, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer));
    CHECK(same == own);
    OKAY(cuMemFreeAsync(pointer, stream));
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuMemPoolDestroy(own));
    OKAY(cuStreamDestroy_v2(stream));
}

static void virtual_memory(void)
{
    struct call_allocation_properties properties = {.type = 1, .handle_types = 1, .location = {1, 0}};
    struct call_access access = {{1, 0}, 3};
    void *handle, *again;
    size_t grain = 0, size;
    CUdeviceptr at, start;
    unsigned char out[64] = "through two mappings", in[64];
    OKAY(cuMemGetAllocationGranularity(&grain, &properties, 0));
    CHECK(grain >= 4096);
    OKAY(cuMemAddressReserve(&at, 4 * grain, 0, 0, 0));
    OKAY(cuMemCreate(&handle, grain, &properties, 0));
    OKAY(cuMemMap(at + grain, grain, 0, handle, 0));
    OKAY(cuMemSetAccess(at + grain, grain, &access, 1));
    OKAY(cuMemcpyHtoD_v2(at + grain, out, sizeof out));
    OKAY(cuMemcpyDtoH_v2(in, at + grain, sizeof in));
    EQUAL(0, memcmp(out, in, sizeof in));
    OKAY(cuMemGetAddressRange_v2(&start, &size, at + grain + 100));
    EQUAL(at + grain, start);
    EQUAL(grain, size);
    OKAY(cuMemRetainAllocationHandle(&again, (void *)(at + grain)));
    OKAY(cuMemRelease(again));
    OKAY(cuMemUnmap(at + grain, grain));
    CHECK(cuMemcpyHtoD_v2(at + grain, out, sizeof out) != 0);
    OKAY(cuMemRelease(handle));
    OKAY(cuMemAddressFree(at, 4 * grain));
}

static void refused(void)
{
    CUdeviceptr pointer;
    EQUAL(CUDA_ERROR_NOT_SUPPORTED, cuMemAllocManaged(&pointer, MIB, 1));
    OKAY(cuMemAlloc_v2(&pointer, MIB));
    OKAY(cuMemFree_v2(pointer));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(pointer));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(0x7777));
    OKAY(cuMemFree_v2(0));
    CHECK(cuMemAlloc_v2(&pointer, (size_t)1 << 50) == 2);
}

static void forked(void)
{
    int status = 0, count;
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr pointer;
        CUdevice device;
        int right = cuInit(0) == 3 && cuDeviceGetCount(&count) == 3 && cuMemAlloc_v2(&pointer, MIB) == 3 &&
                    cuCtxGetDevice(&device) == 3 && cuCtxSynchronize() == 3;
        _exit(right ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    EQUAL(0, status);
    CUdeviceptr pointer;
    OKAY(cuMemAlloc_v2(&pointer, MIB));
    OKAY(cuMemFree_v2(pointer));
}

int main(void)
{
    int count = 0;
    EQUAL(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    OKAY(cuInit(0));
    OKAY(cuInit(0));
    devices();
    primary_context();
    created_contexts();
    storage();
    pools();
    virtual_memory();
    refused();
    forked();
    printf("contexts ok\n");
    return 0;
}
