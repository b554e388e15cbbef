/*
 * Plan swap, one situation after the other, each in a process of its own:
 *     swap_cases CASE
 * with the manager of residency_manager.h. The script gives the device 256 MiB.
 */
#include <sys/wait.h>

#include "cuda_calls.h"
#include "residency_manager.h"

#define MIB (1ULL << 20)
#define CAPACITY (192 * MIB)

static void *context, *fill_function, *fault_function;

static void begin(uint64_t target)
{
    void *module;
    manager_start();
    OKAY(cuInit(0));
    manager_words()->pinned_target = manager_words()->pageable_target = 512 * MIB;
    manager_words()->capacity_bytes = CAPACITY;
    manager_words()->resident_target = target;
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&fill_function, module, "scripted_fill"));
    OKAY(cuModuleGetFunction(&fault_function, module, "scripted_fault"));
}

static void grant(void)
{
    manager_order(TESSERA_TURN_GRANTED);
    manager_await_ack(TESSERA_ACK_OPEN);
}

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
    grant();
}

static void await_word(const uint64_t *word, uint64_t wanted)
{
    for (uint64_t until = manager_now_ns() + 30000000000ULL; manager_read(word) != wanted; manager_pause_us(100))
        if (manager_now_ns() > until) {
            fprintf(stderr, "word %td is %llu, not %llu\n", word - (uint64_t *)manager_words(),
                    (unsigned long long)*word, (unsigned long long)wanted);
            exit(1);
        }
}

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr p;
    OKAY(cuMemAlloc_v2(&p, bytes));
    return p;
}

static void holds(CUdeviceptr p, size_t bytes, uint32_t pattern)
{
    uint32_t first = 0, last = 0;
    OKAY(cuMemcpyDtoH_v2(&first, p, 4));
    OKAY(cuMemcpyDtoH_v2(&last, p + bytes - 4, 4));
    EQUAL(pattern, first);
    EQUAL(pattern, last);
}

static CUdeviceptr filled(size_t bytes, uint32_t pattern)
{
    CUdeviceptr p = allocate(bytes);
    OKAY(cuMemsetD32_v2(p, pattern, bytes / 4));
    return p;
}

/* While the gate is closed an allocation takes addresses only; memory follows with the turn, and not a byte more. */
static void lazy(void)
{
    begin(CAPACITY);
    CUdeviceptr p = allocate(70 * MIB), q = allocate(1000);
    EQUAL(72 * MIB, manager_words()->needed_bytes + 0 * q);
    manager_target(0);
    manager_await_resident(0);
    bring_back();
    EQUAL(72 * MIB, manager_words()->resident_bytes);
    OKAY(cuMemsetD32_v2(p, 7, 70 * MIB / 4));
    holds(p, 70 * MIB, 7);
    EQUAL(0, manager_words()->moved_in_bytes); /* it had no contents */
}

static void *raise_later(void *unused)
{
    (void)unused;
    await_word(&manager_words()->resident_wanted, 32 * MIB);
    manager_target(32 * MIB);
    return NULL;
}

/* In an open turn it waits until the target is raised; if it is not, the allocation alone fails. */
static void waits(void)
{
    pthread_t thread;
    CUdeviceptr p;
    begin(16 * MIB);
    grant();
    CUdeviceptr q = filled(16 * MIB, 5);
    OKAY(pthread_create(&thread, NULL, raise_later, NULL));
    p = allocate(16 * MIB);
    OKAY(pthread_join(thread, NULL));
    OKAY(cuMemsetD32_v2(p, 6, 4 * MIB));
    CUdeviceptr r = 77;
    EQUAL(2, cuMemAlloc_v2(&r, 20 * MIB)); /* TESSERA_MEMORY_WAIT_MS */
    EQUAL(0, manager_words()->resident_wanted);
    holds(q, 16 * MIB, 5);
    holds(p, 16 * MIB, 6);
    OKAY(cuMemFree_v2(p));
    r = allocate(16 * MIB);
    EQUAL(32 * MIB, manager_words()->resident_bytes);
}

/* An allocation that waits in an open turn is done when the turn ends: its memory comes with the next one. */
static void *closes_later(void *unused)
{
    (void)unused;
    await_word(&manager_words()->resident_wanted, 24 * MIB);
    manager_order(TESSERA_TURN_CLOSED);
    manager_await_ack(TESSERA_ACK_CLOSED);
    return NULL;
}

