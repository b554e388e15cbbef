/*
 * Pinned memory by relay, small and large: many small allocations share little memory, each is its own to every query, and
 * none is handed out again before work that was submitted earlier is done with it. Prints nanoseconds of an allocation and
 * of a free.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum { KIB = 1024, MIB = 1024 * KIB, COUNT = 1000, BYTES = 4 * KIB, LARGEST_SMALL = 256 * KIB, MOST = 32 * MIB };
enum { PORTABLE = 1, MAPPED = 2, WRITE_COMBINED = 4, ALIGNMENT = 512 };
enum {
    MEMORY_TYPE = 2,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    RANGE_START = 11,
    RANGE_SIZE = 12,
    IS_MAPPED = 13,
    HOST = 1
};
enum { THREADS = 4, ROUNDS = 400, HELD = 24 };
enum { RELAXED = 2 };

CUresult cuMemHostGetFlags(unsigned *flags, void *pointer);

static void *context;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Bytes of this process's address space that it shares with the executor as pinned memory. */
static size_t pinned_bytes(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    size_t bytes = 0;
    CHECK(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        if (strstr(line, "tessera-pinned") && sscanf(line, "%lx-%lx", &begin, &end) == 2)
            bytes += end - begin;
    }
    fclose(maps);
    return bytes;
}

static int is_zero(const unsigned char *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (memory[i])
            return 0;
    return 1;
}

static void each_is_its_own(unsigned char *memory, size_t bytes, unsigned flags)
{
    unsigned char *inside = memory + bytes / 2;
    unsigned got = 99, type = 0, mapped = 0;
    CUdeviceptr device = 0, start = 0, host = 0;
    size_t size = 0;
    EQUAL(0, (uintptr_t)memory % ALIGNMENT);
    OKAY(cuMemHostGetDevicePointer_v2(&device, inside, 0));
    EQUAL((uintptr_t)inside, device);
    OKAY(cuMemHostGetFlags(&got, inside));
    EQUAL(flags | MAPPED, got);
    OKAY(cuPointerGetAttribute(&type, MEMORY_TYPE, device));
    EQUAL(HOST, type);
    OKAY(cuPointerGetAttribute(&device, DEVICE_POINTER, (uintptr_t)inside));
    EQUAL((uintptr_t)inside, device);
    OKAY(cuPointerGetAttribute(&host, HOST_POINTER, (uintptr_t)inside));
    EQUAL((uintptr_t)inside, host);
    OKAY(cuPointerGetAttribute(&start, RANGE_START, (uintptr_t)inside));
    EQUAL((uintptr_t)memory, start);
    OKAY(cuPointerGetAttribute(&size, RANGE_SIZE, (uintptr_t)inside));
    EQUAL(bytes, size);
    OKAY(cuPointerGetAttribute(&mapped, IS_MAPPED, (uintptr_t)inside));
    EQUAL(1, mapped);
    OKAY(cuMemGetAddressRange_v2(&start, &size, (uintptr_t)inside));
    EQUAL((uintptr_t)memory, start);
    EQUAL(bytes, size);
    EQUAL(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(inside, 1, 0));
    EQUAL(1, inside == memory || cuMemFreeHost(inside) == CUDA_ERROR_INVALID_VALUE);
}

static void many(void)
{
    static unsigned char *memory[COUNT];
    static const unsigned flags[] = {0, PORTABLE, MAPPED, PORTABLE | MAPPED};
    size_t before = pinned_bytes();
    double begun = now_ns();
    for (unsigned i = 0; i < COUNT; i++)
        OKAY(cuMemHostAlloc((void **)&memory[i], BYTES, flags[i % 4]));
    double allocated = now_ns();
    size_t held = pinned_bytes() - before;
    CHECK(held >= (size_t)COUNT * BYTES && held <= (size_t)COUNT * BYTES + 2 * MIB);
    for (unsigned i = 0; i < COUNT; i++) {
        EQUAL(1, is_zero(memory[i], BYTES));
        memset(memory[i], (int)(i % 251 + 1), BYTES);
    }
    for (unsigned i = 0; i < COUNT; i++)
        EQUAL(1, memory[i][0] == i % 251 + 1 && memory[i][BYTES - 1] == i % 251 + 1);
    for (unsigned i = 0; i < COUNT; i += 100)
        each_is_its_own(memory[i], BYTES, flags[i % 4]);
    double freed = now_ns();
    for (unsigned i = 0; i < COUNT; i++)
        OKAY(cuMemFreeHost(memory[i]));
    double end = now_ns();
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(memory[0]));
    CHECK(pinned_bytes() - before <= 2 * MIB); /* one piece stays for the next */
    printf("bytes %zu, allocation %.0f ns, free %.0f ns\n", held, (allocated - begun) / COUNT, (end - freed) / COUNT);
}

