/*
 * How fast memory leaves a GPU and comes in at the same time, in the ways in which it could be copied; one JSON object a
 * line on stdout.
 *
 *   duplex [MIB]    bytes each way (default 2048)
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

extern int cuMemHostRegister_v2(void *, size_t, unsigned);
extern int cuMemHostUnregister(void *);
extern int cuStreamWaitEvent(CUstream, CUevent, unsigned);
extern int cuStreamDestroy_v2(CUstream);
extern int cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t, CUstream);

struct properties { /* CUmemAllocationProp */
    int type, handle_types, location_type, location;
    void *windows;
    unsigned char flags[8];
};
struct access { /* CUmemAccessDesc */
    int location_type, location, flags;
};
extern int cuMemCreate(uint64_t *, size_t, const struct properties *, unsigned long long);
extern int cuMemRelease(uint64_t);
extern int cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
extern int cuMemMap(CUdeviceptr, size_t, size_t, uint64_t, unsigned long long);
extern int cuMemUnmap(CUdeviceptr, size_t);
extern int cuMemSetAccess(CUdeviceptr, size_t, const struct access *, size_t);

enum { DRIVERS, REGISTERED, WRITE_COMBINED, KINDS }; /* registered: touched pages of our own, as backing is */
enum { MOST_STREAMS = 4, REPEATS = 3, MOST_CHUNKS = 8192 };

struct way {
    const char *name;
    int in_streams, out_streams;
    size_t chunk_mib;
    int kind;       /* of host memory */
    int lockstep;   /* a chunk leaves when the one before it has come in */
    int in, out;
    int pages;      /* changes that go on beside, of one chunk each 1.2 ms */
    int as_devices; /* host memory is named by its device pointer */
};

enum { CREATE = 1, RELEASE = 2, PHYSICAL = CREATE | RELEASE, MAPPINGS = 4, MOST_HANDLES = 256 };

static const struct way ways[] = {
    {"in alone", 1, 1, 64, REGISTERED, 0, 1, 0, 0, 0},
    {"out alone", 1, 1, 64, REGISTERED, 0, 0, 1, 0, 0},
    {"both", 1, 1, 64, REGISTERED, 0, 1, 1, 0, 0},
    {"both, memory of the driver", 1, 1, 64, DRIVERS, 0, 1, 1, 0, 0},
    {"both, write-combined memory of the driver", 1, 1, 64, WRITE_COMBINED, 0, 1, 1, 0, 0},
    {"both, 2 streams in", 2, 1, 64, REGISTERED, 0, 1, 1, 0, 0},
    {"both, 3 streams in", 3, 1, 64, REGISTERED, 0, 1, 1, 0, 0},
    {"both, 4 streams in", 4, 1, 64, REGISTERED, 0, 1, 1, 0, 0},
    {"both, 2 streams each", 2, 2, 64, REGISTERED, 0, 1, 1, 0, 0},
    {"both, chunks of 8 MiB", 1, 1, 8, REGISTERED, 0, 1, 1, 0, 0},
    {"both, 4 streams in, chunks of 8 MiB", 4, 1, 8, REGISTERED, 0, 1, 1, 0, 0},
    {"both, beside create and release", 1, 1, 64, REGISTERED, 0, 1, 1, PHYSICAL, 0},
    {"both, beside map, set access and unmap", 1, 1, 64, REGISTERED, 0, 1, 1, MAPPINGS, 0},
    {"both, beside all of these", 1, 1, 64, REGISTERED, 0, 1, 1, PHYSICAL | MAPPINGS, 0},
    {"in alone, beside all of these", 1, 1, 64, REGISTERED, 0, 1, 0, PHYSICAL | MAPPINGS, 0},
    {"both, beside create alone", 1, 1, 64, REGISTERED, 0, 1, 1, CREATE, 0},
    {"both, beside release alone", 1, 1, 64, REGISTERED, 0, 1, 1, RELEASE, 0},
    {"both, 2 streams in, beside create and release", 2, 1, 64, REGISTERED, 0, 1, 1, PHYSICAL, 0},
    {"both, 4 streams in, chunks of 8 MiB, beside create and release", 4, 1, 8, REGISTERED, 0, 1, 1, PHYSICAL, 0},
    {"both, as copies between devices", 1, 1, 64, REGISTERED, 0, 1, 1, 0, 1},
    {"both, as copies between devices, beside create and release", 1, 1, 64, REGISTERED, 0, 1, 1, PHYSICAL, 1},
    {"both, in step", 1, 1, 64, REGISTERED, 1, 1, 1, 0, 0},
    {"both, in step, chunks of 8 MiB", 1, 1, 8, REGISTERED, 1, 1, 1, 0, 0},
    {"both, in step, 2 streams in, chunks of 8 MiB", 2, 1, 8, REGISTERED, 1, 1, 1, 0, 0},
};