static void waits_over_the_end(void)
{
    pthread_t thread;
    begin(16 * MIB);
    grant();
    CUdeviceptr q = filled(8 * MIB, 5);
    OKAY(pthread_create(&thread, NULL, closes_later, NULL));
    CUdeviceptr p = allocate(16 * MIB);
    OKAY(pthread_join(thread, NULL));
    bring_back();
    OKAY(cuMemsetD32_v2(p, 9, 4 * MIB));
    holds(p, 16 * MIB, 9);
    holds(q, 8 * MIB, 5);
}

/* The manager dies while everything is out: it comes back, and the gate opens by itself. */
static void manager_dies(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(100 * MIB, 0x1234), q = filled(4096, 0x77);
    evict();
    manager_die();
    holds(p, 100 * MIB, 0x1234);
    holds(q, 4096, 0x77);
    OKAY(cuMemFree_v2(p));
}

/* The same with a device that is full: calls fail after a bounded wait, nothing is lost, and it goes on with room. */
static void manager_dies_full(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(150 * MIB, 0x1234);
    evict();
    void *array;
    struct call_array large = {6 * MIB, 4, 0x20, 2}; /* 192 MiB that do not move */
    OKAY(cuArrayCreate_v2(&array, &large));
    manager_die();
    EQUAL(2, cuMemsetD32_v2(p, 1, 1));
    EQUAL(2, cuMemsetD32_v2(p, 1, 1));
    OKAY(cuArrayDestroy(array));
    CUresult result = 2;
    uint64_t until = manager_now_ns() + 30000000000ULL;
    uint32_t first = 0;
    while (result == 2 && manager_now_ns() < until)
        result = cuMemcpyDtoH_v2(&first, p, 4);
    OKAY(result);
    holds(p, 150 * MIB, 0x1234);
}

/* What is freed while it is out costs nothing more, and its addresses and backing are used again. */
static void frees_while_out(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(80 * MIB, 1), q = filled(20 * MIB, 2), small[100];
    for (int i = 0; i < 100; i++)
        small[i] = filled(3000 + 4 * (size_t)i, (uint32_t)i);
    evict();
    OKAY(cuMemFree_v2(p));
    EQUAL(1, cuMemFree_v2(p));
    for (int i = 0; i < 100; i += 2)
        OKAY(cuMemFree_v2(small[i]));
    EQUAL(0, manager_words()->resident_bytes);
    p = allocate(60 * MIB);
    for (int i = 0; i < 100; i += 2)
        small[i] = allocate(3000 + 4 * (size_t)i);
    bring_back();
    holds(q, 20 * MIB, 2);
    for (int i = 1; i < 100; i += 2)
        holds(small[i], 3000 + 4 * (size_t)i, (uint32_t)i);
    OKAY(cuMemsetD32_v2(p, 3, 15 * MIB));
    holds(p, 60 * MIB, 3);
    EQUAL(0, manager_words()->swapped_bytes);
}

/* A context that ends takes all with it, on the device or not; a second one starts anew. */
static void contexts_end(void)
{
    void *other;
    begin(CAPACITY);
    grant();
    for (int round = 0; round < 3; round++) {
        filled(50 * MIB, 1);
        filled(5000, 2);
        evict();
        OKAY(cuDevicePrimaryCtxReset_v2(0));
        EQUAL(0, manager_words()->needed_bytes);
        EQUAL(0, manager_words()->swapped_bytes);
        OKAY(cuDevicePrimaryCtxRetain(&context, 0));
        OKAY(cuCtxSetCurrent(context));
        bring_back();
    }
    OKAY(cuCtxCreate_v2(&other, 0, 0));
    CUdeviceptr theirs = filled(30 * MIB, 4);
    OKAY(cuCtxSetCurrent(context));
    CUdeviceptr ours = filled(30 * MIB, 5);
    evict();
    OKAY(cuCtxDestroy_v2(other));
    EQUAL(30 * MIB, manager_words()->needed_bytes);
    bring_back();
    holds(ours, 30 * MIB, 5);
    EQUAL(1, cuMemFree_v2(theirs));
}

