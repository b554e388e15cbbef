/*
 * What plan swap leaves to the driver, which device may use which memory, and plan managed's prefetch; one situation
 * after the other, each in a process of its own:
 *     swap_fixed CASE
 */
#include "cuda_constants.h"
#include "swap_case.h"

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

static unsigned ipc_capable(CUdeviceptr p)
{
    unsigned capable = 9;
    OKAY(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p));
    return capable;
}

/* Legacy IPC of large and of small memory: one handle for an allocation, which stays from then on, with what it holds. */
static void ipc(void)
{
    CUdeviceptr p, q, r, early;
    CUipcMemHandle first, second;
    unsigned on = 1;
    OKAY(cuMemAlloc_v2(&early, 2 * MIB));
    OKAY(cuMemAlloc_v2(&p, 20 * MIB));
    OKAY(cuMemAlloc_v2(&q, 5000));
    fill(p, 3, 20 * MIB, stream);
    fill(q, 4, 5000, stream);
    EQUAL(1, ipc_capable(p));
    OKAY(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                               early)); /* SYNC_MEMOPS, as MPI sets it before it exports */
    OKAY(cuIpcGetMemHandle(&first, early));
    OKAY(cuMemFree_v2(early));
    EQUAL(0, manager_words()->fixed_bytes);
    OKAY(cuIpcGetMemHandle(&first, p));
    OKAY(cuIpcGetMemHandle(&second, p + 19 * MIB));
    CHECK(memcmp(&first, &second, sizeof first) == 0);
    EQUAL(20 * MIB, manager_words()->fixed_bytes);
    OKAY(cuIpcGetMemHandle(&second, q));
    CHECK(memcmp(&first, &second, sizeof first) != 0);
    EQUAL(22 * MIB, manager_words()->fixed_bytes);                          /* with all that shares its chunk */
    EQUAL(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle_v2(&r, first, 1)); /* its own */
    r = allocate(2 * MIB, stream);
    EQUAL(0, ipc_capable(r));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&second, r)); /* of a pool, as natively */
    move();
    has(p, 3, 20 * MIB);
    has(q, 4, 5000);
    OKAY(cuMemFree_v2(p));
    OKAY(cuMemFree_v2(q));
    EQUAL(0, manager_words()->fixed_bytes);
    OKAY(cuMemFreeAsync(r, stream));
}

/* Memory that is away comes in before it is exported; memory that came after the first export is not made again. */
static void *bring_back_soon(void *unused)
{
    manager_pause_us(50000);
    bring_back();
    return unused;
}

static void ipc_absent(void)
{
    CUdeviceptr p, q;
    CUipcMemHandle handle;
    pthread_t thread;
    OKAY(cuMemAlloc_v2(&p, 8 * MIB));
    OKAY(cuMemAlloc_v2(&q, 8 * MIB));
    fill(p, 5, 8 * MIB, stream);
    fill(q, 6, 8 * MIB, stream);
    evict();
    OKAY(pthread_create(&thread, NULL, bring_back_soon, NULL));
    OKAY(cuIpcGetMemHandle(&handle, p));
    OKAY(pthread_join(thread, NULL));
    EQUAL(8 * MIB, manager_words()->fixed_bytes);
    has(p, 5, 8 * MIB);
    move(); /* the other one's memory can be exported now */
    OKAY(cuIpcGetMemHandle(&handle, q));
    EQUAL(16 * MIB, manager_words()->fixed_bytes);
    move();
    has(p, 5, 8 * MIB);
    has(q, 6, 8 * MIB);
    EQUAL(0, manager_words()->move_failures);
}