static void sizes(void)
{
    static const size_t bytes[] = {1,      511, 512, 513, 65536, LARGEST_SMALL - 1, LARGEST_SMALL, LARGEST_SMALL + 1,
                                   3 * MIB};
    unsigned char *memory, *other;
    for (unsigned i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        size_t large = (bytes[i] + 4095) & ~(size_t)4095;
        OKAY(cuMemAllocHost_v2((void **)&memory, bytes[i]));
        EQUAL(1, is_zero(memory, bytes[i]));
        memset(memory, 0xee, bytes[i]);
        each_is_its_own(memory, bytes[i] <= LARGEST_SMALL ? bytes[i] : large, MAPPED);
        OKAY(cuMemFreeHost(memory));
    }
    OKAY(cuMemHostAlloc((void **)&memory, BYTES, 0));
    OKAY(cuMemHostAlloc((void **)&other, BYTES, WRITE_COMBINED)); /* does not lie beside the others */
    CHECK((size_t)(memory > other ? memory - other : other - memory) >= LARGEST_SMALL);
    each_is_its_own(other, BYTES, WRITE_COMBINED);
    OKAY(cuMemFreeHost(other));
    OKAY(cuMemFreeHost(memory));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc((void **)&memory, 0, 0));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc((void **)&memory, 1, 8));
}

/* Long work ends in memory that is freed at once: the next allocation there must not see it. */
static void freed_memory_is_not_written(void *stream)
{
    CUdeviceptr slow;
    OKAY(cuMemAlloc_v2(&slow, MOST));
    for (unsigned round = 0; round < 20; round++) {
        unsigned char *first, *second;
        OKAY(cuMemHostAlloc((void **)&first, LARGEST_SMALL, 0));
        for (unsigned i = 0; i < 4; i++)
            OKAY(cuMemsetD8Async(slow, 0xaa, MOST, stream));
        OKAY(cuMemcpyDtoHAsync_v2(first, slow, LARGEST_SMALL, stream));
        OKAY(cuMemFreeHost(first));
        OKAY(cuMemHostAlloc((void **)&second, LARGEST_SMALL, 0));
        OKAY(cuStreamSynchronize(stream));
        EQUAL(1, is_zero(second, LARGEST_SMALL));
        OKAY(cuMemFreeHost(second));
    }
    OKAY(cuMemFree_v2(slow));
}

