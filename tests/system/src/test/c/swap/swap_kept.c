/*
 * Plan swap: graphs whose memory moves, what stays where it is, and the program's own physical memory; each case in a
 * process of its own:
 *     swap_kept CASE
 */
#include "cuda_constants.h"
#include "swap_situation.h"

/* A capture that is open when the turn is to end: the turn ends after it, and the graph replays after a move. */
static void captured(void)
{
    void *stream, *graph, *exec;
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(8 * MIB, 1);
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr other = filled(4 * MIB, 3);
    OKAY(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OKAY(cuMemFree_v2(other)); /* must not end the capture */
    EQUAL(12 * MIB, manager_words()->needed_bytes);
    OKAY(cuMemsetD32Async(p, 0xabc, 2 * MIB, stream));
    manager_order(TESSERA_TURN_CLOSED);
    manager_pause_us(20000);
    manager_target(0);
    OKAY(cuMemsetD32Async(p + 4 * MIB, 0xdef, MIB, stream));
    OKAY(cuStreamEndCapture(stream, &graph));
    manager_await_ack(TESSERA_ACK_CLOSED);
    EQUAL(8 * MIB, manager_words()->needed_bytes); /* what was freed meanwhile is free at the latest now */
    manager_await_resident(0);
    bring_back();
    holds(p, 8 * MIB, 1);
    OKAY(cuGraphInstantiateWithFlags(&exec, graph,
                                     0)); /* any earlier it could find the turn over, and wait for the next */
    OKAY(cuGraphLaunch(exec, stream));
    OKAY(cuStreamSynchronize(stream));
    holds(p, 4 * MIB, 0xabc);
    holds(p + 4 * MIB, 4 * MIB, 0xdef);
    evict();
    bring_back();
    holds(p + 4 * MIB, 4 * MIB, 0xdef);
    OKAY(cuGraphLaunch(exec, stream));
    OKAY(cuStreamSynchronize(stream));
}

static void *comes_later(void *unused)
{
    (void)unused;
    const uint64_t *want = &manager_segment->devices[0].want_since_ns;
    for (uint64_t until = manager_now_ns() + 30000000000ULL; !manager_read(want); manager_pause_us(100))
        CHECK(manager_now_ns() < until);
    bring_back();
    return NULL;
}

/* A graph that is built by hand while its memory is away: the driver looks at it, so the call waits for the turn. */
static void graph_nodes(void)
{
    void *graph, *node, *exec, *stream;
    struct {
        CUdeviceptr target;
        size_t pitch;
        unsigned value, element_bytes;
        size_t width, height;
    } set;
    pthread_t thread;
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(8 * MIB, 1);
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OKAY(cuGraphCreate(&graph, 0));
    evict();
    set.target = p;
    set.pitch = 0;
    set.value = 0x99;
    set.element_bytes = 4;
    set.width = 2 * MIB;
    set.height = 1;
    OKAY(pthread_create(&thread, NULL, comes_later, NULL));
    OKAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, context));
    OKAY(pthread_join(thread, NULL));
    evict();
    OKAY(pthread_create(&thread, NULL, comes_later, NULL));
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OKAY(pthread_join(thread, NULL));
    holds(p, 8 * MIB, 1);
    OKAY(cuGraphLaunch(exec, stream));
    OKAY(cuStreamSynchronize(stream));
    holds(p, 8 * MIB, 0x99);
}

