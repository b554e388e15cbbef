/*
 * Copies through the relay: every size around the limits between data in a record, staging and pinned memory, in all
 * directions, shapes and forms; from several threads at once. Contents are compared with what was sent.
 */
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

#define MIB (1u << 20)
#define MOST (20 * MIB + 3)
#define THREADS 4

enum { HOST = 1, DEVICE = 2, UNIFIED = 4 };

CUresult cuMemHostGetFlags(unsigned *flags, void *pointer);
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height);

static const size_t sizes[] = {1, 7, 4096, 65535, 65536, 65537, MIB - 1, MIB, MIB + 1, 5 * MIB + 11, MOST};

static void *context;

static void fill(unsigned char *to, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)((i * 2654435761u + seed) >> 13);
}

static void linear(unsigned char *out, unsigned char *in, CUdeviceptr first, CUdeviceptr second, void *stream)
{
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i];
        fill(out, bytes, i);
        memset(in, 0, bytes);
        OKAY(cuMemcpyHtoD_v2(first, out, bytes));
        OKAY(cuMemcpyDtoD_v2(second, first, bytes));
        OKAY(cuMemcpyDtoH_v2(in, second, bytes));
        EQUAL(0, memcmp(out, in, bytes));
        fill(out, bytes, i + 100);
        OKAY(cuMemcpyHtoDAsync_v2(first, out, bytes, stream));
        OKAY(cuMemcpyDtoDAsync_v2(second, first, bytes, stream));
        OKAY(cuMemcpyDtoHAsync_v2(in, second, bytes, stream));
        OKAY(cuStreamSynchronize(stream));
        EQUAL(0, memcmp(out, in, bytes));
        fill(out, bytes, i + 200);
        OKAY(cuMemcpy(first, (uintptr_t)out, bytes));
        OKAY(cuMemcpy(second, first, bytes));
        OKAY(cuMemcpy((uintptr_t)in, second, bytes));
        EQUAL(0, memcmp(out, in, bytes));
        memset(in, 0, bytes);
        OKAY(cuMemcpy((uintptr_t)in, (uintptr_t)out, bytes));
        EQUAL(0, memcmp(out, in, bytes));
    }
}

/* A pageable source may be changed as soon as the call is back. */
static void sources_are_read(CUdeviceptr device, void *stream)
{
    enum { BYTES = 300000 };
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES), *kept = malloc(BYTES);
    CHECK(out && in && kept);
    for (unsigned round = 0; round < 20; round++) {
        fill(out, BYTES, round);
        memcpy(kept, out, BYTES);
        OKAY(cuMemcpyHtoDAsync_v2(device, out, BYTES, stream));
        memset(out, 0xee, BYTES);
        OKAY(cuMemcpyDtoHAsync_v2(in, device, BYTES, stream));
        EQUAL(0, memcmp(kept, in, BYTES)); /* nor is a pageable target waited for */
    }
    free(out);
    free(in);
    free(kept);
}

static void planes(unsigned char *out, unsigned char *in, CUdeviceptr device, void *stream)
{
    enum { WIDTH = 1000, HEIGHT = 700, HOST_PITCH = 1024, DEVICE_PITCH = 1536 };
    fill(out, HOST_PITCH * HEIGHT, 7);
    memset(in, 0, HOST_PITCH * HEIGHT);
    struct call_copy_2d copy = {.source_type = HOST,
                                .source_host = out,
                                .source_x = 5,
                                .source_y = 3,
                                .source_pitch = HOST_PITCH,
                                .target_type = DEVICE,
                                .target_device = device,
                                .target_x = 8,
                                .target_y = 2,
                                .target_pitch = DEVICE_PITCH,
                                .width = WIDTH,
                                .height = HEIGHT - 3};
    OKAY(cuMemcpy2D_v2(&copy));
    struct call_copy_2d back = {.source_type = DEVICE,
                                .source_device = device,
                                .source_x = 8,
                                .source_y = 2,
                                .source_pitch = DEVICE_PITCH,
                                .target_type = UNIFIED,
                                .target_device = (uintptr_t)in,
                                .target_x = 5,
                                .target_y = 3,
                                .target_pitch = HOST_PITCH,
                                .width = WIDTH,
                                .height = HEIGHT - 3};
    OKAY(cuMemcpy2DAsync_v2(&back, stream));
    OKAY(cuStreamSynchronize(stream));
    for (int y = 3; y < HEIGHT; y++)
        EQUAL(0, memcmp(out + y * HOST_PITCH + 5, in + y * HOST_PITCH + 5, WIDTH));
    EQUAL(0, in[3 * HOST_PITCH + 4]);
    copy.source_pitch = 100;
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&copy));
}

