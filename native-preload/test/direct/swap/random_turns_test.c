/*
 * A random program with two threads, whose memory moves at random. It allocates, frees and fixes memory, and writes zeros, the same
 * contents, earlier ones and new ones. Meanwhile turns end and begin, the manager's targets change, calls fail, copies are late, and
 * others hand over memory that is full of their contents. After every turn, contents are what was written, no contents of others are
 * seen, and the sums match the chunks. Each run is a process; a run that fails prints its seed, and TESSERA_SEED repeats it alone.
 */
#include <sys/wait.h>

#include "direct/chunks/backing_step.h"
#include "direct/chunks/chunks.h"
#include "late_driver.h"
#include "moving_program.h"

#define RUNS (SANITIZED ? 4 : 8)
#define LONG_RUNS 600
#define TOGETHER 8
#define TURNS 10
#define BLOCKS 8        /* of a thread */
#define MOST (12 * MIB) /* of a thread's memory, so that all of it, and what it shares, fits at once */
#define LARGEST (8 * MIB)
#define SOME_ERROR CUDA_ERROR_OPERATING_SYSTEM

struct block {
    CUdeviceptr at; /* 0: none */
    uint64_t bytes;
    unsigned char *expected, *before; /* what it holds, and held before the last change */
    bool written;
};

/* A thread of the program. */
struct worker {
    pthread_t thread;
    pthread_mutex_t lock; /* held while it does something */
    uint64_t random, bytes;
    struct block blocks[BLOCKS];
    bool stops;
};

static pthread_rwlock_t gate =
    PTHREAD_RWLOCK_INITIALIZER; /* write-locked while the gate is closed: no work reaches the device */
static bool fails;

static uint64_t draw(struct worker *w, uint64_t below)
{
    w->random ^= w->random << 13; /* xorshift64 (Marsaglia 2003) */
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random % below;
}

static unsigned char *memory_of(const struct block *block)
{
    return (unsigned char *)(uintptr_t)block->at;
}

static void check_block(const struct block *block)
{
    if (block->at && block->written)
        CHECK(memcmp(memory_of(block), block->expected, block->bytes) == 0);
}

/* The gate is open. New memory holds no contents of others. */
static void first_write(struct worker *w, struct block *block)
{
    for (uint64_t i = 0; i < block->bytes; i++)
        CHECK(memory_of(block)[i] != STRANGE);
    unsigned char with = draw(w, 2) ? 0 : (unsigned char)(1 + draw(w, 60));
    memset(block->expected, with, block->bytes);
    memset(memory_of(block), with, block->bytes);
    block->written = true;
}

/* The gate is open. */
static void change(struct worker *w, struct block *block)
{
    uint64_t from = draw(w, block->bytes), bytes = 1 + draw(w, block->bytes - from);
    unsigned char *at = block->expected + from;
    switch (draw(w, 6)) {
    case 0: /* as before the last change */
        for (uint64_t i = 0; i < block->bytes; i++) {
            unsigned char now_there = block->expected[i];
            block->expected[i] = block->before[i];
            block->before[i] = now_there;
        }
        memcpy(memory_of(block), block->expected, block->bytes);
        return;
    case 1:
        memcpy(block->before, block->expected, block->bytes);
        memset(at, 0, bytes);
        break;
    case 2:
        memcpy(block->before, block->expected, block->bytes);
        *at ^= 0x80; /* one bit */
        bytes = 1;
        break;
    case 3: /* the same */
        break;
    default:
        memcpy(block->before, block->expected, block->bytes);
        for (uint64_t i = 0, number = 1 + draw(w, 1000); i < bytes; i++)
            at[i] = (unsigned char)((number + i) % 89);
    }
    memcpy(memory_of(block) + from, at, bytes);
}

