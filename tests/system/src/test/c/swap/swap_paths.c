/*
 * Memory of every path in use by several threads at once, with contents that are checked: whatever moves meanwhile, a
 * program must not see it.
 *     swap_paths KEY=VALUE...
 * ms (how long at least), threads, seed, slots (allocations per thread), largest (bytes of one), hold_us (how long a capture is
 * held open), careful (1: graphs are idle when they are destroyed, and their memory freed before: what the scripted
 * driver's own graph memory needs). Ends with "done CHECKS BURSTS REPLAYS"; the first wrong word ends it with 1.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

enum kind { NONE, LINEAR, PITCHED, ASYNC, POOLED, MAPPED, KINDS };
enum { MAX_SLOTS = 64, BURST = 6, GRAPHS = 3, GRAIN = 2 << 20 };

/* Kernels that the scripted driver knows by name, and a GPU by these instructions: the program runs on both. */
static const char image[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry scripted_fill(.param .u64 to, .param .u32 value, .param .u64 words)\n{\n"
    " .reg .pred %p;\n .reg .b32 %value, %lane, %lanes;\n .reg .b64 %to, %words, %at, %step, %offset, %place;\n"
    " ld.param.u64 %to, [to];\n ld.param.u32 %value, [value];\n ld.param.u64 %words, [words];\n"
    " cvta.to.global.u64 %to, %to;\n mov.u32 %lane, %tid.x;\n mov.u32 %lanes, %ntid.x;\n"
    " cvt.u64.u32 %at, %lane;\n cvt.u64.u32 %step, %lanes;\n"
    "NEXT:\n setp.ge.u64 %p, %at, %words;\n @%p bra DONE;\n"
    " shl.b64 %offset, %at, 2;\n add.u64 %place, %to, %offset;\n st.global.u32 [%place], %value;\n"
    " add.u64 %at, %at, %step;\n bra NEXT;\n"
    "DONE:\n ret;\n}\n"
    ".visible .entry scripted_sleep_us(.param .u64 us)\n{\n"
    " .reg .pred %p;\n .reg .b64 %ns, %begin, %now;\n"
    " ld.param.u64 %ns, [us];\n mul.lo.u64 %ns, %ns, 1000;\n mov.u64 %begin, %globaltimer;\n"
    "WAIT:\n mov.u64 %now, %globaltimer;\n sub.u64 %now, %now, %begin;\n setp.lt.u64 %p, %now, %ns;\n"
    " @%p bra WAIT;\n ret;\n}\n";

static long long ms = 2000, threads = 3, seed = 1, slots = 12, largest = 3 << 20, hold_us = 2000, careful;
static void *context, *sleeper, *filler, *pool;
static unsigned long checks, bursts, replays;

struct piece {
    enum kind kind;
    CUdeviceptr pointer;
    size_t bytes; /* what is filled */
    uint32_t value;
    void *stream;
};

struct graph {
    void *graph, *exec;
    uint32_t first, second;
    CUdeviceptr kept; /* allocated in the capture and not freed there; 0: none */
};

struct worker {
    unsigned id;
    uint64_t random;
    uint32_t values;
    void *streams[2];
    struct piece pieces[MAX_SLOTS];
    struct graph graphs[GRAPHS];
    CUdeviceptr results; /* two words per graph */
    uint32_t *host;      /* pinned */
};

static uint64_t next(struct worker *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random * 0x2545f4914f6cdd1dULL >> 16;
}

static uint32_t new_value(struct worker *w)
{
    return w->id << 24 | (++w->values & 0xffffff);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void launch(void *function, unsigned lanes, void **parameters, void *stream)
{
    OKAY(cuLaunchKernel(function, 1, 1, 1, lanes, 1, 1, 0, stream, parameters, NULL));
}

static void fill(CUdeviceptr pointer, uint32_t value, uint64_t words, void *stream)
{
    void *parameters[] = {&pointer, &value, &words};
    launch(filler, 256, parameters, stream);
}

static void sleep_on(void *stream, uint64_t us)
{
    void *parameters[] = {&us};
    launch(sleeper, 1, parameters, stream);
}

static void map(struct piece *p)
{
    struct call_allocation_properties properties = {.type = 1, .location = {1, 0}};
    struct call_access access = {{1, 0}, 3};
    void *handle;
    OKAY(cuMemAddressReserve(&p->pointer, GRAIN, 0, 0, 0));
    OKAY(cuMemCreate(&handle, GRAIN, &properties, 0));
    OKAY(cuMemMap(p->pointer, GRAIN, 0, handle, 0));
    OKAY(cuMemSetAccess(p->pointer, GRAIN, &access, 1));
    OKAY(cuMemRelease(handle));
    p->bytes = GRAIN;
}

static void make(struct worker *w, struct piece *p)
{
    size_t pitch, limit = next(w) % 4 ? 64 << 10 : (size_t)largest;
    p->kind = 1 + (enum kind)(next(w) % (KINDS - 1));
    p->bytes = (next(w) % limit / 4 + 1) * 4;
    p->stream = w->streams[next(w) % 2];
    p->value = new_value(w);
    if (p->kind == LINEAR)
        OKAY(cuMemAlloc_v2(&p->pointer, p->bytes));
    else if (p->kind == PITCHED) {
        OKAY(cuMemAllocPitch_v2(&p->pointer, &pitch, p->bytes < 4096 ? p->bytes : 4096, 4, 4));
        p->bytes = pitch * 4;
    } else if (p->kind == ASYNC)
        OKAY(cuMemAllocAsync(&p->pointer, p->bytes, p->stream));
    else if (p->kind == POOLED)
        OKAY(cuMemAllocFromPoolAsync(&p->pointer, p->bytes, pool, p->stream));
    else
        map(p);
    fill(p->pointer, p->value, p->bytes / 4, p->stream);
}

static void verify(struct worker *w, struct piece *p)
{
    size_t words = p->bytes / 4, count = words < 1024 ? words : 1024, at[3] = {0, words - count, 0};
    at[2] = next(w) % (words - count + 1);
    for (int i = 0; i < 3; i++)
        OKAY(cuMemcpyDtoHAsync_v2(w->host + i * 1024, p->pointer + at[i] * 4, count * 4, p->stream));
    OKAY(cuStreamSynchronize(p->stream));
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < count; k++)
            if (w->host[i * 1024 + k] != p->value) {
                fprintf(stderr, "thread %u, kind %d, %zu bytes: word %zu is %#x, not %#x\n", w->id, p->kind, p->bytes,
                        at[i] + k, w->host[i * 1024 + k], p->value);
                exit(1);
            }
    __atomic_fetch_add(&checks, 1, __ATOMIC_RELAXED);
}

static void unmake(struct worker *w, struct piece *p)
{
    if (p->kind == MAPPED) {
        OKAY(cuStreamSynchronize(p->stream));
        OKAY(cuMemUnmap(p->pointer, GRAIN));
        OKAY(cuMemAddressFree(p->pointer, GRAIN));
    } else if (next(w) % 3 == 0) {
        OKAY(cuMemFree_v2(p->pointer));
    } else if (next(w) % 2) {
        OKAY(cuMemFreeAsync(p->pointer, p->stream));
    } else { /* in another stream's order */
        OKAY(cuStreamSynchronize(p->stream));
        OKAY(cuMemFreeAsync(p->pointer, w->streams[p->stream == w->streams[0]]));
    }
    p->kind = NONE;
}

/* Memory that is freed and allocated again before the work on it has run, in two streams at once. */
static void burst(struct worker *w)
{
    uint32_t values[2 * BURST];
    for (int i = 0; i < 2 * BURST; i++) {
        void *stream = w->streams[i % 2];
        size_t bytes = 4096 + next(w) % 4 * 1024;
        CUdeviceptr p;
        values[i] = new_value(w);
        OKAY(cuMemAllocAsync(&p, bytes, stream));
        fill(p, values[i], bytes / 4, stream);
        sleep_on(stream, next(w) % 300);
        OKAY(cuMemcpyDtoHAsync_v2(w->host + i, p + bytes - 4, 4, stream));
        OKAY(cuMemFreeAsync(p, stream));
    }
    OKAY(cuStreamSynchronize(w->streams[0]));
    OKAY(cuStreamSynchronize(w->streams[1]));
    for (int i = 0; i < 2 * BURST; i++)
        EQUAL(values[i], w->host[i]);
    __atomic_fetch_add(&bursts, 1, __ATOMIC_RELAXED);
}

/* A capture that lasts, so that turns end while it is open, and whose memory is its own. */
static void record(struct worker *w, struct graph *g, CUdeviceptr results)
{
    void *stream = w->streams[0];
    CUdeviceptr a, b, c;
    size_t bytes = 8192 + next(w) % 3 * 4096;
    g->first = new_value(w);
    g->second = new_value(w);
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OKAY(cuMemAllocAsync(&a, bytes, stream));
    fill(a, g->first, bytes / 4, stream);
    OKAY(cuMemAllocAsync(&b, bytes, stream));
    OKAY(cuMemcpyDtoDAsync_v2(b, a, bytes, stream));
    usleep((useconds_t)(next(w) % (uint64_t)hold_us));
    OKAY(cuMemFreeAsync(a, stream));
    OKAY(cuMemAllocAsync(&c, bytes, stream)); /* may be the place of a */
    fill(c, g->second, bytes / 4, stream);
    OKAY(cuMemcpyDtoDAsync_v2(results, b + bytes - 4, 4, stream));
    OKAY(cuMemcpyDtoDAsync_v2(results + 4, c + bytes - 4, 4, stream));
    OKAY(cuMemFreeAsync(b, stream));
    g->kept = next(w) % 2 ? c : 0;
    if (!g->kept)
        OKAY(cuMemFreeAsync(c, stream));
    OKAY(cuStreamEndCapture(stream, &g->graph));
    OKAY(cuGraphInstantiateWithFlags(&g->exec, g->graph, 1)); /* what it has not freed is freed at its next launch */
}

static void replay(struct worker *w, struct graph *g, CUdeviceptr results)
{
    void *stream = w->streams[0];
    OKAY(cuMemsetD32Async(results, 0, 2, stream));
    OKAY(cuGraphLaunch(g->exec, stream));
    OKAY(cuMemcpyDtoHAsync_v2(w->host, results, 8, stream));
    if (g->kept)
        OKAY(cuMemcpyDtoHAsync_v2(w->host + 2, g->kept, 4, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(g->first, w->host[0]);
    EQUAL(g->second, w->host[1]);
    if (g->kept)
        EQUAL(g->second, w->host[2]);
    __atomic_fetch_add(&replays, 1, __ATOMIC_RELAXED);
}

/* Sometimes while its last launch still runs, and sometimes before what it left is freed. */
static void drop(struct worker *w, struct graph *g)
{
    uint64_t order = careful ? 1 : next(w) % 2;
    OKAY(cuGraphLaunch(g->exec, w->streams[0]));
    if (careful)
        OKAY(cuStreamSynchronize(w->streams[0]));
    if (g->kept && order)
        OKAY(cuMemFreeAsync(g->kept, w->streams[0]));
    OKAY(cuGraphExecDestroy(g->exec));
    OKAY(cuGraphDestroy(g->graph));
    if (g->kept && !order) {
        OKAY(cuMemcpyDtoHAsync_v2(w->host, g->kept, 4, w->streams[0]));
        OKAY(cuMemFreeAsync(g->kept, w->streams[0]));
        OKAY(cuStreamSynchronize(w->streams[0]));
        EQUAL(g->second, w->host[0]);
    }
    g->exec = NULL;
}

static void step(struct worker *w)
{
    uint64_t what = next(w) % 16;
    struct piece *p = &w->pieces[next(w) % (uint64_t)slots];
    int i = (int)(next(w) % GRAPHS);
    struct graph *g = &w->graphs[i];
    if (what == 0)
        burst(w);
    else if (what == 1 && !g->exec)
        record(w, g, w->results + 8 * (CUdeviceptr)i);
    else if (what == 1 && next(w) % 4 == 0)
        drop(w, g);
    else if (what <= 3 && g->exec)
        replay(w, g, w->results + 8 * (CUdeviceptr)i);
    else if (p->kind == NONE)
        make(w, p);
    else if (what < 9)
        verify(w, p);
    else if (what < 12)
        fill(p->pointer, p->value = new_value(w), p->bytes / 4, p->stream);
    else {
        verify(w, p);
        unmake(w, p);
    }
}

/* On a busy machine the time may not be enough for each once. */
static int everything_seen(void)
{
    return __atomic_load_n(&checks, __ATOMIC_RELAXED) && __atomic_load_n(&bursts, __ATOMIC_RELAXED) &&
           __atomic_load_n(&replays, __ATOMIC_RELAXED);
}

static void *work(void *argument)
{
    struct worker *w = argument;
    uint64_t end = now_ns() + (uint64_t)ms * 1000000;
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&w->streams[0], CU_STREAM_NON_BLOCKING));
    OKAY(cuStreamCreate(&w->streams[1], CU_STREAM_NON_BLOCKING));
    OKAY(cuMemHostAlloc((void **)&w->host, 3 * 4096, 0));
    OKAY(cuMemAlloc_v2(&w->results, 8 * GRAPHS));
    while (now_ns() < end || !everything_seen())
        step(w);
    for (int i = 0; i < GRAPHS; i++)
        if (w->graphs[i].exec) {
            replay(w, &w->graphs[i], w->results + 8 * (CUdeviceptr)i);
            drop(w, &w->graphs[i]);
        }
    for (int i = 0; i < slots; i++)
        if (w->pieces[i].kind) {
            verify(w, &w->pieces[i]);
            unmake(w, &w->pieces[i]);
        }
    OKAY(cuMemFree_v2(w->results));
    OKAY(cuStreamSynchronize(w->streams[0]));
    OKAY(cuStreamSynchronize(w->streams[1]));
    OKAY(cuStreamDestroy_v2(w->streams[0]));
    OKAY(cuStreamDestroy_v2(w->streams[1]));
    return NULL;
}

static void read_arguments(int argc, char **argv)
{
    struct {
        const char *key;
        long long *value;
    } const keys[] = {{"ms", &ms},           {"threads", &threads}, {"seed", &seed},      {"slots", &slots},
                      {"largest", &largest}, {"hold_us", &hold_us}, {"careful", &careful}};
    for (int i = 1; i < argc; i++) {
        char *equal = strchr(argv[i], '=');
        size_t k = 0;
        CHECK(equal);
        *equal = 0;
        while (k < sizeof keys / sizeof keys[0] && strcmp(keys[k].key, argv[i]) != 0)
            k++;
        CHECK(k < sizeof keys / sizeof keys[0]);
        *keys[k].value = atoll(equal + 1);
    }
    CHECK(threads <= 16 && slots <= MAX_SLOTS && hold_us > 0);
}

/* All that came from pools has gone back. */
static void nothing_used(void)
{
    void *standard;
    uint64_t used = 1;
    OKAY(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EQUAL(0, used);
    OKAY(cuDeviceGetDefaultMemPool(&standard, 0));
    OKAY(cuMemPoolGetAttribute(standard, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EQUAL(0, used);
}

int main(int argc, char **argv)
{
    static struct worker workers[16];
    pthread_t ids[16];
    void *module;
    struct call_pool_properties properties = {.allocation_type = 1, .location = {1, 0}};
    read_arguments(argc, argv);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, image));
    OKAY(cuModuleGetFunction(&sleeper, module, "scripted_sleep_us"));
    OKAY(cuModuleGetFunction(&filler, module, "scripted_fill"));
    OKAY(cuMemPoolCreate(&pool, &properties));
    uint64_t threshold = 1 << 20;
    OKAY(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    for (unsigned i = 0; i < threads; i++) {
        workers[i].id = i + 1;
        workers[i].random = (uint64_t)seed * 0x9e3779b97f4a7c15ULL + i + 1;
        EQUAL(0, pthread_create(&ids[i], NULL, work, &workers[i]));
    }
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    OKAY(cuCtxSynchronize());
    if (getenv("TESSERA_PLAN")) /* natively a pool still counts hundreds of MB here, trimmed or not (driver 580) */
        nothing_used();
    OKAY(cuMemPoolDestroy(pool));
    printf("done %lu %lu %lu\n", checks, bursts, replays);
    return 0;
}
