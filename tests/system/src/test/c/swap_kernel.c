/*
 * Plan swap with TESSERA_MOVE_BY=kernel: when memory comes in by a kernel and when by the copy engine, contents of any size,
 * contexts that end. By the kernel came what the trace of the moves says (TESSERA_MOVE_TRACE); the driver's count of launches
 * is the test's to compare, since nothing else launches here. Each case in a process of its own:
 *     swap_kernel CASE SEED
 */
#include <dlfcn.h>

#include "swap_situation.h"

#define PIECES 36
#define ROUNDS 25

static struct piece {
    CUdeviceptr at;
    size_t bytes;
    unsigned char *expected;
} pieces[PIECES];
static uint64_t random_state;
static unsigned char *found;
static void *second; /* a context beside the primary one, which holds all pieces */

static uint64_t draw(uint64_t below)
{
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (random_state >> 33) % below;
}

/* Lines of the trace so far that say so. */
static unsigned by_kernel(void)
{
    char line[256];
    unsigned count = 0;
    FILE *trace = fopen(getenv("TESSERA_MOVE_TRACE"), "r");
    CHECK(trace);
    while (fgets(line, sizeof line, trace))
        count += strstr(line, " by-kernel ") != NULL;
    fclose(trace);
    return count;
}

/* Entries of the library's error log with this in their text. */
static unsigned errors_with(const char *text)
{
    unsigned count = 0;
    for (unsigned i = 0; i < TESSERA_ERROR_ENTRIES; i++)
        count += manager_segment->errors[i].ready && strstr(manager_segment->errors[i].text, text);
    return count;
}

static void write_piece(struct piece *p)
{
    for (size_t i = 0; i < p->bytes; i++)
        p->expected[i] = (unsigned char)(draw(2) ? i * 37 + p->bytes : i);
    OKAY(cuMemcpyHtoD_v2(p->at, p->expected, p->bytes));
}

/* Small ones share chunks; no size is one that a kernel likes. */
static void make_pieces(void)
{
    static const size_t sizes[] = {1, 15, 16, 17, 4097, 65544, MIB - 1, MIB, MIB + 1, 2 * MIB + 3, 3 * MIB + 8, 5 * MIB + 15};
    found = malloc(8 * MIB);
    CHECK(found);
    manager_words()->pageable_target = 0; /* so that all is pinned */
    for (int i = 0; i < PIECES; i++) {
        pieces[i].bytes = sizes[(size_t)i % (sizeof sizes / sizeof *sizes)];
        pieces[i].expected = malloc(pieces[i].bytes);
        CHECK(pieces[i].expected);
        pieces[i].at = allocate(pieces[i].bytes);
        write_piece(&pieces[i]);
    }
}

static void check_pieces(void)
{
    for (int i = 0; i < PIECES; i++) {
        OKAY(cuMemcpyDtoH_v2(found, pieces[i].at, pieces[i].bytes));
        if (memcmp(found, pieces[i].expected, pieces[i].bytes) != 0) {
            fprintf(stderr, "piece %d of %zu bytes is not as it was\n", i, pieces[i].bytes);
            exit(1);
        }
    }
    write_piece(&pieces[draw(PIECES)]);
}

static void open_all(void)
{
    begin(CAPACITY);
    grant();
    make_pieces();
}

/* As a manager does it: first the turn, then room. What comes before the client knows of the turn comes ahead of it. */
static void begin_to_let_in(void)
{
    const uint64_t *turns = &manager_segment->devices[0].turns;
    uint64_t before = manager_read(turns);
    manager_order(TESSERA_TURN_GRANTED);
    for (uint64_t until = manager_now_ns() + 30000000000ULL; manager_read(turns) == before; manager_pause_us(50))
        CHECK(manager_now_ns() < until);
    manager_target(CAPACITY);
}

static void let_in(void)
{
    begin_to_let_in();
    manager_await_ack(TESSERA_ACK_OPEN);
}

static void round_trip(void)
{
    evict();
    let_in();
    check_pieces();
}

/* Bytes of every size, again and again, part of the memory or all of it. */
static void granted(void)
{
    open_all();
    for (int i = 0; i < ROUNDS; i++) {
        manager_order(TESSERA_TURN_CLOSED);
        manager_await_ack(TESSERA_ACK_CLOSED);
        uint64_t most = draw(2) ? 0 : draw(manager_read(&manager_words()->resident_bytes));
        manager_target(most);
        manager_await_resident(most);
        let_in();
        check_pieces();
    }
    CHECK(by_kernel() > ROUNDS);
    EQUAL(0, errors_with(""));
}

/* All of it, so that nothing finds room ahead of the turn. */
static void everything(void)
{
    open_all();
    for (int i = 0; i < 8; i++)
        round_trip();
}

/* Others run beside: the multiprocessors are theirs, too. */
static void free_running(void)
{
    open_all();
    for (int i = 0; i < 5; i++) {
        evict();
        manager_target(CAPACITY);
        manager_order(TESSERA_TURN_FREE);
        manager_await_ack(TESSERA_ACK_OPEN);
        check_pieces();
    }
    EQUAL(0, by_kernel());
    round_trip();
    CHECK(by_kernel() > 0);
}

/* What comes ahead of the turn comes while another one has it. */
static void ahead(void)
{
    open_all();
    evict();
    uint64_t all = manager_read(&manager_words()->needed_bytes);
    manager_target(CAPACITY);
    await_word(&manager_words()->resident_bytes, all);
    await_word(&manager_words()->swapped_bytes, 0);
    grant();
    check_pieces();
    EQUAL(0, by_kernel());
}