static void boxes(unsigned char *out, unsigned char *in, CUdeviceptr device)
{
    enum { WIDTH = 300, HEIGHT = 200, DEPTH = 30, PITCH = 320, ROWS = 210 };
    fill(out, PITCH * ROWS * DEPTH, 9);
    memset(in, 0, PITCH * ROWS * DEPTH);
    struct call_copy_3d copy = {.source_type = HOST,
                                .source_host = out,
                                .source_pitch = PITCH,
                                .source_height = ROWS,
                                .source_x = 4,
                                .source_y = 1,
                                .source_z = 2,
                                .target_type = DEVICE,
                                .target_device = device,
                                .target_pitch = 512,
                                .target_height = HEIGHT + 5,
                                .target_z = 1,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .depth = DEPTH - 2};
    OKAY(cuMemcpy3D_v2(&copy));
    struct call_copy_3d back = {.source_type = DEVICE,
                                .source_device = device,
                                .source_pitch = 512,
                                .source_height = HEIGHT + 5,
                                .source_z = 1,
                                .target_type = HOST,
                                .target_host = in,
                                .target_pitch = PITCH,
                                .target_height = ROWS,
                                .target_x = 4,
                                .target_y = 1,
                                .target_z = 2,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .depth = DEPTH - 2};
    OKAY(cuMemcpy3D_v2(&back));
    for (size_t z = 2; z < DEPTH; z++)
        for (size_t y = 1; y <= HEIGHT; y++)
            EQUAL(0, memcmp(out + (z * ROWS + y) * PITCH + 4, in + (z * ROWS + y) * PITCH + 4, WIDTH));
}

static void memsets(CUdeviceptr device)
{
    unsigned words[1000];
    unsigned short halves[100 * 50];
    OKAY(cuMemsetD32_v2(device, 0xdeadbeef, 1000));
    OKAY(cuMemcpyDtoH_v2(words, device, sizeof words));
    for (int i = 0; i < 1000; i++)
        EQUAL(0xdeadbeef, words[i]);
    OKAY(cuMemsetD2D16_v2(device, 200, 0x1234, 60, 50));
    OKAY(cuMemcpyDtoH_v2(halves, device, sizeof halves));
    for (int y = 0; y < 50; y++)
        for (int x = 0; x < 60; x++)
            EQUAL(0x1234, halves[y * 100 + x]);
}

static void errors(CUdeviceptr device)
{
    unsigned char byte = 1;
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(device, NULL, 1));
    OKAY(cuMemcpyHtoD_v2(device, &byte, 0));
    CHECK(cuMemcpyHtoD_v2(0x10, &byte, 1) != 0);
    CHECK(cuMemcpyDtoH_v2(&byte, device + 2 * (CUdeviceptr)MOST, MIB) != 0);
    OKAY(cuMemcpyHtoD_v2(device, &byte, 1)); /* and nothing is left of them */
    OKAY(cuCtxSynchronize());
}

static void all(unsigned char *out, unsigned char *in)
{
    CUdeviceptr first, second;
    void *stream;
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&first, MOST));
    OKAY(cuMemAlloc_v2(&second, MOST));
    linear(out, in, first, second, stream);
    sources_are_read(first, stream);
    planes(out, in, first, stream);
    boxes(out, in, first);
    memsets(first);
    OKAY(cuMemcpyHtoD_v2(first, out, MIB));
    OKAY(cuMemcpyPeer(second, context, first, context, MIB));
    OKAY(cuMemcpyDtoH_v2(in, second, MIB));
    EQUAL(0, memcmp(out, in, MIB));
    OKAY(cuStreamDestroy_v2(stream));
    OKAY(cuMemFree_v2(first));
    OKAY(cuMemFree_v2(second));
}

static void *pageable(void *unused)
{
    OKAY(cuCtxSetCurrent(context));
    unsigned char *out = malloc(MOST), *in = malloc(MOST);
    CHECK(out && in);
    all(out, in);
    free(out);
    free(in);
    return unused;
}

