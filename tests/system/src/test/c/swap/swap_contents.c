/*
 * Plan swap: contents survive being moved out and in, again and again, while threads allocate, free and write.
 *     swap_contents SEED ROUNDS THREADS [PINNED PAGEABLE [CAPACITY]]     (MiB)
 * A manager of its own (residency_manager.h) takes the turn and memory away, and gives both back, ROUNDS times.
 */
#include "cuda_calls.h"
#include "cuda_constants.h"
#include "residency_manager.h"

#define MIB (1ULL << 20)
#define PIECES 24 /* of a thread */

struct worker {
    pthread_t thread;
    uint64_t random;
    uint64_t bytes, most; /* held, and its share: what is asked for while the gate is closed has to fit later, too */
    void *stream, *function;
    struct piece {
        CUdeviceptr at;
        size_t bytes;
        uint32_t pattern;
        size_t mapped; /* by the program itself: bytes of each of its two handles; 0: cuMemAlloc */
    } pieces[PIECES];
};

static void *context;
static int stop;
static uint64_t checked;
static uint64_t capacity = 192 * MIB;
static uint64_t piece_most = 6 * MIB;

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (*state >> 33) % below;
}

/* The first, the last, and some words between, so that a check of a large piece is cheap. */
static size_t word_at(const struct piece *p, size_t i)
{
    size_t words = p->bytes / 4;
    return i == 0 ? 0 : i == 15 ? words - 1 : (p->pattern * 2654435761u * i + i * i * 7919u) % words;
}

static void fill(struct worker *w, struct piece *p)
{
    p->pattern = (uint32_t)draw(&w->random, 1u << 31) + 1;
    if (draw(&w->random, 2)) {
        OKAY(cuMemsetD32Async(p->at, p->pattern, p->bytes / 4, w->stream));
        return;
    }
    uint64_t count = p->bytes / 4;
    void *parameters[] = {&p->at, &p->pattern, &count};
    OKAY(cuLaunchKernel(w->function, 1, 1, 1, 1, 1, 1, 0, w->stream, parameters, NULL));
}

static void check(struct worker *w, const struct piece *p)
{
    uint32_t value[16];
    OKAY(cuStreamSynchronize(w->stream));
    for (size_t i = 0; i < 16; i++) /* not asynchronously: those copies are the mover's, and made to fail */
        OKAY(cuMemcpyDtoH_v2(&value[i], p->at + word_at(p, i) * 4, 4));
    for (size_t i = 0; i < 16; i++)
        if (value[i] != p->pattern) {
            fprintf(stderr, "piece at %llx of %zu bytes, word %zu: %x, not %x\n", (unsigned long long)p->at, p->bytes,
                    word_at(p, i), value[i], p->pattern);
            exit(1);
        }
    __atomic_fetch_add(&checked, 1, __ATOMIC_RELAXED);
}

/* Small ones that share chunks, and large ones with chunks of their own. */
static size_t draw_bytes(struct worker *w)
{
    if (draw(&w->random, 3))
        return (draw(&w->random, 1 << 18) + 1) * 4;
    return (draw(&w->random, piece_most / 4) + 1) * 4;
}

/* As an expandable segment grows: two handles behind one another, released at once, since the mappings keep them. */
static CUresult map_own(struct worker *w, struct piece *p)
{
    struct call_allocation_properties properties = {.type = 1, .location = {1, 0}};
    struct call_access access = {{1, 0}, 3};
    void *handles[2];
    properties.handle_types = (int)draw(&w->random, 2);
    p->mapped = 2 * MIB * (draw(&w->random, 2) + 1);
    p->bytes = 2 * p->mapped;
    OKAY(cuMemAddressReserve(&p->at, p->bytes, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        CUresult result = cuMemCreate(&handles[i], p->mapped, &properties, 0);
        if (result) {
            if (i)
                OKAY(cuMemUnmap(p->at, p->mapped));
            OKAY(cuMemAddressFree(p->at, p->bytes));
            return result;
        }
        OKAY(cuMemMap(p->at + (size_t)i * p->mapped, p->mapped, 0, handles[i], 0));
        OKAY(cuMemRelease(handles[i]));
    }
    OKAY(cuMemSetAccess(p->at, p->bytes, &access, 1));
    return 0;
}

static CUresult allocate(struct worker *w, struct piece *p)
{
    p->mapped = 0;
    if (draw(&w->random, 4) == 0)
        return map_own(w, p);
    p->bytes = draw_bytes(w);
    return cuMemAlloc_v2(&p->at, p->bytes);
}

static void give_back(struct worker *w, struct piece *p)
{
    w->bytes -= p->bytes;
    if (p->mapped) {
        OKAY(cuCtxSynchronize());
        for (int i = 0; i < 2; i++) {
            CUdeviceptr at = p->at + (size_t)i * p->mapped;
            CUresult result = cuMemUnmap(at, p->mapped);
            if (result) /* made to fail by the script, once: it is as before */
                OKAY(cuMemUnmap(at, p->mapped));
        }
        OKAY(cuMemAddressFree(p->at, p->bytes));
    } else {
        OKAY(cuMemFree_v2(p->at));
    }
    p->at = 0;
}

static void step(struct worker *w)
{
    struct piece *p = &w->pieces[draw(&w->random, PIECES)];
    if (!p->at) {
        if (w->bytes + 2 * piece_most > w->most)
            return;
        CUresult result = allocate(w, p);
        if (result != 0) {
            EQUAL(CUDA_ERROR_OUT_OF_MEMORY, result);
            p->at = 0;
            return;
        }
        CHECK(p->at % 256 == 0);
        w->bytes += p->bytes;
        fill(w, p);
        return;
    }
    check(w, p);
    uint64_t what = draw(&w->random, 4);
    if (what == 0) {
        give_back(w, p);
    } else if (what == 1) {
        fill(w, p);
    }
}

static void *work(void *argument)
{
    struct worker *w = argument;
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&w->stream, CU_STREAM_NON_BLOCKING));
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        step(w);
    for (int i = 0; i < PIECES; i++)
        if (w->pieces[i].at) {
            check(w, &w->pieces[i]);
            give_back(w, &w->pieces[i]);
        }
    return NULL;
}