/* Copies from and to all of one: the device and the host have the same bytes there. */
static void both_sides_see_it(void *stream)
{
    unsigned char *out, *in;
    CUdeviceptr device;
    OKAY(cuMemHostAlloc((void **)&out, 3000, 0));
    OKAY(cuMemHostAlloc((void **)&in, 3000, 0));
    OKAY(cuMemAlloc_v2(&device, 3000));
    for (unsigned i = 0; i < 3000; i++)
        out[i] = (unsigned char)(i * 7);
    OKAY(cuMemcpyHtoDAsync_v2(device, out, 3000, stream));
    OKAY(cuMemcpyDtoHAsync_v2(in, device, 3000, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(0, memcmp(out, in, 3000));
    OKAY(cuMemsetD8Async((uintptr_t)in + 5, 9, 100, stream)); /* the device writes the host's memory */
    OKAY(cuStreamSynchronize(stream));
    EQUAL(1, in[4] == out[4] && in[5] == 9 && in[104] == 9 && in[105] == out[105]);
    OKAY(cuMemFreeHost(out));
    OKAY(cuMemFreeHost(in));
    OKAY(cuMemFree_v2(device));
}

static void registrations_do_not_overlap(void)
{
    unsigned char *memory = malloc(MIB);
    CHECK(memory);
    OKAY(cuMemHostRegister_v2(memory + 1000, 1000, 0));
    EQUAL(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(memory, MIB, 0));
    EQUAL(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(memory, 1001, 0));
    EQUAL(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(memory + 1999, 1, 0));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister_v2(memory, SIZE_MAX, 0));
    OKAY(cuMemHostRegister_v2(memory, 1000, 0));
    OKAY(cuMemHostRegister_v2(memory + 2000, 1000, 0));
    OKAY(cuMemHostUnregister(memory));
    OKAY(cuMemHostUnregister(memory + 1000));
    OKAY(cuMemHostUnregister(memory + 2000));
    free(memory);
}

/* A capture is not disturbed by a free, whose memory is used again later. */
static void captures_go_on(void *stream)
{
    unsigned char *memory, *other;
    void *graph;
    OKAY(cuMemHostAlloc((void **)&memory, BYTES, 0));
    memset(memory, 1, BYTES);
    OKAY(cuStreamBeginCapture_v2(stream, RELAXED));
    OKAY(cuMemFreeHost(memory));
    OKAY(cuMemHostAlloc((void **)&other, BYTES, 0));
    CHECK(other != memory);
    OKAY(cuStreamEndCapture(stream, &graph));
    OKAY(cuGraphDestroy(graph));
    OKAY(cuMemFreeHost(other));
    OKAY(cuMemHostAlloc((void **)&other, BYTES, 0));
    CHECK(other == memory);
    EQUAL(1, is_zero(other, BYTES));
    OKAY(cuMemFreeHost(other));
}

static void a_context_takes_its_memory_with_it(void)
{
    unsigned char *kept, *gone;
    void *second;
    unsigned flags;
    size_t before;
    OKAY(cuMemHostAlloc((void **)&kept, BYTES, 0));
    memset(kept, 3, BYTES);
    before = pinned_bytes();
    OKAY(cuCtxCreate_v2(&second, 0, 0));
    OKAY(cuMemHostAlloc((void **)&gone, BYTES, 0));
    CHECK(pinned_bytes() > before);
    OKAY(cuCtxDestroy_v2(second));
    OKAY(cuCtxSetCurrent(context));
    EQUAL(before, pinned_bytes());
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemHostGetFlags(&flags, gone));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(gone));
    EQUAL(1, kept[0] == 3 && kept[BYTES - 1] == 3);
    OKAY(cuMemFreeHost(kept));
}

static void *churn(void *argument)
{
    unsigned state = (unsigned)(uintptr_t)argument;
    unsigned char *held[HELD] = {NULL}, mark[HELD];
    size_t bytes[HELD];
    OKAY(cuCtxSetCurrent(context));
    for (unsigned round = 0; round < ROUNDS; round++) {
        state = state * 1103515245u + 12345u;
        unsigned at = (state >> 16) % HELD;
        if (held[at]) {
            EQUAL(1, held[at][0] == mark[at] && held[at][bytes[at] - 1] == mark[at] &&
                         held[at][bytes[at] / 2] == mark[at]);
            OKAY(cuMemFreeHost(held[at]));
            held[at] = NULL;
            continue;
        }
        bytes[at] = 1 + (state >> 8) % (round % 16 ? 20000 : LARGEST_SMALL);
        mark[at] = (unsigned char)(1 + state % 255);
        OKAY(cuMemHostAlloc((void **)&held[at], bytes[at], 0));
        EQUAL(1, is_zero(held[at], bytes[at]));
        memset(held[at], mark[at], bytes[at]);
    }
    for (unsigned at = 0; at < HELD; at++)
        if (held[at])
            OKAY(cuMemFreeHost(held[at]));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    void *stream;
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    many();
    sizes();
    freed_memory_is_not_written(stream);
    both_sides_see_it(stream);
    registrations_do_not_overlap();
    captures_go_on(stream);
    a_context_takes_its_memory_with_it();
    for (uintptr_t i = 0; i < THREADS; i++)
        EQUAL(0, pthread_create(&threads[i], NULL, churn, (void *)(i + 1)));
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OKAY(cuStreamDestroy_v2(stream));
    unsigned char *left;
    OKAY(cuMemHostAlloc((void **)&left, BYTES, 0)); /* the program ends with it */
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    EQUAL(0, pinned_bytes());
    printf("pinned ok\n");
    return 0;
}
