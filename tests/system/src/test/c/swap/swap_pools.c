/*
 * Stream-ordered memory under plan swap, one situation after the other, each in a process of its own:
 *     swap_pools CASE
 */
#include "cuda_constants.h"
#include "swap_case.h"

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
    uint64_t used = attribute(standard(), CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    EQUAL(2 * MIB, used);
    CHECK(attribute(standard(), CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >=
          3 * MIB); /* p is free only when the stream comes there */
    fill(q, 7, MIB, other);
    let_go();
    OKAY(cuStreamSynchronize(stream));
    EQUAL(used, attribute(standard(), CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)); /* the threshold is 0 */
    move();
    has(q, 7, MIB);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, stream));
    OKAY(cuMemFreeAsync(q, stream)); /* by another stream */
    OKAY(cuMemFree_v2(r));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(r));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(q, stream));
    OKAY(cuCtxSynchronize());
    EQUAL(0, attribute(standard(), CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    EQUAL(0, attribute(standard(), CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    EQUAL(2 * MIB, attribute(standard(), CU_MEMPOOL_ATTR_USED_MEM_HIGH));
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
    OKAY(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    EQUAL(keep, attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD));
    OKAY(cuMemAllocFromPoolAsync(&p, 2 * MIB, pool, stream));
    fill(p, 1, 2 * MIB, stream);
    hold(stream);
    OKAY(cuMemFreeAsync(p, stream));
    OKAY(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &no));
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&q, 2 * MIB, pool, other)); /* more than the pool may hold */
    int yes = 1;
    OKAY(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &yes));
    OKAY(cuMemAllocFromPoolAsync(&q, 2 * MIB, pool, other)); /* its work waits for the other stream's */
    EQUAL(p, q);
    fill(q, 2, 2 * MIB, other);
    EQUAL(CUDA_ERROR_NOT_READY, cuStreamQuery(other));
    let_go();
    OKAY(cuStreamSynchronize(other));
    has(q, 2, 2 * MIB);
    OKAY(cuMemFreeAsync(q, other));
    OKAY(cuStreamSynchronize(other));
    EQUAL(2 * MIB, attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)); /* below the threshold */
    OKAY(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &no));
    OKAY(cuMemAllocFromPoolAsync(&r, MIB, pool, stream));
    CHECK(r != q);
    OKAY(cuMemFreeAsync(r, stream));
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuMemPoolTrimTo(pool, 0));
    EQUAL(0, attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    CHECK(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) == 3 * MIB);
    uint64_t zero = 0;
    OKAY(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &zero));
    EQUAL(0, attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH));
    OKAY(cuMemAllocFromPoolAsync(&r, MIB, pool, stream));
    OKAY(cuMemPoolDestroy(pool)); /* what it gave out lives on */
    fill(r, 3, MIB, stream);
    move();
    has(r, 3, MIB);
    OKAY(cuMemFreeAsync(r, stream));
    OKAY(cuCtxSynchronize());
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&r, MIB, pool, stream));
}

