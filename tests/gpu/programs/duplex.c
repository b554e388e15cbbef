/*
 * How fast memory leaves a GPU and comes in at the same time, in the ways in which it could be copied; one JSON object a
 * line on stdout.
 *
 *   duplex [MIB [WORDS]]    bytes each way (default 2048), of the ways in whose names the words are
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda_constants.h"
#include "driver.h"

extern int cuMemHostRegister_v2(void *, size_t, unsigned);
extern int cuMemHostUnregister(void *);
extern int cuStreamWaitEvent(CUstream, CUevent, unsigned);
extern int cuStreamDestroy_v2(CUstream);
extern int cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t, CUstream);
extern int cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);

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

enum { REGISTERED, DRIVERS, WRITE_COMBINED, KINDS }; /* registered: touched pages of our own, as backing is */
enum { CHUNK_MIB = 64, MOST_STREAMS = 4, REPEATS = 3, MOST_CHUNKS = 8192 };

struct way {
    const char *name;
    int in, out;
    int in_streams, out_streams; /* 0: one */
    size_t chunk_mib;            /* 0: CHUNK_MIB */
    int kind;                    /* of host memory */
    int lockstep;                /* a chunk leaves when the one before it has come in */
    int pages;                   /* changes that go on beside, of CHUNK_MIB each 1.2 ms, or as much in other sizes */
    int as_devices;              /* host memory is named by its device pointer */
    int blocks;      /* of a kernel that brings in what a copy engine brings in otherwise; 0: there is none */
    int parts;       /* of SHARES parts of a chunk that the kernel brings in, beside the engine; 0: all */
    size_t page_mib; /* size of what changes; 0: CHUNK_MIB */
};

enum {
    CREATE = 1,
    RELEASE = 2,
    PHYSICAL = CREATE | RELEASE,
    MAPPINGS = 4,
    MOST_HANDLES = 1024,
    RELEASED_GIB = 16,
    SHARES = 32
};

static const struct way ways[] = {
    {"in alone", .in = 1},
    {"out alone", .out = 1},
    {"both", .in = 1, .out = 1},
    {"both, memory of the driver", .in = 1, .out = 1, .kind = DRIVERS},
    {"both, write-combined memory of the driver", .in = 1, .out = 1, .kind = WRITE_COMBINED},
    {"both, 2 streams in", .in = 1, .out = 1, .in_streams = 2},
    {"both, 3 streams in", .in = 1, .out = 1, .in_streams = 3},
    {"both, 4 streams in", .in = 1, .out = 1, .in_streams = 4},
    {"both, 2 streams each", .in = 1, .out = 1, .in_streams = 2, .out_streams = 2},
    {"both, chunks of 8 MiB", .in = 1, .out = 1, .chunk_mib = 8},
    {"both, 4 streams in, chunks of 8 MiB", .in = 1, .out = 1, .in_streams = 4, .chunk_mib = 8},
    {"both, beside create and release", .in = 1, .out = 1, .pages = PHYSICAL},
    {"both, beside map, set access and unmap", .in = 1, .out = 1, .pages = MAPPINGS},
    {"both, beside all of these", .in = 1, .out = 1, .pages = PHYSICAL | MAPPINGS},
    {"in alone, beside all of these", .in = 1, .pages = PHYSICAL | MAPPINGS},
    {"both, beside create alone", .in = 1, .out = 1, .pages = CREATE},
    {"both, beside release alone", .in = 1, .out = 1, .pages = RELEASE},
    {"both, beside release alone, 16 MiB at once", .in = 1, .out = 1, .pages = RELEASE, .page_mib = 16},
    {"both, beside release alone, 256 MiB at once", .in = 1, .out = 1, .pages = RELEASE, .page_mib = 256},
    {"both, beside release alone, 1 GiB at once", .in = 1, .out = 1, .pages = RELEASE, .page_mib = 1024},
    {"both, 2 streams in, beside create and release", .in = 1, .out = 1, .in_streams = 2, .pages = PHYSICAL},
    {"both, 4 streams in, chunks of 8 MiB, beside create and release", .in = 1, .out = 1, .in_streams = 4,
     .chunk_mib = 8, .pages = PHYSICAL},
    {"both, as copies between devices", .in = 1, .out = 1, .as_devices = 1},
    {"both, as copies between devices, beside create and release", .in = 1, .out = 1, .pages = PHYSICAL, .as_devices = 1},
    {"in alone by a kernel of 16 blocks", .in = 1, .blocks = 16},
    {"in alone by a kernel of 64 blocks", .in = 1, .blocks = 64},
    {"both, in by a kernel of 16 blocks", .in = 1, .out = 1, .blocks = 16},
    {"both, in by a kernel of 64 blocks", .in = 1, .out = 1, .blocks = 64},
    {"both, in by a kernel of 16 blocks, beside create and release", .in = 1, .out = 1, .pages = PHYSICAL, .blocks = 16},
    {"both, in by a kernel of 64 blocks, beside create and release", .in = 1, .out = 1, .pages = PHYSICAL, .blocks = 64},
    {"both, in by a kernel of 64 blocks, beside all of these", .in = 1, .out = 1, .pages = PHYSICAL | MAPPINGS,
     .blocks = 64},
    {"both, 4/32 of in by a kernel of 4 blocks, beside create and release", .in = 1, .out = 1, .pages = PHYSICAL,
     .blocks = 4, .parts = 4},
    {"both, 6/32 of in by a kernel of 4 blocks, beside create and release", .in = 1, .out = 1, .pages = PHYSICAL,
     .blocks = 4, .parts = 6},
    {"both, 8/32 of in by a kernel of 4 blocks, beside create and release", .in = 1, .out = 1, .pages = PHYSICAL,
     .blocks = 4, .parts = 8},
    {"both, 4/32 of in by a kernel of 8 blocks, beside create and release", .in = 1, .out = 1, .pages = PHYSICAL,
     .blocks = 8, .parts = 4},
    {"both, 6/32 of in by a kernel of 8 blocks, beside create and release", .in = 1, .out = 1, .pages = PHYSICAL,
     .blocks = 8, .parts = 6},
    {"both, 8/32 of in by a kernel of 8 blocks, beside create and release", .in = 1, .out = 1, .pages = PHYSICAL,
     .blocks = 8, .parts = 8},
    {"both, 6/32 of in by a kernel of 16 blocks, beside create and release", .in = 1, .out = 1, .pages = PHYSICAL,
     .blocks = 16, .parts = 6},
    {"both, 4/32 of in by a kernel of 4 blocks", .in = 1, .out = 1, .blocks = 4, .parts = 4},
    {"both, 6/32 of in by a kernel of 8 blocks", .in = 1, .out = 1, .blocks = 8, .parts = 6},
    {"both, in step", .in = 1, .out = 1, .lockstep = 1},
    {"both, in step, chunks of 8 MiB", .in = 1, .out = 1, .chunk_mib = 8, .lockstep = 1},
    {"both, in step, 2 streams in, chunks of 8 MiB", .in = 1, .out = 1, .in_streams = 2, .chunk_mib = 8, .lockstep = 1},
};