/* One hand-over: the turn goes, then part of the memory or all of it, then both come back. */
static void hand_over(uint64_t *random, int can_leave)
{
    manager_order(TESSERA_TURN_CLOSED);
    manager_await_ack(TESSERA_ACK_CLOSED);
    uint64_t resident = manager_read(&manager_words()->resident_bytes);
    uint64_t most = draw(random, 3) ? 0 : draw(random, resident + 1);
    manager_target(most);
    if (can_leave)
        manager_await_resident(most);
    else
        manager_pause_us(3000);
    if (draw(random, 2))
        manager_pause_us((long)draw(random, 2000));
    if (draw(random, 4) == 0)
        manager_target(capacity / 3); /* some of it comes ahead of the turn */
    manager_order(draw(random, 2) ? TESSERA_TURN_GRANTED : TESSERA_TURN_FREE);
    manager_target(capacity);
    manager_await_ack(TESSERA_ACK_OPEN);
    CHECK(manager_read(&manager_words()->resident_bytes) <= capacity);
    manager_pause_us((long)draw(random, 4000));
}

static void report(void)
{
    struct tessera_residency *w = manager_words();
    printf("checked %llu moved out %llu in %llu dropped %llu moves %llu failures %llu\n", (unsigned long long)checked,
           (unsigned long long)(w->moved_out_bytes / MIB), (unsigned long long)(w->moved_in_bytes / MIB),
           (unsigned long long)(w->dropped_bytes / MIB), (unsigned long long)w->moves_out,
           (unsigned long long)w->move_failures);
    printf("left: needed %llu swapped %llu fixed %llu resident %llu cached %llu\n", (unsigned long long)w->needed_bytes,
           (unsigned long long)w->swapped_bytes, (unsigned long long)w->fixed_bytes,
           (unsigned long long)w->resident_bytes, (unsigned long long)w->cached_bytes);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 4);
    uint64_t seed = (uint64_t)atoll(argv[1]), random = seed;
    int rounds = atoi(argv[2]), threads = atoi(argv[3]);
    uint64_t pinned = argc > 4 ? (uint64_t)atoll(argv[4]) * MIB : 512 * MIB;
    uint64_t pageable = argc > 5 ? (uint64_t)atoll(argv[5]) * MIB : 0;
    int can_leave = !getenv("SWAP_CANNOT_LEAVE");
    static struct worker workers[16];
    void *module, *function;
    CHECK(threads <= 16);
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    manager_start();
    OKAY(cuInit(0));
    manager_words()->pinned_target = pinned;
    manager_words()->pageable_target = pageable;
    manager_words()->capacity_bytes = capacity;
    manager_words()->resident_target = capacity;
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&function, module, "scripted_fill"));
    manager_order(TESSERA_TURN_FREE);
    for (int i = 0; i < threads; i++) {
        workers[i].random = seed * 31 + (uint64_t)i;
        workers[i].function = function;
        workers[i].most = capacity / 10 * 9 / (unsigned)threads;
        OKAY(pthread_create(&workers[i].thread, NULL, work, &workers[i]));
    }
    printf("working\n");
    fflush(stdout);
    for (int i = 0; i < rounds; i++)
        hand_over(&random, can_leave);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < threads; i++)
        OKAY(pthread_join(workers[i].thread, NULL));
    report();
    EQUAL(0, manager_words()->needed_bytes);
    EQUAL(0, manager_words()->swapped_bytes);
    CHECK(manager_words()->resident_bytes == manager_words()->cached_bytes);
    printf("done\n");
    return 0;
}