/* Work that runs is waited for; a capture of the caller's cannot be, and nothing is changed; no room is no loss, either. */
static void ipc_busy(void)
{
    CUdeviceptr p, q;
    CUipcMemHandle handle;
    void *graph, *exec;
    OKAY(cuMemAlloc_v2(&p, 8 * MIB));
    OKAY(cuStreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_RELAXED));
    fill(p, 7, 8 * MIB, other);
    EQUAL(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuIpcGetMemHandle(&handle, p));
    OKAY(cuStreamEndCapture(other, &graph));
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    EQUAL(0, manager_words()->fixed_bytes);
    hold(stream); /* until let_go(): longer than the export waits */
    fill(p, 9, 8 * MIB, stream);
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuIpcGetMemHandle(&handle, p));
    fill(p, 8, 8 * MIB, stream); /* the gate is open again */
    let_go();
    OKAY(cuCtxSynchronize());
    has(p, 8, 8 * MIB);
    manager_target(8 * MIB); /* all that it may hold is in use */
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuIpcGetMemHandle(&handle, p));
    EQUAL(0, manager_words()->fixed_bytes);
    manager_target(CAPACITY);
    OKAY(cuGraphLaunch(exec, other));
    OKAY(cuIpcGetMemHandle(&handle, p));
    EQUAL(8 * MIB, manager_words()->fixed_bytes);
    has(p, 7, 8 * MIB);
    fill(p, 6, 8 * MIB, stream);
    OKAY(cuCtxSynchronize());
    OKAY(cuGraphLaunch(exec, other)); /* at the address of before */
    OKAY(cuCtxSynchronize());
    has(p, 7, 8 * MIB);
    OKAY(cuStreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_RELAXED));
    OKAY(cuIpcGetMemHandle(&handle, p)); /* nothing has to be made again */
    OKAY(cuMemAlloc_v2(&q, 2 * MIB));
    OKAY(cuIpcGetMemHandle(&handle, q));
    OKAY(cuStreamEndCapture(other, &graph));
}

/* One call of the driver's fails while memory is made again, by the script: contents are kept, and the next export works. */
static void ipc_failing(void)
{
    CUdeviceptr p;
    CUipcMemHandle handle;
    OKAY(cuMemAlloc_v2(&p, 8 * MIB));
    fill(p, 3, 8 * MIB, stream);
    CHECK(cuIpcGetMemHandle(&handle, p) != 0);
    EQUAL(0, manager_words()->fixed_bytes);
    EQUAL(8 * MIB, manager_words()->resident_bytes);
    OKAY(cuCtxSynchronize());
    has(p, 3, 8 * MIB);
    move();
    has(p, 3, 8 * MIB);
    fill(p, 4, 8 * MIB, stream);
    OKAY(cuIpcGetMemHandle(&handle, p));
    EQUAL(8 * MIB, manager_words()->fixed_bytes);
    EQUAL(0, manager_words()->resident_bytes);
    move();
    has(p, 4, 8 * MIB);
    OKAY(cuMemFree_v2(p));
    EQUAL(0, manager_words()->fixed_bytes);
}

/* Where the driver makes no memory that can be exported: refused once, and what comes after is plain. */
static void ipc_refused(void)
{
    CUdeviceptr p, q;
    CUipcMemHandle handle;
    OKAY(cuMemAlloc_v2(&p, MIB));
    fill(p, 3, MIB, stream);
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, p));
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
    void *second, *pool, *theirs;
    int of = -1;
    CUdeviceptr p, q;
    OKAY(cuDeviceGetDefaultMemPool(&pool, 0));
    OKAY(cuMemAlloc_v2(&p, 2 * MIB));
    q = allocate(2 * MIB, stream);
    EQUAL(0, peers_access(p));
    OKAY(cuDevicePrimaryCtxRetain(&second, 1));
    OKAY(cuCtxPushCurrent_v2(second));
    OKAY(cuStreamCreate(&theirs, CU_STREAM_NON_BLOCKING));
    OKAY(cuCtxEnablePeerAccess(context, 0));
    OKAY(cuCtxPopCurrent_v2(&second));
    EQUAL(3, peers_access(p));
    OKAY(cuMemPoolSetAccess(pool, &allowed, 1));
    OKAY(cuCtxPushCurrent_v2(second));
    OKAY(cuCtxDisablePeerAccess(context));
    OKAY(cuCtxPopCurrent_v2(&second));
    EQUAL(3, peers_access(q)); /* the pool's is left */
    move();
    EQUAL(3, peers_access(q));
    CUdeviceptr r = allocate(4 * MIB, stream);
    EQUAL(3, peers_access(r));
    CUdeviceptr s = allocate(MIB, theirs); /* from the pool of the stream's device, whatever is current */
    OKAY(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, s));
    EQUAL(1, of);
    OKAY(cuMemPoolSetAccess(pool, &denied, 1));
    EQUAL(0, peers_access(p));
    EQUAL(0, peers_access(r));
}