/* Fixed memory stays, whatever the target. */
static void fixed(void)
{
    unsigned on = 1;
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(8 * MIB, 1), q = filled(8 * MIB, 2);
    OKAY(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    EQUAL(8 * MIB, manager_words()->fixed_bytes);
    EQUAL(8 * MIB, manager_words()->needed_bytes);
    evict();
    uint32_t seen = *(volatile uint32_t *)(uintptr_t)p; /* the host can read what is mapped */
    EQUAL(1, seen);
    bring_back();
    holds(q, 8 * MIB, 2);
    OKAY(cuMemFree_v2(p));
    EQUAL(0, manager_words()->fixed_bytes);
}

/* Memory of the program's own: mapped twice, without a handle, unmapped with its contents, and mapped again. */
static void own_memory(void)
{
    struct call_allocation_properties properties = {.type = 1, .location = {1, 0}}, told;
    struct call_access access = {{1, 0}, 3};
    void *handle, *again;
    CUdeviceptr at;
    unsigned long long rights = 9;
    begin(CAPACITY); /* the gate is closed: mapping waits for the turn */
    manager_order(TESSERA_TURN_GRANTED);
    OKAY(cuMemAddressReserve(&at, 200 * MIB, 0, 0, 0));
    OKAY(cuMemCreate(&handle, 80 * MIB, &properties, 0));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, 40 * MIB, 0, handle, 0));
    OKAY(cuMemMap(at, 80 * MIB, 0, handle, 0));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, 80 * MIB, 0, handle, 0));
    OKAY(cuMemSetAccess(at, 80 * MIB, &access, 1));
    OKAY(cuMemMap(at + 100 * MIB, 80 * MIB, 0, handle, 0));
    access.flags = 1;
    OKAY(cuMemSetAccess(at + 100 * MIB, 80 * MIB, &access, 1));
    OKAY(cuMemGetAccess(&rights, &access.location, at + 170 * MIB));
    EQUAL(1, rights);
    OKAY(cuMemGetAllocationPropertiesFromHandle(&told, handle));
    EQUAL(0, memcmp(&told, &properties, sizeof told));
    OKAY(cuMemsetD32_v2(at, 0x5a5a, 20 * MIB));
    EQUAL(80 * MIB, manager_words()->needed_bytes);
    evict();
    bring_back();
    holds(at, 80 * MIB, 0x5a5a);
    uint32_t seen = *(volatile uint32_t *)(uintptr_t)(at + 180 * MIB - 4); /* the other mapping shows the same */
    EQUAL(0x5a5a, seen);
    OKAY(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(at + 70 * MIB)));
    CHECK(again == handle);
    OKAY(cuMemRelease(handle));
    evict();
    OKAY(cuMemUnmap(at + 100 * MIB, 80 * MIB));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 200 * MIB));
    EQUAL(0, manager_words()->resident_bytes);
    bring_back();
    OKAY(cuMemUnmap(at, 80 * MIB)); /* the handle keeps the contents, which have no address now */
    EQUAL(80 * MIB, manager_words()->fixed_bytes);
    evict();
    bring_back();
    access.flags = 3;
    OKAY(cuMemMap(at + 90 * MIB, 80 * MIB, 0, again, 0));
    OKAY(cuMemSetAccess(at + 90 * MIB, 80 * MIB, &access, 1));
    EQUAL(0, manager_words()->fixed_bytes);
    evict();
    bring_back();
    holds(at + 90 * MIB, 80 * MIB, 0x5a5a);
    OKAY(cuMemRelease(again));
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMemRelease(again));
    evict();
    OKAY(cuMemUnmap(at + 90 * MIB, 80 * MIB)); /* the last reference, while it is out */
    OKAY(cuMemAddressFree(at, 200 * MIB));
    EQUAL(0, manager_words()->needed_bytes);
    EQUAL(0, manager_words()->swapped_bytes);
    EQUAL(0, manager_segment->devices[0].used_bytes);
}

/* Exportable memory moves until it is exported; then it stays. */
static void exported(void)
{
    struct call_allocation_properties properties = {.type = 1, .handle_types = 1, .location = {1, 0}};
    struct call_access access = {{1, 0}, 3};
    void *handle;
    CUdeviceptr at;
    int fd = -1;
    begin(CAPACITY);
    grant();
    OKAY(cuMemAddressReserve(&at, 80 * MIB, 0, 0, 0));
    OKAY(cuMemCreate(&handle, 80 * MIB, &properties, 0));
    OKAY(cuMemMap(at, 80 * MIB, 0, handle, 0));
    OKAY(cuMemSetAccess(at, 80 * MIB, &access, 1));
    OKAY(cuMemsetD32_v2(at, 0x77, 20 * MIB));
    evict();
    bring_back();
    holds(at, 80 * MIB, 0x77);
    OKAY(cuMemExportToShareableHandle(&fd, handle, 1, 0));
    CHECK(fd >= 0);
    EQUAL(80 * MIB, manager_words()->fixed_bytes);
    EQUAL(0, manager_words()->needed_bytes);
    evict();
    uint32_t seen = 0;
    CHECK(pread(fd, &seen, 4, (off_t)(80 * MIB - 4)) == 4);
    EQUAL(0x77, seen);
    seen = *(volatile uint32_t *)(uintptr_t)at;
    EQUAL(0x77, seen);
    OKAY(cuMemUnmap(at, 80 * MIB));
    OKAY(cuMemRelease(handle));
    EQUAL(0, manager_words()->fixed_bytes);
}

static const struct situation situations[] = {{"captured", captured},
                                              {"graph-nodes", graph_nodes},
                                              {"fixed", fixed},
                                              {"own-memory", own_memory},
                                              {"exported", exported}};

int main(int argc, char **argv)
{
    return run_situation(argc, argv, situations, sizeof situations / sizeof *situations);
}
