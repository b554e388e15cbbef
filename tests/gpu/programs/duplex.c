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
};

enum { PHYSICAL = 1, MAPPINGS = 2 };

static const struct way ways[] = {
    {"in alone", 1, 1, 64, REGISTERED, 0, 1, 0, 0},
    {"out alone", 1, 1, 64, REGISTERED, 0, 0, 1, 0},
    {"both", 1, 1, 64, REGISTERED, 0, 1, 1, 0},
    {"both, memory of the driver", 1, 1, 64, DRIVERS, 0, 1, 1, 0},
    {"both, write-combined memory of the driver", 1, 1, 64, WRITE_COMBINED, 0, 1, 1, 0},
    {"both, 2 streams in", 2, 1, 64, REGISTERED, 0, 1, 1, 0},
    {"both, 3 streams in", 3, 1, 64, REGISTERED, 0, 1, 1, 0},
    {"both, 4 streams in", 4, 1, 64, REGISTERED, 0, 1, 1, 0},
    {"both, 2 streams each", 2, 2, 64, REGISTERED, 0, 1, 1, 0},
    {"both, chunks of 8 MiB", 1, 1, 8, REGISTERED, 0, 1, 1, 0},
    {"both, 4 streams in, chunks of 8 MiB", 4, 1, 8, REGISTERED, 0, 1, 1, 0},
    {"both, beside create and release", 1, 1, 64, REGISTERED, 0, 1, 1, PHYSICAL},
    {"both, beside map, set access and unmap", 1, 1, 64, REGISTERED, 0, 1, 1, MAPPINGS},
    {"both, beside all of these", 1, 1, 64, REGISTERED, 0, 1, 1, PHYSICAL | MAPPINGS},
    {"in alone, beside all of these", 1, 1, 64, REGISTERED, 0, 1, 0, PHYSICAL | MAPPINGS},
    {"both, in step", 1, 1, 64, REGISTERED, 1, 1, 1, 0},
    {"both, in step, chunks of 8 MiB", 1, 1, 8, REGISTERED, 1, 1, 1, 0},
    {"both, in step, 2 streams in, chunks of 8 MiB", 2, 1, 8, REGISTERED, 1, 1, 1, 0},
};

static char *host[KINDS][2]; /* for in and out */
static CUdeviceptr device[2];
static CUevent passed[MOST_CHUNKS];

static int pages_end;

/* What two clients that change places do with the pages of each chunk. */
static void *change_pages(void *way)
{
    const int pages = ((const struct way *)way)->pages;
    const size_t bytes = 64 << 20;
    const struct properties properties = {.type = 1, .location_type = 1};
    const struct access access = {1, 0, 3};
    CUdeviceptr address;
    uint64_t handle;
    CHECK(cuMemAddressReserve(&address, bytes, 0, 0, 0));
    CHECK(cuMemCreate(&handle, bytes, &properties, 0));
    while (!__atomic_load_n(&pages_end, __ATOMIC_ACQUIRE)) {
        if (pages & MAPPINGS) {
            CHECK(cuMemMap(address, bytes, 0, handle, 0));
            CHECK(cuMemSetAccess(address, bytes, &access, 1));
            CHECK(cuMemUnmap(address, bytes));
        }
        if (pages & PHYSICAL) {
            CHECK(cuMemRelease(handle));
            CHECK(cuMemCreate(&handle, bytes, &properties, 0));
        }
        usleep(1000);
    }
    CHECK(cuMemRelease(handle));
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

static void measure(const struct way *way, size_t bytes)
{
    CUstream in[MOST_STREAMS], out[MOST_STREAMS];
    size_t chunk = way->chunk_mib << 20, chunks = bytes / chunk;
    for (int i = 0; i < MOST_STREAMS; i++) {
        CHECK(cuStreamCreate(&in[i], 1));
        CHECK(cuStreamCreate(&out[i], 1));
    }
    pthread_t changer;
    pages_end = 0;
    if (way->pages && pthread_create(&changer, NULL, change_pages, (void *)way) != 0)
        exit(1);
    double in_ms = 1e9, out_ms = 1e9, total_ms = 1e9;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        int64_t begun = now_ns(), out_ended;
        for (size_t i = 0; i < chunks; i++) {
            CUstream from = in[i % (size_t)way->in_streams], to = out[i % (size_t)way->out_streams];
            if (way->out && way->lockstep && i >= 2)
                CHECK(cuStreamWaitEvent(to, passed[i - 2], 0));
            if (way->out)
                CHECK(cuMemcpyDtoHAsync_v2(host[way->kind][1] + i * chunk, device[1] + i * chunk, chunk, to));
            if (way->in)
                CHECK(cuMemcpyHtoDAsync_v2(device[0] + i * chunk, host[way->kind][0] + i * chunk, chunk, from));
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