static char *host[KINDS][2]; /* for in and out */
static CUdeviceptr device[2];
static CUevent passed[MOST_CHUNKS];

static int pages_begun, pages_end;

/* What two clients that change places do with the pages of each chunk. */
static void *change_pages(void *way)
{
    const int pages = ((const struct way *)way)->pages;
    const size_t bytes = 64 << 20;
    const struct properties properties = {.type = 1, .location_type = 1};
    const struct access access = {1, 0, 3};
    CUdeviceptr address;
    uint64_t handles[MOST_HANDLES];
    int count = (pages & PHYSICAL) == RELEASE ? MOST_HANDLES : 1;
    CHECK(cuMemAddressReserve(&address, bytes, 0, 0, 0));
    for (int i = 0; i < count; i++)
        CHECK(cuMemCreate(&handles[i], bytes, &properties, 0));
    __atomic_store_n(&pages_begun, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&pages_end, __ATOMIC_ACQUIRE)) {
        if (pages & MAPPINGS) {
            CHECK(cuMemMap(address, bytes, 0, handles[0], 0));
            CHECK(cuMemSetAccess(address, bytes, &access, 1));
            CHECK(cuMemUnmap(address, bytes));
        }
        if (pages & RELEASE && count > 0)
            CHECK(cuMemRelease(handles[--count]));
        if (pages & CREATE && count < MOST_HANDLES)
            CHECK(cuMemCreate(&handles[count++], bytes, &properties, 0));
        usleep(1000);
    }
    while (count > 0)
        CHECK(cuMemRelease(handles[--count]));
    return NULL;
}

static int64_t until_idle(const CUstream *streams, int count, int64_t *first_ended_ns, const CUstream *others, int others_count)
{
    int64_t ended = 0, others_ended = 0;
    while (!ended || !others_ended) {
        int busy = 0, others_busy = 0;
        for (int i = 0; i < count && !ended; i++)
            busy |= cuStreamQuery(streams[i]) != 0;
        for (int i = 0; i < others_count && !others_ended; i++)
            others_busy |= cuStreamQuery(others[i]) != 0;
        if (!busy && !ended)
            ended = now_ns();
        if (!others_busy && !others_ended)
            others_ended = now_ns();
    }
    *first_ended_ns = others_ended;
    return ended;
}

static void leave(const struct way *way, size_t at, size_t bytes, CUstream stream)
{
    char *target = host[way->kind][1] + at;
    if (way->as_devices)
        CHECK(cuMemcpyDtoDAsync_v2((CUdeviceptr)(uintptr_t)target, device[1] + at, bytes, stream));
    else
        CHECK(cuMemcpyDtoHAsync_v2(target, device[1] + at, bytes, stream));
}

static void enter(const struct way *way, size_t at, size_t bytes, CUstream stream)
{
    const char *source = host[way->kind][0] + at;
    if (way->as_devices)
        CHECK(cuMemcpyDtoDAsync_v2(device[0] + at, (CUdeviceptr)(uintptr_t)source, bytes, stream));
    else
        CHECK(cuMemcpyHtoDAsync_v2(device[0] + at, source, bytes, stream));
}