/* Without a manager nobody has the device alone. */
static void manager_dies(void)
{
    open_all();
    evict();
    manager_die();
    check_pieces();
    EQUAL(0, by_kernel());
}

static void pageable(void)
{
    begin(CAPACITY);
    manager_words()->pinned_target = 0;
    grant();
    make_pieces();
    manager_words()->pageable_target = 512 * MIB;
    round_trip();
    EQUAL(0, by_kernel());
}

/* Pinned memory whose registration ended with its context is registered anew, by a thread of its own. */
static void until_more_by_kernel(void)
{
    unsigned before = by_kernel();
    for (uint64_t until = manager_now_ns() + 60000000000ULL; by_kernel() == before; manager_pause_us(10000)) {
        CHECK(manager_now_ns() < until);
        round_trip();
    }
}

/* All pieces in a second context; the mover takes the primary one, which came first. */
static void open_in_second(void)
{
    begin(CAPACITY);
    OKAY(cuCtxCreate_v2(&second, 0, 0));
    OKAY(cuCtxSetCurrent(second));
    grant();
    make_pieces();
}

/* The context of the mover ends between two moves: the next ones are made in the other, then in a new one beside it. */
static void contexts(void)
{
    open_in_second();
    round_trip();
    CHECK(by_kernel() > 0);
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    until_more_by_kernel();
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    round_trip();
    round_trip();
    EQUAL(0, errors_with("kernel"));
}

/*
 * The mover is in a context that came first of all, the memory is registered in one that ends in the middle of the move: a
 * kernel that read it would fault, so none does, until it is registered in the mover's.
 */
static void registered_elsewhere(void)
{
    void *third, *first;
    begin(CAPACITY);
    OKAY(cuCtxCreate_v2(&second, 0, 0));
    OKAY(cuCtxCreate_v2(&third, 0, 0));
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    grant();
    make_pieces();
    for (uint64_t until = manager_now_ns() + 30000000000ULL;
         manager_read(&manager_words()->pinned_held) < manager_words()->needed_bytes; manager_pause_us(1000))
        CHECK(manager_now_ns() < until);
    OKAY(cuCtxCreate_v2(&first, 0, 0)); /* in the primary one's place */
    OKAY(cuCtxSetCurrent(third));
    evict();
    begin_to_let_in();
    for (uint64_t until = manager_now_ns() + 30000000000ULL; manager_read(&manager_words()->moved_in_bytes) == 0;
         manager_pause_us(50))
        CHECK(manager_now_ns() < until);
    OKAY(cuCtxDestroy_v2(second));
    manager_await_ack(TESSERA_ACK_OPEN);
    check_pieces();
    EQUAL(0, by_kernel());
    until_more_by_kernel();
}

static int stop;

static void *come_and_go(void *unused)
{
    void *other;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        OKAY(cuCtxCreate_v2(&other, 0, 0));
        manager_pause_us(700);
        OKAY(cuCtxDestroy_v2(other));
        manager_pause_us(300);
    }
    return unused;
}

/* Contexts in which the mover may just be at work come and go. */
static void contexts_beside(void)
{
    pthread_t thread;
    open_in_second();
    OKAY(cuDevicePrimaryCtxRelease_v2(0));
    OKAY(pthread_create(&thread, NULL, come_and_go, NULL));
    for (int i = 0; i < ROUNDS; i++)
        round_trip();
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    OKAY(pthread_join(thread, NULL));
}

/* A capture that is open out of the library's sight lives on, as it does beside copies. */
static void captured(void)
{
    void *driver = dlopen(getenv("TESSERA_DRIVER"), RTLD_NOW | RTLD_LOCAL);
    CHECK(driver);
    int (*begin_capture)(void *, int) = (int (*)(void *, int))dlsym(driver, "cuStreamBeginCapture_v2");
    int (*end_capture)(void *, void **) = (int (*)(void *, void **))dlsym(driver, "cuStreamEndCapture");
    CHECK(begin_capture && end_capture);
    void *stream, *graph = NULL;
    open_all();
    OKAY(cuStreamCreate(&stream, 1));
    evict();
    OKAY(begin_capture(stream, 0)); /* global: calls of other threads break it, unless they relax their mode */
    let_in();
    CHECK(by_kernel() > 0);
    OKAY(end_capture(stream, &graph));
    CHECK(graph);
    check_pieces();
}

/* The script fails something that the kernel needs: said once, and all comes by the copy engine. */
static void refused(void)
{
    const char *most = getenv("SWAP_KERNEL_LAUNCHES");
    open_all();
    for (int i = 0; i < 4; i++)
        round_trip();
    EQUAL(most ? (unsigned)atoi(most) : 0, by_kernel());
    EQUAL(1, errors_with("copy engine"));
    EQUAL(1, errors_with(""));
    EQUAL(0, manager_words()->move_failures);
}

/* Not asked for, or asked for in words that are not known. */
static void by_engine(void)
{
    open_all();
    round_trip();
    EQUAL(0, by_kernel());
    EQUAL(0, errors_with(""));
}

static const struct situation cases[] = {{"granted", granted},
                                         {"everything", everything},
                                         {"free", free_running},
                                         {"ahead", ahead},
                                         {"manager-dies", manager_dies},
                                         {"pageable", pageable},
                                         {"contexts", contexts},
                                         {"registered-elsewhere", registered_elsewhere},
                                         {"contexts-beside", contexts_beside},
                                         {"captured", captured},
                                         {"refused", refused},
                                         {"by-engine", by_engine}};

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    random_state = (uint64_t)atoll(argv[2]);
    return run_situation(2, argv, cases, sizeof cases / sizeof *cases);
}
