/*
 * Plan swap beside cuMemAlloc (stream-ordered memory, captures, what cannot move), and plan managed's prefetch: one
 * situation after the other, each in a process of its own:
 *     swap_pools CASE
 * with the manager of residency_manager.h, which takes all memory away between the steps. The device has 256 MiB.
 */
#include "cuda_calls.h"
#include "residency_manager.h"

#define MIB (1ULL << 20)
#define CAPACITY (192 * MIB)

enum { REUSE_OPPORTUNISTIC = 2, REUSE_DEPENDENCIES = 3, THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH = 6, USED = 7, USED_HIGH = 8 };

static void *context, *filler, *stream, *other;
static CUdeviceptr word; /* streams are held up by waiting for it */
static uint32_t holds;

static void evict(void)
{
    manager_order(TESSERA_TURN_CLOSED);
    manager_await_ack(TESSERA_ACK_CLOSED);
    manager_target(0);
    manager_await_resident(0);
}

static void bring_back(void)
{
    manager_target(CAPACITY);
    manager_order(TESSERA_TURN_GRANTED);
    manager_await_ack(TESSERA_ACK_OPEN);
}

static void move(void)
{
    evict();
    bring_back();
}

static void begin(void)
{
    void *module, *host;
    manager_start();
    OKAY(cuInit(0));
    manager_words()->pinned_target = manager_words()->pageable_target = 512 * MIB;
    manager_words()->capacity_bytes = CAPACITY;
    manager_words()->resident_target = CAPACITY;
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&filler, module, "scripted_fill"));
    OKAY(cuStreamCreate(&stream, 1));
    OKAY(cuStreamCreate(&other, 1));
    OKAY(cuMemHostAlloc(&host, 4096, 2));
    OKAY(cuMemHostGetDevicePointer_v2(&word, host, 0));
    bring_back();
}

static void hold(void *on)
{
    OKAY(cuStreamWaitValue32_v2(on, word, ++holds, 0));
}

static void let_go(void)
{
    __atomic_store_n((uint32_t *)(uintptr_t)word, holds, __ATOMIC_RELEASE);
}

static void fill(CUdeviceptr p, uint32_t value, uint64_t bytes, void *on)
{
    uint64_t words = bytes / 4;
    void *parameters[] = {&p, &value, &words};
    OKAY(cuLaunchKernel(filler, 1, 1, 1, 1, 1, 1, 0, on, parameters, NULL));
}

static void has(CUdeviceptr p, uint32_t value, uint64_t bytes)
{
    uint32_t first = ~value, last = ~value;
    OKAY(cuMemcpyDtoH_v2(&first, p, 4));
    OKAY(cuMemcpyDtoH_v2(&last, p + bytes - 4, 4));
    EQUAL(value, first);
    EQUAL(value, last);
}

static CUdeviceptr allocate(uint64_t bytes, void *on)
{
    CUdeviceptr p = 0;
    OKAY(cuMemAllocAsync(&p, bytes, on));
    return p;
}

static uint64_t attribute(void *pool, int which)
{
    uint64_t value = ~0ULL;
    OKAY(cuMemPoolGetAttribute(pool, which, &value));
    return value;
}

static void *standard(void)
{
    void *pool;
    OKAY(cuDeviceGetDefaultMemPool(&pool, 0));
    return pool;
}