static void measure(const struct way *way, size_t bytes)
{
    CUstream in[MOST_STREAMS], out[MOST_STREAMS];
    size_t chunk = way->chunk_mib << 20, chunks = bytes / chunk;
    for (int i = 0; i < MOST_STREAMS; i++) {
        CHECK(cuStreamCreate(&in[i], 1));
        CHECK(cuStreamCreate(&out[i], 1));
    }
    pthread_t changer;
    pages_begun = pages_end = 0;
    if (way->pages && pthread_create(&changer, NULL, change_pages, (void *)way) != 0)
        exit(1);
    while (way->pages && !__atomic_load_n(&pages_begun, __ATOMIC_ACQUIRE))
        usleep(100);
    double in_ms = 1e9, out_ms = 1e9, total_ms = 1e9;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        int64_t begun = now_ns(), out_ended;
        for (size_t i = 0; i < chunks; i++) {
            CUstream from = in[i % (size_t)way->in_streams], to = out[i % (size_t)way->out_streams];
            if (way->out && way->lockstep && i >= 2)
                CHECK(cuStreamWaitEvent(to, passed[i - 2], 0));
            if (way->out)
                leave(way, i * chunk, chunk, to);
            if (way->in)
                enter(way, i * chunk, chunk, from);
            if (way->lockstep)
                CHECK(cuEventRecord(passed[i], from));
        }
        int64_t in_ended = until_idle(in, way->in_streams, &out_ended, out, way->out_streams);
        double spent = (double)(in_ended > out_ended ? in_ended - begun : out_ended - begun) / 1e6;
        if (spent < total_ms) {
            total_ms = spent;
            in_ms = (double)(in_ended - begun) / 1e6;
            out_ms = (double)(out_ended - begun) / 1e6;
        }
    }
    __atomic_store_n(&pages_end, 1, __ATOMIC_RELEASE);
    if (way->pages)
        pthread_join(changer, NULL);
    printf("{\"way\": \"%s\", \"total_ms\": %.2f, \"in_gb_per_s\": %.2f, \"out_gb_per_s\": %.2f}\n", way->name, total_ms,
           way->in ? (double)bytes / in_ms / 1e6 : 0.0, way->out ? (double)bytes / out_ms / 1e6 : 0.0);
    fflush(stdout);
    for (int i = 0; i < MOST_STREAMS; i++) {
        CHECK(cuStreamDestroy_v2(in[i]));
        CHECK(cuStreamDestroy_v2(out[i]));
    }
}

int main(int argc, char **argv)
{
    size_t mib = (size_t)(argc > 1 ? atol(argv[1]) : 2048);
    size_t bytes = mib << 20;
    if (mib == 0 || mib % 64 || mib > 8 * MOST_CHUNKS)
        return 2;
    int ordinal;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&ordinal, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, ordinal));
    CHECK(cuCtxSetCurrent(context));
    for (int i = 0; i < MOST_CHUNKS; i++)
        CHECK(cuEventCreate(&passed[i], 2)); /* without times */
    for (int i = 0; i < 2; i++) {
        CHECK(cuMemAlloc_v2(&device[i], bytes));
        CHECK(cuMemHostAlloc((void **)&host[DRIVERS][i], bytes, 0));
        CHECK(cuMemHostAlloc((void **)&host[WRITE_COMBINED][i], bytes, 4));
        host[REGISTERED][i] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (host[REGISTERED][i] == MAP_FAILED)
            return 1;
        madvise(host[REGISTERED][i], bytes, MADV_HUGEPAGE);
        memset(host[REGISTERED][i], 1, bytes);
        CHECK(cuMemHostRegister_v2(host[REGISTERED][i], bytes, 1));
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        measure(&ways[i], bytes);
    return 0;
}
