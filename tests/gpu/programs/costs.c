/*
 * What single driver calls cost, as one JSON object on stdout. The same program is run natively and by relay.
 *
 *   costs [MIB]    bytes of the large copies (default 256)
 */
#include <string.h>

#include "cuda_constants.h"
#include "driver.h"

enum { LAUNCHES = 20000, BURST = 500, ROUNDS = 400, COPIES = 7 };

static const char KERNEL[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry touch(.param .u64 p)\n{\n"
                             "  .reg .b64 %rd<3>;\n  .reg .b32 %r<3>;\n"
                             "  ld.param.u64 %rd1, [p];\n  cvta.to.global.u64 %rd2, %rd1;\n"
                             "  ld.global.u32 %r1, [%rd2];\n  add.u32 %r2, %r1, 1;\n"
                             "  st.global.u32 [%rd2], %r2;\n  ret;\n}\n";

static CUfunction kernel;
static CUstream stream;
static CUdeviceptr cell;
static int64_t samples[LAUNCHES];

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median(int64_t *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

static void launch(void)
{
    void *parameters[] = {&cell};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

/* Time of the calling thread in one launch, in bursts short enough that no queue fills. */
static int64_t launch_ns(void)
{
    for (int i = 0; i < LAUNCHES; i++) {
        int64_t begin = now_ns();
        launch();
        samples[i] = now_ns() - begin;
        if (i % BURST == BURST - 1)
            CHECK(cuStreamSynchronize(stream));
    }
    return median(samples, LAUNCHES);
}

/* Time a launch, end to end, when the queue is always full. */
static double sustained_launch_ns(void)
{
    CHECK(cuStreamSynchronize(stream));
    int64_t begin = now_ns();
    for (int i = 0; i < LAUNCHES; i++)
        launch();
    CHECK(cuStreamSynchronize(stream));
    return (double)(now_ns() - begin) / LAUNCHES;
}

static int64_t launch_and_synchronise_ns(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin = now_ns();
        launch();
        CHECK(cuStreamSynchronize(stream));
        samples[i] = now_ns() - begin;
    }
    return median(samples, ROUNDS);
}

static int64_t idle_synchronise_ns(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin = now_ns();
        CHECK(cuStreamSynchronize(stream));
        samples[i] = now_ns() - begin;
    }
    return median(samples, ROUNDS);
}

static void allocation(int64_t *allocate, int64_t *release)
{
    static int64_t freed[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        CUdeviceptr memory;
        int64_t begin = now_ns();
        CHECK(cuMemAlloc_v2(&memory, 4 << 20));
        int64_t middle = now_ns();
        CHECK(cuMemFree_v2(memory));
        freed[i] = now_ns() - middle;
        samples[i] = middle - begin;
    }
    *allocate = median(samples, ROUNDS);
    *release = median(freed, ROUNDS);
}

/* Small pieces of pinned memory, all live together before any goes. */
static void pinning(int64_t *allocate, int64_t *release)
{
    static void *pinned[ROUNDS];
    static int64_t freed[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin = now_ns();
        CHECK(cuMemHostAlloc(&pinned[i], 4096, 0));
        samples[i] = now_ns() - begin;
    }
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin = now_ns();
        CHECK(cuMemFreeHost(pinned[i]));
        freed[i] = now_ns() - begin;
    }
    *allocate = median(samples, ROUNDS);
    *release = median(freed, ROUNDS);
}

static void events(int64_t *record, int64_t *wait, int64_t *whole)
{
    static int64_t waited[ROUNDS], all[ROUNDS];
    CUevent event;
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING /* no timing */));
    for (int i = 0; i < ROUNDS; i++) {
        int64_t launched = now_ns();
        launch();
        int64_t begin = now_ns();
        CHECK(cuEventRecord(event, stream));
        int64_t middle = now_ns();
        CHECK(cuEventSynchronize(event));
        int64_t end = now_ns();
        waited[i] = end - middle;
        samples[i] = middle - begin;
        all[i] = end - launched;
    }
    *record = median(samples, ROUNDS);
    *wait = median(waited, ROUNDS);
    *whole = median(all, ROUNDS);
}