/* Free blocks of a pool have no contents: they are not copied, and they make room before others are asked for any. */
static void unmoved(void)
{
    uint64_t keep = 128 * MIB;
    OKAY(cuMemPoolSetAttribute(standard(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    CUdeviceptr live = allocate(8 * MIB, stream), spent = allocate(16 * MIB, stream);
    fill(live, 1, 8 * MIB, stream);
    fill(spent, 2, 16 * MIB, stream);
    OKAY(cuMemFreeAsync(spent, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(24 * MIB, attribute(standard(), CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    move();
    EQUAL(8 * MIB, manager_words()->moved_out_bytes);
    EQUAL(8 * MIB, attribute(standard(), CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    has(live, 1, 8 * MIB);
    spent = allocate(16 * MIB, stream);
    OKAY(cuMemFreeAsync(spent, stream));
    OKAY(cuStreamSynchronize(stream));
    EQUAL(24 * MIB, attribute(standard(), CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    manager_target(32 * MIB);
    CUdeviceptr more = allocate(20 * MIB, stream); /* in the place of what is spent */
    EQUAL(28 * MIB, attribute(standard(), CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    EQUAL(0, manager_words()->resident_wanted);
    fill(more, 3, 20 * MIB, stream);
    move();
    has(more, 3, 20 * MIB);
    has(live, 1, 8 * MIB);
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
    OKAY(cuMemPoolSetAttribute(standard(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    holds++;
    OKAY(pthread_create(&thread, NULL, per_thread, &theirs));
    OKAY(pthread_join(thread, NULL));
    OKAY(cuMemAllocAsync_ptsz(&mine, MIB, NULL));
    CHECK(mine != theirs);
    pthread_t next; /* may have the first one's id */
    CUdeviceptr nexts;
    OKAY(pthread_create(&next, NULL, per_thread, &nexts));
    OKAY(pthread_join(next, NULL));
    CHECK(nexts != theirs && nexts != mine);
    let_go();
    OKAY(cuMemFreeAsync_ptsz(mine, NULL));
    OKAY(cuCtxSynchronize());
    OKAY(cuMemPoolTrimTo(standard(), 0));
    EQUAL(0, attribute(standard(), CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    OKAY(cuStreamCreate(&brief, CU_STREAM_NON_BLOCKING));
    CUdeviceptr p = allocate(MIB, brief);
    hold(brief);
    OKAY(cuMemFreeAsync(p, brief));
    OKAY(cuStreamDestroy_v2(brief)); /* its work goes on */
    for (int i = 0; i < 8; i++) {
        OKAY(cuStreamCreate(&brief, CU_STREAM_NON_BLOCKING));
        CHECK(allocate(MIB, brief) != p);
    }
    let_go();
    OKAY(cuCtxSynchronize());
    EQUAL(8 * MIB, attribute(standard(), CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
}

static void *begin_capture(void *on)
{
    OKAY(cuStreamBeginCapture_v2(on, CU_STREAM_CAPTURE_MODE_GLOBAL));
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
    for (uint64_t until = manager_now_ns() + 30000000000ULL;
         manager_read(&manager_segment->devices[0].used_bytes) > most; manager_pause_us(200)) {
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
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(a, stream));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(plain, stream)); /* not of this graph */
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
        OKAY(cuMemsetD8Async(out, 0, 8, stream));
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
    EQUAL(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
          cuGraphExecUpdate(exec, second, NULL, &result)); /* whose memory would be gone with the second graph */
    EQUAL(CUDA_ERROR_PROFILER_NOT_INITIALIZED, result);
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
    await_free(before);
}

/* Memory that a failed capture had allocated is free again. */
static void capture_broken(void)
{
    void *graph;
    uint64_t before = manager_segment->devices[0].used_bytes;
    begin_capture(stream);
    allocate(MIB, stream);
    OKAY(cuMemFreeAsync(allocate(2 * MIB, stream), stream));
    EQUAL(before + 3 * MIB, manager_segment->devices[0].used_bytes);
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
    CUdeviceptr p;
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemAllocAsync(&p, MIB, stream));
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    await_free(before);
    EQUAL(0, attribute(standard(), CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
}

/* While a stream is captured cuMemFree of other memory waits for nothing, and the capture goes on. */
static void capture_beside(void)
{
    void *graph;
    CUdeviceptr p, q;
    OKAY(cuMemAlloc_v2(&p, MIB));
    q = allocate(MIB, other);
    uint64_t before = manager_segment->devices[0].used_bytes;
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUdeviceptr a = allocate(MIB, stream);
    fill(a, 1, MIB, stream);
    OKAY(cuMemFree_v2(p));
    OKAY(cuMemFree_v2(q));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(q));
    OKAY(cuMemFreeAsync(a, stream));
    OKAY(cuStreamEndCapture(stream, &graph));
    OKAY(cuGraphDestroy(graph));
    await_free(before - 2 * MIB);
    move();
    EQUAL(0, manager_words()->needed_bytes % (2 * MIB));
}

int main(int argc, char **argv)
{
    static const struct swap_case cases[] = {{"order", order},
                                             {"reuse", reuse},
                                             {"unmoved", unmoved},
                                             {"streams", streams},
                                             {"captures", captures},
                                             {"capture_beside", capture_beside},
                                             {"capture_broken", capture_broken}};
    return run_case(cases, sizeof cases / sizeof cases[0], argc, argv);
}