/* A capture that is open when the turn is to end: the turn ends after it, and the graph replays after a move. */
static void captured(void)
{
    void *stream, *graph, *exec;
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(8 * MIB, 1);
    OKAY(cuStreamCreate(&stream, 1));
    CUdeviceptr other = filled(4 * MIB, 3);
    OKAY(cuStreamBeginCapture_v2(stream, 2));
    OKAY(cuMemFree_v2(other)); /* must not end the capture */
    EQUAL(12 * MIB, manager_words()->needed_bytes);
    OKAY(cuMemsetD32Async(p, 0xabc, 2 * MIB, stream));
    manager_order(TESSERA_TURN_CLOSED);
    manager_pause_us(20000);
    manager_target(0);
    OKAY(cuMemsetD32Async(p + 4 * MIB, 0xdef, MIB, stream));
    OKAY(cuStreamEndCapture(stream, &graph));
    OKAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    manager_await_ack(TESSERA_ACK_CLOSED);
    EQUAL(8 * MIB, manager_words()->needed_bytes); /* what was freed meanwhile is free at the latest now */
    manager_await_resident(0);
    bring_back();
    holds(p, 8 * MIB, 1);
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
    OKAY(cuStreamCreate(&stream, 1));
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

/* What was fixed stays, whatever the target. */
static void fixed(void)
{
    unsigned on = 1;
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(8 * MIB, 1), q = filled(8 * MIB, 2);
    OKAY(cuPointerSetAttribute(&on, 6, p));
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
    EQUAL(1, cuMemMap(at, 40 * MIB, 0, handle, 0));
    OKAY(cuMemMap(at, 80 * MIB, 0, handle, 0));
    EQUAL(1, cuMemMap(at, 80 * MIB, 0, handle, 0));
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
    EQUAL(1, cuMemAddressFree(at, 200 * MIB));
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
    EQUAL(1, cuMemRelease(again));
    evict();
    OKAY(cuMemUnmap(at + 90 * MIB, 80 * MIB)); /* the last reference, while it is out */
    OKAY(cuMemAddressFree(at, 200 * MIB));
    EQUAL(0, manager_words()->needed_bytes);
    EQUAL(0, manager_words()->swapped_bytes);
    EQUAL(0, manager_segment->devices[0].used_bytes);
}

/* What may be exported moves until it is; then it stays. */
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

/* A context that faulted must not keep the device's memory, nor wait for its own. */
static void faulted(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(100 * MIB, 1);
    OKAY(cuLaunchKernel(fault_function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EQUAL(700, cuCtxSynchronize());
    evict();
    bring_back();
    EQUAL(700, cuMemsetD32_v2(p, 1, 1));
}

/* A forked child has none of it, and the parent goes on. */
static void forks(void)
{
    begin(CAPACITY);
    grant();
    CUdeviceptr p = filled(40 * MIB, 8), q = filled(900, 9);
    evict();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CUdeviceptr r;
        _exit(cuMemAlloc_v2(&r, 1000) == 0 ? 1 : 0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    EQUAL(0, status);
    bring_back();
    holds(p, 40 * MIB, 8);
    holds(q, 900, 9);
}

/* cuMemGetInfo tells the device as the manager treats it, whatever is resident. */
static void told(void)
{
    size_t free_bytes = 0, total = 0;
    begin(CAPACITY);
    grant();
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(CAPACITY, total);
    EQUAL(CAPACITY, free_bytes);
    CUdeviceptr p = filled(64 * MIB, 1);
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(CAPACITY - 64 * MIB, free_bytes);
    evict();
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(CAPACITY - 64 * MIB, free_bytes);
    bring_back();
    OKAY(cuMemFree_v2(p));
    OKAY(cuMemGetInfo_v2(&free_bytes, &total));
    EQUAL(CAPACITY, free_bytes);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"lazy", lazy},
             {"waits", waits},
             {"waits-over-the-end", waits_over_the_end},
             {"manager-dies", manager_dies},
             {"manager-dies-full", manager_dies_full},
             {"frees-while-out", frees_while_out},
             {"contexts-end", contexts_end},
             {"captured", captured},
             {"graph-nodes", graph_nodes},
             {"fixed", fixed},
             {"own-memory", own_memory},
             {"exported", exported},
             {"faulted", faulted},
             {"forks", forks},
             {"told", told}};

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            printf("done\n");
            return 0;
        }
    fprintf(stderr, "no case %s\n", argv[1]);
    return 2;
}
