/*
 * A program on two devices at once, on software GPUs: kernels, streams and events of both, copies between them in every form,
 * pinned memory, what is said of peers. First argument:
 *   all      as above, from two threads too
 *   visible  CUDA_VISIBLE_DEVICES names the second device alone
 *   lost     says "ready", waits for a line that tells that the second device's executor is gone; the first goes on
 *   holds    says "ready" and waits with memory and work on both
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

#define MIB ((size_t)1 << 20)

enum { DEVICES = 2, COUNT = 1 << 18, ROUNDS = 40, DEVICE_POINTER = 3, DEVICE_ORDINAL = 9 };

/* Not declared for the other programs. */
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer);
CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice device, CUdevice peer);
CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device);
CUresult cuMemcpyPeerAsync(CUdeviceptr to, void *to_context, CUdeviceptr from, void *from_context, size_t bytes,
                           void *stream);

/* add(p, n, x): p[i] += x, for every i below n. */
static const char CODE[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 n, .param .u32 x) {\n"
    " .reg .pred %q; .reg .b32 %r<8>; .reg .b64 %d<4>;\n"
    " ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [x];\n"
    " mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r3, %r3, %r4, %r5;\n"
    " setp.ge.u32 %q, %r3, %r1; @%q ret;\n"
    " mul.wide.u32 %d2, %r3, 4; add.s64 %d3, %d1, %d2;\n"
    " ld.global.u32 %r6, [%d3]; add.u32 %r6, %r6, %r2; st.global.u32 [%d3], %r6; ret;\n}\n";

static void *contexts[DEVICES], *functions[DEVICES], *streams[DEVICES];
static CUdeviceptr numbers[DEVICES];

static void enter(int device)
{
    OKAY(cuCtxSetCurrent(contexts[device]));
}

static void open_device(int device)
{
    void *module;
    OKAY(cuDevicePrimaryCtxRetain(&contexts[device], device));
    enter(device);
    OKAY(cuModuleLoadData(&module, CODE));
    OKAY(cuModuleGetFunction(&functions[device], module, "add"));
    OKAY(cuStreamCreate(&streams[device], CU_STREAM_NON_BLOCKING));
    OKAY(cuMemAlloc_v2(&numbers[device], COUNT * sizeof(unsigned)));
    OKAY(cuMemsetD32_v2(numbers[device], 0, COUNT));
    OKAY(cuCtxSynchronize());
}

static void add(int device, CUdeviceptr to, unsigned count, unsigned x)
{
    void *parameters[] = {&to, &count, &x};
    OKAY(cuLaunchKernel(functions[device], (count + 127) / 128, 1, 1, 128, 1, 1, 0, streams[device], parameters, NULL));
}

static void all_are(unsigned expected, CUdeviceptr at, unsigned count)
{
    static __thread unsigned back[COUNT];
    memset(back, 0xee, count * sizeof *back);
    OKAY(cuMemcpyDtoH_v2(back, at, count * sizeof *back));
    for (unsigned i = 0; i < count; i++)
        EQUAL(expected, back[i]);
}

/* Each thread has a device of its own current, at the same time. */
static void *work(void *argument)
{
    int device = (int)(intptr_t)argument;
    CUdevice current = -1;
    void *begin, *end;
    float milliseconds = -1;
    enter(device);
    OKAY(cuEventCreate(&begin, 0));
    OKAY(cuEventCreate(&end, 0));
    OKAY(cuEventRecord(begin, streams[device]));
    for (int i = 0; i < ROUNDS; i++)
        add(device, numbers[device], COUNT, (unsigned)device + 1);
    OKAY(cuEventRecord(end, streams[device]));
    OKAY(cuEventSynchronize(end));
    OKAY(cuEventElapsedTime(&milliseconds, begin, end));
    CHECK(milliseconds >= 0);
    OKAY(cuCtxGetDevice(&current));
    EQUAL(device, current);
    all_are(ROUNDS * ((unsigned)device + 1), numbers[device], COUNT);
    OKAY(cuEventDestroy_v2(begin));
    OKAY(cuEventDestroy_v2(end));
    return NULL;
}

static void at_once(void)
{
    pthread_t threads[DEVICES];
    for (intptr_t device = 0; device < DEVICES; device++)
        CHECK(pthread_create(&threads[device], NULL, work, (void *)device) == 0);
    for (int device = 0; device < DEVICES; device++)
        CHECK(pthread_join(threads[device], NULL) == 0);
}

/* One thread that changes sides at every call; a device waits for an event of the other. */
static void by_turns(void)
{
    void *done[DEVICES];
    for (int device = 0; device < DEVICES; device++) {
        enter(device);
        OKAY(cuMemsetD32_v2(numbers[device], 0, COUNT));
        OKAY(cuEventCreate(&done[device], CU_EVENT_DISABLE_TIMING));
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        int here = (int)(i % 2), there = !here;
        enter(here);
        add(here, numbers[here], COUNT, 1);
        OKAY(cuEventRecord(done[here], streams[here]));
        enter(there);
        OKAY(cuStreamWaitEvent(streams[there], done[here], 0));
        OKAY(cuMemcpyPeerAsync(numbers[there], contexts[there], numbers[here], contexts[here], COUNT * sizeof(unsigned),
                               streams[there]));
    }
    for (int device = 0; device < DEVICES; device++) {
        enter(device);
        OKAY(cuStreamSynchronize(streams[device]));
        all_are(ROUNDS, numbers[device], COUNT);
        OKAY(cuEventDestroy_v2(done[device]));
    }
}

/* 64 rows of 100 bytes from one device to the other, and between the other device's memory and the host. */
static void rows(void)
{
    enum { ROWS = 64, WIDTH = 100, FROM_PITCH = 128, TO_PITCH = 256 };
    static unsigned char there[ROWS * TO_PITCH], host[ROWS * WIDTH];
    struct call_copy_2d copy = {.source_type = 4,
                                .source_device = numbers[0],
                                .source_pitch = FROM_PITCH,
                                .target_type = 4,
                                .target_device = numbers[1],
                                .target_pitch = TO_PITCH,
                                .width = WIDTH,
                                .height = ROWS};
    enter(1);
    OKAY(cuMemsetD8_v2(numbers[1], 0x77, sizeof there));
    OKAY(cuCtxSynchronize());
    enter(0);
    OKAY(cuMemsetD8_v2(numbers[0], 0x51, ROWS * FROM_PITCH));
    OKAY(cuMemcpy2D_v2(&copy));
    OKAY(cuMemcpyDtoH_v2(there, numbers[1], sizeof there));
    for (int i = 0; i < ROWS * TO_PITCH; i++)
        EQUAL(i % TO_PITCH < WIDTH ? 0x51 : 0x77, there[i]);
    copy.source_type = copy.target_type = 2;
    OKAY(cuMemsetD8_v2(numbers[0], 0x52, ROWS * FROM_PITCH));
    OKAY(cuMemcpy2DAsync_v2(&copy, streams[0]));
    OKAY(cuStreamSynchronize(streams[0]));
    struct call_copy_2d back = {.source_type = 4,
                                .source_device = numbers[1],
                                .source_pitch = TO_PITCH,
                                .target_type = 1,
                                .target_host = host,
                                .target_pitch = WIDTH,
                                .width = WIDTH,
                                .height = ROWS};
    OKAY(cuMemcpy2D_v2(&back));
    for (unsigned i = 0; i < sizeof host; i++)
        EQUAL(0x52, host[i]);
}

/*
 * Pinned memory is copied from and to by both devices; kernels reach that of their own device, and attributes say so.
 */
static void pinned(void)
{
    unsigned *memory[DEVICES];
    CUdeviceptr address;
    for (int device = 0; device < DEVICES; device++) {
        enter(device);
        OKAY(cuMemHostAlloc((void **)&memory[device], MIB, 1));
        memset(memory[device], 0, MIB);
        OKAY(cuMemHostGetDevicePointer_v2(&address, memory[device], 0));
        EQUAL((uintptr_t)memory[device], address);
        add(device, address, MIB / 4, 7);
        OKAY(cuStreamSynchronize(streams[device]));
        EQUAL(7, memory[device][MIB / 4 - 1]);
        enter(!device);
        EQUAL(CUDA_ERROR_NOT_SUPPORTED, cuMemHostGetDevicePointer_v2(&address, memory[device], 0));
        EQUAL(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&address, DEVICE_POINTER, (uintptr_t)memory[device]));
        OKAY(cuMemcpyHtoDAsync_v2(numbers[!device], memory[device], MIB, streams[!device]));
        add(!device, numbers[!device], MIB / 4, 1);
        OKAY(cuMemcpyDtoHAsync_v2(memory[device], numbers[!device], MIB, streams[!device]));
        OKAY(cuStreamSynchronize(streams[!device]));
        for (unsigned i = 0; i < MIB / 4; i++)
            EQUAL(8, memory[device][i]);
    }
    for (int device = 0; device < DEVICES; device++)
        OKAY(cuMemFreeHost(memory[device]));
}