/*
 * copy_in(to, from, quads): 16 bytes a load, four loads under way in a thread. Blocks of THREADS; the quads are a multiple of
 * four for each thread.
 */
enum { THREADS = 512 };
static const char copy_in_ptx[] =
    ".version 7.8\n.target sm_75\n.address_size 64\n"
    ".visible .entry copy_in(.param .u64 to, .param .u64 from, .param .u64 quads) {\n"
    ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<10>; .reg .b32 %a<16>;\n"
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %nctaid.x;\n"
    "mad.lo.u32 %r0, %r0, %r1, %r2; mul.lo.u32 %r3, %r3, %r1;\n"
    "cvt.u64.u32 %d0, %r0; cvt.u64.u32 %d1, %r3;\n"
    "ld.param.u64 %d2, [to]; ld.param.u64 %d3, [from]; ld.param.u64 %d4, [quads];\n"
    "cvta.to.global.u64 %d2, %d2; cvta.to.global.u64 %d3, %d3;\n"
    "shl.b64 %d5, %d1, 4; shl.b64 %d6, %d0, 4; add.u64 %d2, %d2, %d6; add.u64 %d3, %d3, %d6;\n"
    "NEXT:\n"
    "setp.ge.u64 %p, %d0, %d4; @%p bra DONE;\n"
    "add.u64 %d6, %d3, %d5; add.u64 %d7, %d6, %d5; add.u64 %d8, %d7, %d5;\n"
    "ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%d3]; ld.global.v4.b32 {%a4, %a5, %a6, %a7}, [%d6];\n"
    "ld.global.v4.b32 {%a8, %a9, %a10, %a11}, [%d7]; ld.global.v4.b32 {%a12, %a13, %a14, %a15}, [%d8];\n"
    "add.u64 %d3, %d8, %d5;\n"
    "add.u64 %d6, %d2, %d5; add.u64 %d7, %d6, %d5; add.u64 %d8, %d7, %d5;\n"
    "st.global.v4.b32 [%d2], {%a0, %a1, %a2, %a3}; st.global.v4.b32 [%d6], {%a4, %a5, %a6, %a7};\n"
    "st.global.v4.b32 [%d7], {%a8, %a9, %a10, %a11}; st.global.v4.b32 [%d8], {%a12, %a13, %a14, %a15};\n"
    "add.u64 %d2, %d8, %d5;\n"
    "shl.b64 %d9, %d1, 2; add.u64 %d0, %d0, %d9; bra NEXT;\n"
    "DONE: ret; }\n";
static CUfunction copy_in;

static char *host[KINDS][2]; /* for in and out */
static CUdeviceptr device[2];
static CUevent passed[MOST_CHUNKS];

static int pages_begun, pages_end;