/* Neither allocating nor freeing waits for the stream, and memory comes round in its order. */
static void order(void)
{
    hold(stream);
    CUdeviceptr first = allocate(MIB, stream), p = first;
    for (int i = 0; i < 200; i++) {
        fill(p, (uint32_t)i, MIB, stream);
        OKAY(cuMemFreeAsync(p, stream));
        p = allocate(MIB, stream);
        EQUAL(first, p);
    }
    CUdeviceptr q = allocate(MIB, other); /* while the free of nothing is complete */
    CHECK(q != p);
    OKAY(cuMemFreeAsync(p, stream));
    CUdeviceptr r = allocate(MIB, other);
    CHECK(r != p && r != q);
    uint64_t used = attribute(standard(), USED);
    EQUAL(2 * MIB, used);
    CHECK(attribute(standard(), RESERVED) >= 3 * MIB); /* p is free only when the stream comes there */
    fill(q, 7, MIB, other);
    let_go();
    OKAY(cuStreamSynchronize(stream));
    EQUAL(used, attribute(standard(), RESERVED)); /* the threshold is 0 */
    move();
    has(q, 7, MIB);
    EQUAL(1, cuMemFreeAsync(p, stream));
    OKAY(cuMemFreeAsync(q, stream)); /* by another stream */
    OKAY(cuMemFree_v2(r));
    EQUAL(1, cuMemFree_v2(r));
    EQUAL(1, cuMemFreeAsync(q, stream));
    OKAY(cuCtxSynchronize());
    EQUAL(0, attribute(standard(), USED));
    EQUAL(0, attribute(standard(), RESERVED));
    EQUAL(2 * MIB, attribute(standard(), USED_HIGH));
}

/* What other streams may have: nothing before the free is complete; then what the pool allows. */
static void reuse(void)
{
    struct call_pool_properties properties = {.allocation_type = 1, .location = {1, 0}, .max_bytes = 3 * MIB};
    uint64_t keep = 64 * MIB;
    int no = 0;
    void *pool;
    CUdeviceptr p, q, r;
    OKAY(cuMemPoolCreate(&pool, &properties));
    OKAY(cuMemPoolSetAttribute(pool, THRESHOLD, &keep));
    EQUAL(keep, attribute(pool, THRESHOLD));
    OKAY(cuMemAllocFromPoolAsync(&p, 2 * MIB, pool, stream));
    fill(p, 1, 2 * MIB, stream);
    hold(stream);
    OKAY(cuMemFreeAsync(p, stream));
    OKAY(cuMemPoolSetAttribute(pool, REUSE_DEPENDENCIES, &no));
    EQUAL(2, cuMemAllocFromPoolAsync(&q, 2 * MIB, pool, other)); /* more than the pool may hold */
    int yes = 1;
    OKAY(cuMemPoolSetAttribute(pool, REUSE_DEPENDENCIES, &yes));
    OKAY(cuMemAllocFromPoolAsync(&q, 2 * MIB, pool, other)); /* its work waits for the other stream's */
    EQUAL(p, q);
    fill(q, 2, 2 * MIB, other);
    EQUAL(600, cuStreamQuery(other));
    let_go();
    OKAY(cuStreamSynchronize(other));
    has(q, 2, 2 * MIB);
    OKAY(cuMemFreeAsync(q, other));
    OKAY(cuStreamSynchronize(other));
    EQUAL(2 * MIB, attribute(pool, RESERVED)); /* below the threshold */
    OKAY(cuMemPoolSetAttribute(pool, REUSE_OPPORTUNISTIC, &no));
    OKAY(cuMemAllocFromPoolAsync(&r, MIB, pool, stream));
    CHECK(r != q);
    OKAY(cuMemFreeAsync(r, stream));
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuMemPoolTrimTo(pool, 0));
    EQUAL(0, attribute(pool, RESERVED));
    CHECK(attribute(pool, RESERVED_HIGH) == 3 * MIB);
    uint64_t zero = 0;
    OKAY(cuMemPoolSetAttribute(pool, RESERVED_HIGH, &zero));
    EQUAL(0, attribute(pool, RESERVED_HIGH));
    OKAY(cuMemAllocFromPoolAsync(&r, MIB, pool, stream));
    OKAY(cuMemPoolDestroy(pool)); /* what it gave out lives on */
    fill(r, 3, MIB, stream);
    move();
    has(r, 3, MIB);
    OKAY(cuMemFreeAsync(r, stream));
    OKAY(cuCtxSynchronize());
    EQUAL(1, cuMemAllocFromPoolAsync(&r, MIB, pool, stream));
}

static void *per_thread(void *result)
{
    CUdeviceptr p, q;
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuMemAllocAsync_ptsz(&p, MIB, NULL));
    OKAY(cuMemFreeAsync_ptsz(p, NULL));
    OKAY(cuMemAllocAsync_ptsz(&q, MIB, NULL)); /* its own stream's, at once */
    EQUAL(p, q);
    OKAY(cuStreamWaitValue32_v2_ptsz(NULL, word, holds, 0));
    OKAY(cuMemFreeAsync_ptsz(q, NULL));
    *(CUdeviceptr *)result = q;
    return NULL;
}