static void pinned(void)
{
    void *out, *in;
    CUdeviceptr device, alias, small;
    unsigned flags = 99, type = 0;
    void *stream;
    OKAY(cuMemHostAlloc(&out, MOST, 2));
    OKAY(cuMemAllocHost_v2(&in, MOST));
    all(out, in);
    OKAY(cuMemHostGetDevicePointer_v2(&alias, out, 0));
    EQUAL((uintptr_t)out, alias);
    OKAY(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, alias));
    EQUAL(HOST, type);
    OKAY(cuMemHostGetFlags(&flags, in));
    EQUAL(2, flags);
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&device, MIB));
    /* Truly asynchronous: what the source holds when the device comes to it is what counts. */
    OKAY(cuMemcpyHtoDAsync_v2(device, out, MIB, stream));
    OKAY(cuMemcpyDtoHAsync_v2(in, device, MIB, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(0, memcmp(out, in, MIB));
    OKAY(cuMemAlloc_v2(&small, 16));
    OKAY(cuMemFree_v2(small));
    OKAY(cuMemFree_v2(device));
    OKAY(cuStreamDestroy_v2(stream));
    OKAY(cuMemFreeHost(out));
    OKAY(cuMemFreeHost(in));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(in));
}

/*
 * A small copy from pageable memory need not have arrived when it returns, but what was submitted before it is done: the
 * host may look at memory that it wrote. `slow` and `fast` are of MOST bytes.
 */
static void small_copies_wait_for_what_is_seen(void)
{
    unsigned char *seen, value = 0, back = 0;
    CUdeviceptr slow, fast;
    void *blocking, *legacy = NULL;
    OKAY(cuMemHostAlloc((void **)&seen, MOST, 0));
    OKAY(cuMemAlloc_v2(&slow, MOST));
    OKAY(cuMemAlloc_v2(&fast, MOST));
    OKAY(cuStreamCreate(&blocking, 0));
    for (unsigned round = 0; round < 30; round++) {
        void *stream = round % 2 ? blocking : legacy;
        memset(seen, 0xff, MOST);
        OKAY(cuMemsetD8Async(slow, (unsigned char)round, MOST, stream));
        OKAY(cuMemcpyDtoHAsync_v2(seen, slow, MOST, stream));
        value = (unsigned char)(round + 1);
        OKAY(cuMemcpyHtoD_v2(fast, &value, 1));
        EQUAL(round, seen[0]);
        EQUAL(round, seen[MOST - 1]);
        for (unsigned i = 1; i < 5; i++) { /* nobody waits for these, and their order stays */
            value = (unsigned char)(round + i);
            OKAY(cuMemcpyHtoD_v2(fast, &value, 1));
            OKAY(cuMemcpyHtoD_v2(fast + i, &value, 1));
        }
        value = 0xee;
        OKAY(cuMemcpyDtoH_v2(&back, fast, 1));
        EQUAL((unsigned char)(round + 4), back);
        OKAY(cuMemcpyDtoH_v2(&back, fast + 2, 1));
        EQUAL((unsigned char)(round + 2), back);
        value = (unsigned char)round; /* into memory that the host sees: written when it returns */
        OKAY(cuMemcpy((uintptr_t)seen, (uintptr_t)&value, 1));
        OKAY(cuMemcpyHtoD_v2((uintptr_t)(seen + 1), &value, 1));
        EQUAL(value, seen[0]);
        EQUAL(value, seen[1]);
    }
    OKAY(cuStreamDestroy_v2(blocking));
    OKAY(cuMemFree_v2(slow));
    OKAY(cuMemFree_v2(fast));
    OKAY(cuMemFreeHost(seen));
}

static void registered(void)
{
    unsigned char *memory = malloc(MIB), back[100];
    CUdeviceptr device, alias;
    fill(memory, MIB, 3);
    OKAY(cuMemHostRegister_v2(memory, MIB, 0));
    EQUAL(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(memory + 10, 100, 0));
    EQUAL(CUDA_ERROR_NOT_SUPPORTED, cuMemHostGetDevicePointer_v2(&alias, memory, 0));
    OKAY(cuMemAlloc_v2(&device, MIB));
    OKAY(cuMemcpyHtoD_v2(device, memory, MIB));
    OKAY(cuMemcpyDtoH_v2(back, device + 1000, sizeof back));
    EQUAL(0, memcmp(back, memory + 1000, sizeof back));
    OKAY(cuMemFree_v2(device));
    OKAY(cuMemHostUnregister(memory));
    EQUAL(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(memory));
    free(memory);
}

int main(void)
{
    CUdeviceptr device;
    pthread_t threads[THREADS];
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    pageable(NULL);
    pinned();
    small_copies_wait_for_what_is_seen();
    registered();
    OKAY(cuMemAlloc_v2(&device, MOST));
    errors(device);
    OKAY(cuMemFree_v2(device));
    for (int i = 0; i < THREADS; i++)
        EQUAL(0, pthread_create(&threads[i], NULL, pageable, NULL));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    printf("copies ok\n");
    return 0;
}