/* Nobody may think that a device reaches the other's memory. */
static void peers(void)
{
    char bus[DEVICES][32];
    for (int device = 0; device < DEVICES; device++) {
        int can = 9, value = 9;
        enter(device);
        OKAY(cuDeviceCanAccessPeer(&can, device, !device));
        EQUAL(0, can);
        for (int attribute = 2; attribute <= 4; attribute++) { /* access, native atomics, arrays */
            OKAY(cuDeviceGetP2PAttribute(&value, attribute, device, !device));
            EQUAL(0, value);
        }
        EQUAL(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetP2PAttribute(&value, 2, device, device));
        EQUAL(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(contexts[!device], 0));
        OKAY(cuDeviceGetPCIBusId(bus[device], sizeof bus[device], device));
    }
    CHECK(strcmp(bus[0], bus[1]) != 0);
}

/* Memory of pools and reservations is its device's too. */
static void owners(void)
{
    for (int device = 0; device < DEVICES; device++) {
        CUdeviceptr pooled;
        int ordinal = 9;
        enter(device);
        OKAY(cuMemAllocAsync(&pooled, MIB, streams[device]));
        OKAY(cuMemsetD32Async(pooled, 3, MIB / 4, streams[device]));
        OKAY(cuStreamSynchronize(streams[device]));
        enter(!device);
        OKAY(cuPointerGetAttribute(&ordinal, DEVICE_ORDINAL, pooled));
        EQUAL(device, ordinal);
        OKAY(cuMemcpy(numbers[!device], pooled, MIB));
        all_are(3, numbers[!device], MIB / 4);
        enter(device);
        OKAY(cuMemFreeAsync(pooled, streams[device]));
    }
}