/* Default streams of two threads are two streams, and a stream that is destroyed is none of the next. */
static void streams(void)
{
    CUdeviceptr theirs, mine;
    uint64_t keep = 64 * MIB;
    pthread_t thread;
    void *brief;
    OKAY(cuMemPoolSetAttribute(standard(), THRESHOLD, &keep));
    holds++;
    OKAY(pthread_create(&thread, NULL, per_thread, &theirs));
    OKAY(pthread_join(thread, NULL));
    OKAY(cuMemAllocAsync_ptsz(&mine, MIB, NULL));
    CHECK(mine != theirs);
    let_go();
    OKAY(cuMemFreeAsync_ptsz(mine, NULL));
    OKAY(cuCtxSynchronize());
    OKAY(cuMemPoolTrimTo(standard(), 0));
    EQUAL(0, attribute(standard(), RESERVED));
    OKAY(cuStreamCreate(&brief, 1));
    CUdeviceptr p = allocate(MIB, brief);
    hold(brief);
    OKAY(cuMemFreeAsync(p, brief));
    OKAY(cuStreamDestroy_v2(brief)); /* its work goes on */
    for (int i = 0; i < 8; i++) {
        OKAY(cuStreamCreate(&brief, 1));
        CHECK(allocate(MIB, brief) != p);
    }
    let_go();
    OKAY(cuCtxSynchronize());
    EQUAL(8 * MIB, attribute(standard(), USED));
}

static void *begin_capture(void *on)
{
    OKAY(cuStreamBeginCapture_v2(on, 0));
    return on;
}

static void *end_capture(void *on, void **graph)
{
    void *exec;
    OKAY(cuStreamEndCapture(on, graph));
    OKAY(cuGraphInstantiateWithFlags(&exec, *graph, 0));
    return exec;
}

static void await_free(uint64_t most)
{
    for (uint64_t until = manager_now_ns() + 30000000000ULL; manager_read(&manager_segment->devices[0].used_bytes) > most;
         manager_pause_us(200)) {
        OKAY(cuCtxSynchronize());
        CHECK(manager_now_ns() < until);
    }
}

/* Memory of a capture: one place in the order of the stream, moved like other memory, gone with the graph. */
static void captures(void)
{
    void *graph, *second, *exec, *later;
    int result = -1;
    CUdeviceptr plain = allocate(4096, stream), out;
    OKAY(cuMemAlloc_v2(&out, 8));
    uint64_t before = manager_segment->devices[0].used_bytes;
    begin_capture(stream);
    CUdeviceptr a = allocate(MIB, stream);
    fill(a, 5, MIB, stream);
    OKAY(cuMemcpyDtoDAsync_v2(out, a + MIB - 4, 4, stream));
    OKAY(cuMemFreeAsync(a, stream));
    EQUAL(1, cuMemFreeAsync(a, stream));
    EQUAL(1, cuMemFreeAsync(plain, stream)); /* not of this graph */
    CUdeviceptr b = allocate(MIB, stream), c = allocate(MIB, stream);
    EQUAL(a, b); /* free by then */
    CHECK(c != b);
    fill(b, 6, MIB, stream);
    fill(c, 9, MIB, stream);
    OKAY(cuMemcpyDtoDAsync_v2(out + 4, b, 4, stream));
    OKAY(cuMemFreeAsync(b, stream));
    exec = end_capture(stream, &graph);
    for (int i = 0; i < 3; i++) {
        uint32_t got[2] = {0, 0};
        move();
        OKAY(cuMemsetD8_v2(out, 0, 8));
        OKAY(cuGraphLaunch(exec, stream));
        OKAY(cuStreamSynchronize(stream));
        OKAY(cuMemcpyDtoH_v2(got, out, 8));
        EQUAL(5, got[0]);
        EQUAL(6, got[1]);
        has(c, 9, MIB); /* left to the program */
    }
    begin_capture(stream);
    CUdeviceptr d = allocate(MIB, stream);
    CHECK(d != a && d != c);
    fill(d, 1, MIB, stream);
    OKAY(cuMemFreeAsync(d, stream));
    later = end_capture(stream, &second);
    EQUAL(910, cuGraphExecUpdate(exec, second, NULL, &result)); /* whose memory would be gone with the second graph */
    EQUAL(6, result);
    OKAY(cuGraphExecDestroy(later));
    OKAY(cuGraphDestroy(second));
    await_free(before + 2 * MIB);
    OKAY(cuGraphDestroy(graph));
    OKAY(cuGraphLaunch(exec, stream));
    OKAY(cuGraphExecDestroy(exec));
    await_free(before + MIB);
    move();
    has(c, 9, MIB); /* outlives the graph, since it was not freed */
    OKAY(cuMemFreeAsync(c, stream));
    OKAY(cuCtxSynchronize());
    EQUAL(before, manager_segment->devices[0].used_bytes);
}