static void get(struct worker *w, struct block *block)
{
    uint64_t bytes = draw(w, 3) == 0 ? 1 + draw(w, 300000) : 2 * MIB + draw(w, LARGEST - 2 * MIB);
    bytes = draw(w, 2) ? bytes : (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    if (w->bytes + bytes > MOST || swap_allocate(0, bytes, 0, (struct swap_options){0}, &block->at) != CUDA_SUCCESS) {
        block->at = 0;
        return;
    }
    block->bytes = bytes;
    block->expected = calloc(2, bytes);
    CHECK(block->expected);
    block->before = block->expected + bytes;
    block->written = false;
    w->bytes += bytes;
}

static void put(struct worker *w, struct block *block)
{
    CHECK(swap_free(block->at) == CUDA_SUCCESS);
    block->at = 0;
    free(block->expected);
    w->bytes -= block->bytes;
}

/* Allocates or frees, which is allowed at any time; with the gate open, it may also write. */
static void act(struct worker *w, bool open)
{
    struct block *block = &w->blocks[draw(w, BLOCKS)];
    if (!block->at)
        get(w, block);
    else if (draw(w, 5) == 0)
        put(w, block);
    else if (open && !block->written)
        first_write(w, block);
    else if (open)
        change(w, block);
}

static void *work(void *of)
{
    struct worker *w = of;
    driver_use();
    while (!__atomic_load_n(&w->stops, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&w->lock);
        if (draw(w, 2)) {
            act(w, false);
        } else if (pthread_rwlock_tryrdlock(&gate) == 0) {
            struct block *block = &w->blocks[draw(w, BLOCKS)];
            check_block(block);
            if (block->at && block->written)
                change(w, block);
            else if (block->at)
                first_write(w, block);
            pthread_rwlock_unlock(&gate);
        }
        pthread_mutex_unlock(&w->lock);
        usleep((useconds_t)draw(w, 3000));
    }
    return NULL;
}

static uint32_t units(const struct backing_piece *pieces)
{
    uint32_t count = 0;
    for (; pieces; pieces = pieces->next)
        count += (uint32_t)(pieces->bytes / BACKING_UNIT);
    return count;
}

/* Invariants of a chunk that is not being moved. */
static void check_chunk(const struct chunk *c)
{
    unit_mask backed = c->content ? backing_units(c->backing) : 0;
    CHECK(c->state == CHUNK_ABSENT || c->handle);
    CHECK(!c->away || (c->state == CHUNK_ABSENT && c->live));
    CHECK(!c->fixed || (!c->content && !c->backing && !c->away));
    CHECK(c->live || (!c->content && !c->backing && !c->away));
    CHECK(c->content || !c->backing || c->away);
    if (!c->content)
        return;
    CHECK((c->content->copied & ~c->content->filled) == 0 && (c->content->copied & ~backed) == 0);
    CHECK(!c->away || c->content->copied == c->content->filled);
}

/* Whether the program could not write into the chunk yet. */
static bool is_blank(const struct chunk *c)
{
    bool empty = c->state == CHUNK_RESIDENT ? c->empty_since == residency_of(0)->openings : !c->away;
    return c->live && residency_of(0)->closed && empty && !c->content && !c->unseen && !chunk_never_seen(c);
}

/* The sums match the chunks, and only chunks use host memory. The other thread does nothing meanwhile. */
static void check_sums(void)
{
    struct residency sums = {0};
    uint64_t used = 0, filled = 0, real = 0, steps[TIERS] = {0}, pieces = 0;
    residency_lock();
    for (const struct chunk *c = chunk_first(0); c; c = c->next) {
        uint64_t contents = chunk_content_bytes(c);
        if (c->state != CHUNK_BUSY)
            check_chunk(c);
        pieces += units(c->backing);
        real += c->handle ? c->bytes : 0;
        if (c->fixed) {
            sums.fixed += c->bytes;
            continue;
        }
        filled += c->handle ? c->bytes : 0;
        sums.needed += c->live ? c->bytes : 0;
        sums.looked += c->live && c->content ? c->bytes : 0;
        sums.zero += c->live ? c->bytes - contents : 0;
        sums.blank += is_blank(c) ? c->bytes : 0;
        sums.present += c->live && c->state == CHUNK_RESIDENT ? c->bytes : 0;
        sums.cached += !c->live && c->state == CHUNK_RESIDENT ? c->bytes : 0;
        sums.swapped += c->away ? contents : 0;
        sums.clean += c->live && c->content && !c->away ? content_bytes(c->content->copied) : 0;
    }
    for (const struct backing_step *s = step_first(0); s; s = s->next) {
        steps[s->tier] += s->bytes;
        used += s->used;
    }
    const struct residency *r = residency_of(0);
    CHECK(r->needed == sums.needed && r->present == sums.present && r->cached == sums.cached && r->fixed == sums.fixed);
    CHECK(r->looked == sums.looked && r->zero == sums.zero && r->blank == sums.blank && r->clean == sums.clean &&
          r->swapped == sums.swapped);
    CHECK(r->resident == filled && used == pieces && steps[TIER_PAGEABLE] == r->held[TIER_PAGEABLE]);
    CHECK(steps[TIER_PINNED] <= r->held[TIER_PINNED]); /* a step is being pinned */
    CHECK(words()->needed_bytes == r->needed && words()->swapped_bytes == r->swapped && words()->clean_bytes == r->clean);
    residency_unlock();
    CHECK(driver_held() == real);
}

static void fail_soon(struct worker *w)
{
    driver.fail_at = 0;
    driver.failure = draw(w, 2) ? SOME_ERROR : CUDA_ERROR_OUT_OF_MEMORY;
    driver.fail_at = fails && draw(w, 2) ? driver.calls + 1 + (unsigned)draw(w, 60) : 0;
}

static void order_host(struct worker *w)
{
    static const uint64_t sizes[] = {0, 0, 4 * MIB, 8 * MIB, 20 * MIB, DRIVER_MEMORY, DRIVER_MEMORY};
    __atomic_store_n(&words()->pinned_target, sizes[draw(w, 7)], __ATOMIC_SEQ_CST);
    __atomic_store_n(&words()->pageable_target, sizes[draw(w, 7)], __ATOMIC_SEQ_CST);
    residency_orders(0);
}

/* Memory leaves as far as it can, while the first thread allocates and frees as the second does. */
static void somebody_elses_turn(struct worker *w)
{
    residency_drained(0);
    uint64_t most = DRIVER_MEMORY / 2;
    for (uint64_t rounds = 1 + draw(w, 5); rounds; rounds--) {
        order(draw(w, 3) ? 0 : draw(w, most));
        if (draw(w, 4) == 0)
            order_host(w);
        if (draw(w, 2))
            stranger_gives(residency_chunk_size(0));
        moves_step(0, false);
        if (draw(w, 2))
            act(w, false);
        usleep((useconds_t)draw(w, 4000));
    }
    order(DRIVER_MEMORY);
    move(true);
}

static void check_all(struct worker *w, struct worker *other)
{
    pthread_mutex_lock(&other->lock);
    check_sums();
    for (unsigned i = 0; i < BLOCKS; i++) {
        check_block(&w->blocks[i]);
        check_block(&other->blocks[i]);
    }
    pthread_mutex_unlock(&other->lock);
}

static void free_all(struct worker *w)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        if (w->blocks[i].at)
            put(w, &w->blocks[i]);
}