static CUdeviceptr before_the_second(void)
{
    CUdeviceptr p;
    OKAY(cuMemAlloc_v2(&p, 20 * MIB));
    fill(p, 3, 20 * MIB, stream);
    return p;
}

/* Plan auto, and a second device: what is there, away or not, comes in, stays, and is the second one's too. */
static void several(void)
{
    void *second;
    pthread_t thread;
    CUdeviceptr p = before_the_second(), q = allocate(4 * MIB, stream), r;
    fill(q, 4, 4 * MIB, stream);
    EQUAL(0, manager_words()->fixed_bytes);
    evict();
    OKAY(pthread_create(&thread, NULL, bring_back_soon, NULL));
    OKAY(cuDevicePrimaryCtxRetain(&second, 1));
    OKAY(pthread_join(thread, NULL));
    uint64_t fixed_bytes = manager_words()->fixed_bytes;
    CHECK(fixed_bytes >= 24 * MIB);
    EQUAL(0, manager_words()->swappable_bytes);
    EQUAL(3, peers_access(p));
    EQUAL(3, peers_access(q));
    OKAY(cuMemAlloc_v2(&r, 2 * MIB)); /* the driver's, which never moves either */
    EQUAL(fixed_bytes + 2 * MIB, manager_words()->fixed_bytes);
    EQUAL(0, manager_words()->swappable_bytes);
    uint64_t moved = manager_words()->moved_out_bytes;
    move();
    EQUAL(moved, manager_words()->moved_out_bytes);
    has(p, 3, 20 * MIB);
    has(q, 4, 4 * MIB);
    OKAY(cuMemFree_v2(r));
    OKAY(cuMemFree_v2(p));
    EQUAL(0, manager_words()->move_failures);
}

/* Plan auto where devices cannot reach each other: nothing is mapped that they could not copy. */
static void apart(void)
{
    size_t before, after, total;
    manager_words()->resident_limit = CAPACITY;
    OKAY(cuMemGetInfo_v2(&before, &total));
    CUdeviceptr p = before_the_second();
    OKAY(cuMemGetInfo_v2(&after, &total)); /* at once: the manager has not said yet what is left */
    EQUAL(20 * MIB, before - after);
    EQUAL(0, manager_words()->swappable_bytes);
    EQUAL(20 * MIB, manager_words()->fixed_bytes);
    move();
    has(p, 3, 20 * MIB);
    OKAY(cuMemFree_v2(p));
    EQUAL(0, manager_words()->fixed_bytes);
}

/* A kind of memory that the driver refuses is refused at once, while the gate is closed too, and nothing waits for it. */
static void refused(void)
{
    enum { FABRIC = 8 };
    struct call_allocation_properties fabric = {.type = 1, .handle_types = FABRIC, .location = {1, 0}}, file = fabric;
    void *handle;
    CUdeviceptr p;
    file.handle_types = 1;
    OKAY(cuMemAlloc_v2(&p, MIB));
    fill(p, 5, MIB, stream);
    EQUAL(CUDA_ERROR_NOT_PERMITTED, cuMemCreate(&handle, 2 * MIB, &fabric, 0));
    evict();
    EQUAL(CUDA_ERROR_NOT_PERMITTED, cuMemCreate(&handle, 2 * MIB, &fabric, 0));
    OKAY(cuMemCreate(&handle, 2 * MIB, &file, 0));
    bring_back();
    has(p, 5, MIB);
    OKAY(cuMemRelease(handle));
    OKAY(cuMemFree_v2(p));
    EQUAL(0, manager_words()->move_failures);
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
    static const struct swap_case cases[] = {{"fixed", fixed},
                                             {"ipc", ipc},
                                             {"ipc_absent", ipc_absent},
                                             {"ipc_busy", ipc_busy},
                                             {"ipc_failing", ipc_failing},
                                             {"ipc_refused", ipc_refused},
                                             {"peers", peers},
                                             {"several", several},
                                             {"apart", apart},
                                             {"refused", refused},
                                             {"prefetch", prefetch}};
    return run_case(cases, sizeof cases / sizeof cases[0], argc, argv);
}