static void visible(void)
{
    int count = 0;
    OKAY(cuDeviceGetCount(&count));
    EQUAL(1, count);
    char bus[32];
    OKAY(cuDeviceGetPCIBusId(bus, sizeof bus, 0));
    CHECK(strcmp(bus, "FFFF:01:00.0") == 0);
    EQUAL(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain(&contexts[1], 1));
    open_device(0);
    work((void *)0);
    printf("visible ok\n");
}

static void told(void)
{
    char line[16];
    printf("ready\n");
    fflush(stdout);
    CHECK(fgets(line, sizeof line, stdin));
}

static void lost(void)
{
    told();
    CUresult result = 0;
    enter(1);
    for (int i = 0; i < 1000 && result == 0; i++) { /* it is seen soon, not at once */
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        result = cuStreamSynchronize(streams[1]);
    }
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, result);
    CUdeviceptr memory;
    EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&memory, MIB));
    enter(0);
    OKAY(cuMemsetD32_v2(numbers[0], 0, COUNT));
    OKAY(cuCtxSynchronize());
    work((void *)0);
    CHECK(cuMemcpyPeer(numbers[1], contexts[1], numbers[0], contexts[0], MIB) != 0);
    OKAY(cuMemAlloc_v2(&memory, MIB));
    OKAY(cuMemFree_v2(memory));
    printf("the other device goes on\n");
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "all";
    int devices = 0;
    OKAY(cuInit(0));
    if (strcmp(what, "visible") == 0) {
        visible();
        return 0;
    }
    OKAY(cuDeviceGetCount(&devices));
    EQUAL(DEVICES, devices);
    for (int device = 0; device < DEVICES; device++)
        open_device(device);
    if (strcmp(what, "lost") == 0) {
        lost();
    } else if (strcmp(what, "holds") == 0) {
        told();
    } else {
        at_once();
        by_turns();
        rows();
        pinned();
        peers();
        owners();
        printf("two devices ok\n");
    }
    return 0;
}