static void play(uint64_t seed)
{
    static struct worker one, two;
    one = (struct worker){.lock = PTHREAD_MUTEX_INITIALIZER, .random = seed * 2654435761ULL + 1};
    two = (struct worker){.lock = PTHREAD_MUTEX_INITIALIZER, .random = seed * 40503 + 12345};
    fails = draw(&one, 2);
    late_driver();
    open_device(true);
    words()->capacity_bytes = (64 << draw(&one, 4)) * MIB; /* chunks of 2, 4, 8 or 16 MiB */
    order_host(&one);
    if (draw(&one, 2))
        strangers_come();
    CHECK(pthread_create(&two.thread, NULL, work, &two) == 0);
    for (int turn = 0; turn < TURNS; turn++) {
        for (uint64_t acts = draw(&one, 12); acts; acts--)
            act(&one, true);
        if (draw(&one, 12) == 0 && one.blocks[0].at)
            swap_fix(one.blocks[0].at);
        pthread_rwlock_wrlock(&gate);
        fail_soon(&one);
        somebody_elses_turn(&one);
        check_all(&one, &two);
        pthread_rwlock_unlock(&gate);
    }
    __atomic_store_n(&two.stops, true, __ATOMIC_RELAXED);
    CHECK(pthread_join(two.thread, NULL) == 0);
    fail_soon(&one);
    free_all(&one);
    free_all(&two);
    end(NULL, 0);
    check_sums();
}

static pid_t begin(uint64_t seed)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child)
        return child;
    alarm(HANGS_S);
    play(seed);
    _exit(0);
}

int main(int count, char **arguments)
{
    ensure_settings(arguments);
    const char *set = getenv("TESSERA_SEED");
    uint64_t seed = set ? strtoull(set, NULL, 0) : monotonic_ns() % 1000000, failed = 0;
    unsigned runs = set ? 1 : count > 1 ? LONG_RUNS : RUNS;
    printf("random turns: seeds %llu to %llu\n", (unsigned long long)seed, (unsigned long long)seed + runs - 1);
    fflush(stdout);
    for (unsigned done = 0; done < runs; done += TOGETHER) {
        pid_t children[TOGETHER];
        for (unsigned i = 0; i < TOGETHER && done + i < runs; i++)
            children[i] = begin(seed + done + i);
        for (unsigned i = 0; i < TOGETHER && done + i < runs; i++) {
            int status;
            CHECK(waitpid(children[i], &status, 0) == children[i]);
            if (status)
                fprintf(stderr, "random turns: TESSERA_SEED=%llu ended with status %x\n",
                        (unsigned long long)(seed + done + i), status);
            failed += status != 0;
        }
    }
    CHECK(failed == 0);
    return 0;
}