/* While a stream is captured cuMemFree of other memory waits for nothing, and the capture goes on. */
static void capture_beside(void)
{
    void *graph;
    CUdeviceptr p, q;
    OKAY(cuMemAlloc_v2(&p, MIB));
    q = allocate(MIB, other);
    uint64_t before = manager_segment->devices[0].used_bytes;
    OKAY(cuStreamBeginCapture_v2(stream, 2));
    CUdeviceptr a = allocate(MIB, stream);
    fill(a, 1, MIB, stream);
    OKAY(cuMemFree_v2(p));
    OKAY(cuMemFree_v2(q));
    EQUAL(1, cuMemFree_v2(p));
    EQUAL(1, cuMemFree_v2(q));
    OKAY(cuMemFreeAsync(a, stream));
    OKAY(cuStreamEndCapture(stream, &graph));
    OKAY(cuGraphDestroy(graph));
    await_free(before - 2 * MIB);
    move();
    EQUAL(0, manager_words()->needed_bytes % (2 * MIB));
}

/* What the driver holds: arrays, pools that can be exported, graph nodes. */
static void fixed(void)
{
    struct call_array description = {1 << 18, 0, 0x20, 1};
    struct call_pool_properties properties = {.allocation_type = 1, .handle_types = 1, .location = {1, 0}};
    struct call_alloc_node node = {.pool = {.allocation_type = 1, .location = {1, 0}}, .bytes = 4 * MIB};
    void *array, *pool, *graph, *at;
    CUdeviceptr p;
    OKAY(cuArrayCreate_v2(&array, &description));
    EQUAL(MIB, manager_words()->fixed_bytes);
    OKAY(cuMemPoolCreate(&pool, &properties));
    OKAY(cuMemAllocFromPoolAsync(&p, 2 * MIB, pool, stream));
    EQUAL(3 * MIB, manager_words()->fixed_bytes);
    OKAY(cuGraphCreate(&graph, 0));
    OKAY(cuGraphAddMemAllocNode(&at, graph, NULL, 0, &node));
    fill(p, 4, 2 * MIB, stream);
    evict(); /* counted when a turn ends */
    EQUAL(7 * MIB, manager_words()->fixed_bytes);
    bring_back();
    has(p, 4, 2 * MIB);
    OKAY(cuGraphDestroy(graph));
    OKAY(cuMemFreeAsync(p, stream));
    OKAY(cuArrayDestroy(array));
    move();
    EQUAL(0, manager_words()->fixed_bytes);
}

/* Legacy IPC cannot be had for mapped memory: refused once, and what comes after is plain. */
static void ipc(void)
{
    CUdeviceptr p, q;
    CUipcMemHandle handle;
    OKAY(cuMemAlloc_v2(&p, MIB));
    fill(p, 3, MIB, stream);
    EQUAL(1, cuIpcGetMemHandle(&handle, p));
    OKAY(cuMemAlloc_v2(&q, MIB));
    OKAY(cuIpcGetMemHandle(&handle, q));
    CUdeviceptr r = allocate(MIB, stream);
    fill(r, 8, MIB, stream);
    move();
    has(p, 3, MIB);
    has(r, 8, MIB);
    CHECK(manager_words()->fixed_bytes >= 2 * MIB);
    OKAY(cuMemFree_v2(p));
    OKAY(cuMemFree_v2(q));
    OKAY(cuMemFreeAsync(r, stream));
}