/* Gigabytes a second, the best of some copies after one that touches everything. */
static double rate(void *host, CUdeviceptr device, size_t bytes, int down)
{
    double best = 0;
    for (int i = 0; i <= COPIES; i++) {
        int64_t begin = now_ns();
        CHECK(down ? cuMemcpyDtoH_v2(host, device, bytes) : cuMemcpyHtoD_v2(device, host, bytes));
        double one = (double)bytes / (double)(now_ns() - begin);
        if (i > 0 && one > best)
            best = one;
    }
    return best;
}

static int64_t small_copy_ns(int down)
{
    char host[64] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin = now_ns();
        CHECK(down ? cuMemcpyDtoH_v2(host, cell, 4) : cuMemcpyHtoD_v2(cell, host, 4));
        samples[i] = now_ns() - begin;
    }
    return median(samples, ROUNDS);
}

/* Until it has arrived: the copy itself may return before. */
static int64_t part_up_ns(void)
{
    enum { PART = 512 << 10, TIMES = 200 };
    CUdeviceptr device;
    char *host = malloc(PART);
    if (!host)
        exit(1);
    memset(host, 1, PART);
    CHECK(cuMemAlloc_v2(&device, PART));
    for (int i = 0; i < TIMES; i++) {
        int64_t begin = now_ns();
        CHECK(cuMemcpyHtoD_v2(device, host, PART));
        CHECK(cuCtxSynchronize());
        samples[i] = now_ns() - begin;
    }
    CHECK(cuMemFree_v2(device));
    free(host);
    return median(samples, TIMES);
}

static void copies(size_t bytes)
{
    CUdeviceptr device;
    void *pinned, *pageable = malloc(bytes);
    if (!pageable)
        exit(1);
    memset(pageable, 1, bytes);
    CHECK(cuMemAlloc_v2(&device, bytes));
    CHECK(cuMemHostAlloc(&pinned, bytes, 0));
    memset(pinned, 2, bytes);
    printf(",\"pinnedUpGBs\":%.2f,\"pinnedDownGBs\":%.2f", rate(pinned, device, bytes, 0),
           rate(pinned, device, bytes, 1));
    printf(",\"pageableUpGBs\":%.2f,\"pageableDownGBs\":%.2f", rate(pageable, device, bytes, 0),
           rate(pageable, device, bytes, 1));
    printf(",\"partUpNs\":%lld", (long long)part_up_ns());
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFree_v2(device));
    free(pageable);
}

int main(int count, char **arguments)
{
    size_t mib = count > 1 ? strtoul(arguments[1], NULL, 10) : 256;
    int device;
    CUcontext context;
    CUmodule module;
    int64_t begin = now_ns();
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, KERNEL));
    CHECK(cuModuleGetFunction(&kernel, module, "touch"));
    CHECK(cuMemAlloc_v2(&cell, 4096));
    CHECK(cuMemsetD8Async(cell, 0, 4096, NULL));
    CHECK(cuStreamCreate(&stream, 1 /* non-blocking */));
    CHECK(cuCtxSynchronize());
    printf("{\"startMs\":%.1f", (double)(now_ns() - begin) / 1e6);
    launch_ns();
    printf(",\"launchNs\":%ld", launch_ns());
    printf(",\"sustainedLaunchNs\":%.0f", sustained_launch_ns());
    printf(",\"launchAndSynchroniseNs\":%ld", launch_and_synchronise_ns());
    printf(",\"idleSynchroniseNs\":%ld", idle_synchronise_ns());
    int64_t allocate, release, record, wait, whole, pin, unpin;
    allocation(&allocate, &release);
    pinning(&pin, &unpin);
    printf(",\"pinnedAllocateNs\":%ld,\"pinnedFreeNs\":%ld", pin, unpin);
    events(&record, &wait, &whole);
    printf(",\"allocateNs\":%ld,\"freeNs\":%ld,\"eventRecordNs\":%ld,\"eventSynchroniseNs\":%ld,\"launchToEventNs\":%ld",
           allocate, release, record, wait, whole);
    printf(",\"smallUpNs\":%ld,\"smallDownNs\":%ld", small_copy_ns(0), small_copy_ns(1));
    if (mib)
        copies(mib << 20);
    printf("}\n");
    return 0;
}