/* What two clients that change places do with the pages of each chunk. */
static void *change_pages(void *way)
{
    const struct way *w = way;
    const int pages = w->pages;
    const size_t mib = w->page_mib ? w->page_mib : CHUNK_MIB, bytes = mib << 20;
    const struct properties properties = {.type = 1, .location_type = 1};
    const struct access access = {1, 0, 3};
    CUdeviceptr address;
    uint64_t handles[MOST_HANDLES];
    int count = (pages & PHYSICAL) == RELEASE ? (int)(RELEASED_GIB * 1024 / mib) : 1;
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
        usleep((unsigned)(1000 * mib / CHUNK_MIB));
    }
    while (count > 0)
        CHECK(cuMemRelease(handles[--count]));
    return NULL;
}

static int64_t until_idle(const CUstream *streams, int count, int64_t *first_ended_ns, const CUstream *others,
                          int others_count)
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

static void enter(const struct way *way, size_t at, size_t bytes, CUstream stream, CUstream kernels)
{
    const char *source = host[way->kind][0] + at;
    const size_t by_kernel = !way->blocks ? 0 : way->parts ? bytes / SHARES * (size_t)way->parts : bytes;
    const size_t by_engine = bytes - by_kernel;
    if (by_kernel) {
        CUdeviceptr to = device[0] + at + by_engine, from = (CUdeviceptr)(uintptr_t)source + by_engine;
        uint64_t quads = by_kernel / 16;
        void *arguments[] = {&to, &from, &quads};
        CHECK(cuLaunchKernel(copy_in, (unsigned)way->blocks, 1, 1, THREADS, 1, 1, 0, kernels, arguments, NULL));
    }
    if (by_engine && way->as_devices)
        CHECK(cuMemcpyDtoDAsync_v2(device[0] + at, (CUdeviceptr)(uintptr_t)source, by_engine, stream));
    else if (by_engine)
        CHECK(cuMemcpyHtoDAsync_v2(device[0] + at, source, by_engine, stream));
}

static void measure(const struct way *way, size_t bytes)
{
    CUstream in[MOST_STREAMS], out[MOST_STREAMS];
    const size_t chunk = (way->chunk_mib ? way->chunk_mib : CHUNK_MIB) << 20, chunks = bytes / chunk;
    const int engines = way->in_streams ? way->in_streams : 1, in_streams = engines + (way->parts != 0);
    const int out_streams = way->out_streams ? way->out_streams : 1;
    for (int i = 0; i < MOST_STREAMS; i++) {
        CHECK(cuStreamCreate(&in[i], CU_STREAM_NON_BLOCKING));
        CHECK(cuStreamCreate(&out[i], CU_STREAM_NON_BLOCKING));
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
            CUstream from = in[i % (size_t)engines], to = out[i % (size_t)out_streams];
            if (way->out && way->lockstep && i >= 2)
                CHECK(cuStreamWaitEvent(to, passed[i - 2], 0));
            if (way->out)
                leave(way, i * chunk, chunk, to);
            if (way->in)
                enter(way, i * chunk, chunk, from, in[in_streams - 1]);
            if (way->lockstep)
                CHECK(cuEventRecord(passed[i], from));
        }
        int64_t in_ended = until_idle(in, in_streams, &out_ended, out, out_streams);
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
    printf("{\"way\": \"%s\", \"total_ms\": %.2f, \"in_gb_per_s\": %.2f, \"out_gb_per_s\": %.2f}\n", way->name,
           total_ms, way->in ? (double)bytes / in_ms / 1e6 : 0.0, way->out ? (double)bytes / out_ms / 1e6 : 0.0);
    fflush(stdout);
    for (int i = 0; i < MOST_STREAMS; i++) {
        CHECK(cuStreamDestroy_v2(in[i]));
        CHECK(cuStreamDestroy_v2(out[i]));
    }
}

/* A kernel that copied wrong, or not all, would be fast. */
static void check_copy_in(size_t bytes, struct way way)
{
    const size_t chunk = 64 << 20;
    char *source = host[REGISTERED][0], *found = malloc(chunk);
    if (!found)
        exit(1);
    for (size_t i = 0; i < chunk; i++)
        source[bytes - chunk + i] = (char)(i * 31 + i / 4096);
    CHECK(cuMemsetD8_v2(device[0], 0, bytes));
    enter(&way, bytes - chunk, chunk, NULL, NULL);
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH_v2(found, device[0] + bytes - chunk, chunk));
    if (memcmp(found, source + bytes - chunk, chunk) != 0) {
        fprintf(stderr, "duplex: the kernel copied wrong\n");
        exit(1);
    }
    free(found);
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
        CHECK(cuEventCreate(&passed[i], CU_EVENT_DISABLE_TIMING)); /* without times */
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
    CUmodule module;
    CHECK(cuModuleLoadData(&module, copy_in_ptx));
    CHECK(cuModuleGetFunction(&copy_in, module, "copy_in"));
    check_copy_in(bytes, (struct way){.kind = REGISTERED, .blocks = 64});
    check_copy_in(bytes, (struct way){.kind = REGISTERED, .blocks = 8, .parts = 6});
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc < 3 || strstr(ways[i].name, argv[2]))
            measure(&ways[i], bytes);
    return 0;
}