static uint64_t peers_access(CUdeviceptr p)
{
    unsigned long long flags = 9;
    struct call_location second = {1, 1};
    OKAY(cuMemGetAccess(&flags, &second, p));
    return flags;
}

/* The second of two devices may use the first one's memory as long as a context or a pool of the program's says so. */
static void peers(void)
{
    struct call_access allowed = {{1, 1}, 3}, denied = {{1, 1}, 0};
    void *second;
    CUdeviceptr p, q;
    OKAY(cuMemAlloc_v2(&p, 2 * MIB));
    q = allocate(2 * MIB, stream);
    EQUAL(0, peers_access(p));
    OKAY(cuDevicePrimaryCtxRetain(&second, 1));
    OKAY(cuCtxPushCurrent_v2(second));
    OKAY(cuCtxEnablePeerAccess(context, 0));
    OKAY(cuCtxPopCurrent_v2(&second));
    EQUAL(3, peers_access(p));
    OKAY(cuMemPoolSetAccess(standard(), &allowed, 1));
    OKAY(cuCtxPushCurrent_v2(second));
    OKAY(cuCtxDisablePeerAccess(context));
    OKAY(cuCtxPopCurrent_v2(&second));
    EQUAL(3, peers_access(q)); /* the pool's is left */
    move();
    EQUAL(3, peers_access(q));
    CUdeviceptr r = allocate(4 * MIB, stream);
    EQUAL(3, peers_access(r));
    OKAY(cuMemPoolSetAccess(standard(), &denied, 1));
    EQUAL(0, peers_access(p));
    EQUAL(0, peers_access(r));
}

static void next_turn(void)
{
    manager_order(TESSERA_TURN_CLOSED);
    manager_await_ack(TESSERA_ACK_CLOSED);
    manager_order(TESSERA_TURN_GRANTED);
    manager_await_ack(TESSERA_ACK_OPEN);
}

/* Plan managed: a turn begins with what fits of what is allocated, before its gate opens. */
static void prefetch(void)
{
    CUdeviceptr p, q, r;
    OKAY(cuMemAlloc_v2(&p, 8 * MIB));
    OKAY(cuMemAlloc_v2(&q, 5 * MIB));
    EQUAL(0, manager_words()->moved_in_bytes);
    fill(p, 1, 8 * MIB, stream);
    fill(q, 2, 5 * MIB, stream);
    next_turn();
    EQUAL(13 * MIB, manager_words()->moved_in_bytes);
    has(p, 1, 8 * MIB);
    r = allocate(2 * MIB, stream);
    fill(r, 3, 2 * MIB, stream);
    manager_target(3 * MIB);
    next_turn(); /* the newest first */
    EQUAL(16 * MIB, manager_words()->moved_in_bytes);
    EQUAL(2, manager_words()->moves_in);
    has(q, 2, 5 * MIB);
    has(r, 3, 2 * MIB);
    OKAY(cuMemFree_v2(p));
    OKAY(cuMemFree_v2(q));
    OKAY(cuMemFreeAsync(r, stream));
    OKAY(cuCtxSynchronize());
    next_turn();
    EQUAL(16 * MIB, manager_words()->moved_in_bytes);
    EQUAL(0, manager_words()->move_failures);
}

int main(int argc, char **argv)
{
    static struct {
        const char *name;
        void (*run)(void);
    } const cases[] = {{"order", order}, {"reuse", reuse}, {"streams", streams}, {"captures", captures},
                       {"capture_beside", capture_beside}, {"fixed", fixed}, {"ipc", ipc},
                       {"peers", peers}, {"prefetch", prefetch}};
    CHECK(argc == 2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, argv[1]) == 0) {
            begin();
            cases[i].run();
            printf("done\n");
            return 0;
        }
    return 2;
}
