/*
 * The ring, the reply slots and the words from the client's side, against a thread that plays the executor as RELAY.md
 * describes it: records of random lengths from several threads arrive whole, once and in each thread's order; writers
 * wait while the ring is full; a sleeping executor is woken; queries get their own answers; no wait outlasts the executor.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver/clock.h"
#include "time_limits.h"
#include "relay/wire/backoff.h"
#include "relay/wire/relay.h"
#include "session/settings.h"

#define PRODUCERS 4
#define RECORDS 20000
#define QUERIES 3000
#define LONGEST 6000

static struct tessera_relay_segment *segment;
static struct relay_link *link0 = &relay_links[0];
static uint64_t seed;
static int stop;
static uint64_t sleeps, seen[PRODUCERS];

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "seed %llu: ", (unsigned long long)seed);                                                  \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fprintf(stderr, "\n");                                                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Body of a test record: its producer and number, then bytes that follow from both. */
struct body {
    uint32_t producer, number;
    unsigned char bytes[];
};

static void answer(const struct tessera_record *record)
{
    struct tessera_reply *reply = (struct tessera_reply *)segment->reply[record->slot - 1];
    uint64_t value;
    memcpy(&value, record + 1, sizeof value);
    value++;
    memcpy(reply + 1, &value, sizeof value);
    reply->result = (int32_t)(value & 1);
    reply->bytes = sizeof value;
    __atomic_store_n(&reply->sequence, reply->sequence + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&reply->waiting, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &reply->sequence, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void take(const struct tessera_record *record)
{
    if (record->kind == TESSERA_RELAY_QUERY) {
        answer(record);
    } else if (record->kind == TESSERA_RELAY_MARK) {
        struct tessera_mark mark;
        memcpy(&mark, record + 1, sizeof mark);
        __atomic_store_n(&segment->word[mark.word], mark.value, __ATOMIC_RELEASE);
    } else if (record->kind == TESSERA_RELAY_CALL) {
        const struct body *body = (const struct body *)(record + 1);
        size_t bytes = (size_t)record->length - sizeof *record - sizeof *body;
        CHECK(body->producer < PRODUCERS, "a record of nobody");
        CHECK(body->number == seen[body->producer], "producer %u: record %u after %llu", body->producer, body->number,
              (unsigned long long)seen[body->producer]);
        for (size_t i = 0; i < bytes; i++)
            CHECK(body->bytes[i] == (unsigned char)(body->producer * 31 + body->number + i), "a byte is wrong");
        seen[body->producer]++;
    } else {
        CHECK(record->kind == TESSERA_RELAY_PADDING, "a record of kind %u", record->kind);
    }
}

static void park(void)
{
    struct timespec longest = {0, 100000000L};
    uint64_t at = segment->consumed & (TESSERA_RELAY_RING_BYTES - 1);
    const int32_t *length = (const int32_t *)(segment->ring + at);
    __atomic_store_n(&segment->parked, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(length, __ATOMIC_SEQ_CST) <= 0) {
        syscall(SYS_futex, &segment->parked, FUTEX_WAIT, 1, &longest, NULL, 0);
        sleeps++;
    }
    __atomic_store_n(&segment->parked, 0, __ATOMIC_SEQ_CST);
}

static void *executor(void *unused)
{
    (void)unused;
    static unsigned char copy[TESSERA_RELAY_RECORD_MAX] __attribute__((aligned(16)));
    uint64_t state = seed ^ 0x5bd1e995, idle = 0;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&segment->executor_heartbeat_ns, monotonic_ns(), __ATOMIC_RELAXED);
        uint64_t at = segment->consumed & (TESSERA_RELAY_RING_BYTES - 1);
        int32_t length = __atomic_load_n((int32_t *)(segment->ring + at), __ATOMIC_ACQUIRE);
        if (length <= 0) {
            if (++idle > 2000) {
                park();
                idle = 0;
            }
            continue;
        }
        idle = 0;
        uint64_t room = ((uint64_t)length + 15) & ~15ULL;
        CHECK(at + room <= TESSERA_RELAY_RING_BYTES, "a record over the end");
        memcpy(copy, segment->ring + at, (size_t)length < sizeof copy ? (size_t)length : sizeof copy);
        memset(segment->ring + at, 0, room);
        __atomic_store_n(&segment->consumed, segment->consumed + room, __ATOMIC_RELEASE);
        take((const struct tessera_record *)copy);
        if (next(&state) % 4096 == 0)
            usleep(1000); /* the ring fills up meanwhile */
    }
    return NULL;
}

static void *produce(void *argument)
{
    uint32_t producer = (uint32_t)(uintptr_t)argument;
    uint64_t state = seed + producer * 0x9e3779b97f4a7c15ULL + 1;
    for (uint32_t number = 0; number < RECORDS; number++) {
        uint64_t bytes = next(&state) % 16 ? next(&state) % 200 : next(&state) % LONGEST;
        struct relay_claimed claimed = relay_claim(link0, TESSERA_RELAY_CALL, sizeof(struct body) + bytes, RELAY_NO_END);
        CHECK(claimed.record, "no room although the executor lives");
        struct body *body = claimed.body;
        body->producer = producer;
        body->number = number;
        for (uint64_t i = 0; i < bytes; i++)
            body->bytes[i] = (unsigned char)(producer * 31 + number + i);
        relay_commit(link0, claimed);
        if (next(&state) % 8192 == 0)
            usleep(3000); /* long enough for the executor to fall asleep */
    }
    return NULL;
}

static void *ask(void *argument)
{
    uint64_t state = seed + (uintptr_t)argument * 77 + 5;
    for (int i = 0; i < QUERIES; i++) {
        uint64_t value = next(&state) >> 1, got = 0;
        CUresult result = relay_query(link0, TESSERA_QUERY_MEMORY, value, &got, sizeof got);
        CHECK(got == value + 1 && result == (CUresult)(got & 1), "another's answer");
        if (i % 200 == 0)
            usleep(500);
    }
    return NULL;
}

static void together(void *(*run)(void *))
{
    pthread_t threads[PRODUCERS];
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, (void *)i) == 0, "no thread");
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
}

static void words(void)
{
    struct relay_context context = {.link = link0, .number = 1};
    int first = relay_word_take(link0, 0), second = relay_word_take(link0, 0);
    CHECK(first >= 0 && second >= 0 && first != second, "words %d and %d", first, second);
    for (uint64_t value = 2; value < 200; value += 2) {
        relay_send_mark(&context, TESSERA_RELAY_MARK, 0, first, value);
        CHECK(relay_wait_word(link0, first, value) == CUDA_SUCCESS, "a word that is not reached");
    }
    CHECK(!relay_word_reached(link0, second, 2), "a word that nobody wrote");
    unsigned left = 0;
    while (relay_word_take(link0, 0) >= 0)
        left++;
    CHECK(left == TESSERA_RELAY_WORDS - 2, "%u words are left", left);
    relay_word_give(link0, second);
    CHECK(relay_word_take(link0, 0) == second, "a word given back is not taken again");
}

/* No executor reads the ring any more: waits for room, for a word and for an answer end with the link. */
static void *end_soon(void *unused)
{
    usleep(50000);
    __atomic_store_n(&segment->ended, 1, __ATOMIC_RELEASE);
    return unused;
}

static void after_the_end(void)
{
    pthread_t ender;
    uint64_t from_ns = monotonic_ns();
    CHECK(pthread_create(&ender, NULL, end_soon, NULL) == 0, "no thread");
    while (relay_claim(link0, TESSERA_RELAY_CALL, LONGEST, RELAY_NO_END).record)
        ;
    CHECK(relay_wait_word(link0, 0, UINT64_MAX) == CUDA_ERROR_CONTEXT_IS_DESTROYED, "a word of a lost link");
    CHECK(relay_query(link0, TESSERA_QUERY_MEMORY, 1, NULL, 0) == CUDA_ERROR_CONTEXT_IS_DESTROYED,
          "an answer of nobody");
    CHECK(monotonic_ns() - from_ns < HANGS_S / 10 * 1000000000ULL, "the end took too long");
    pthread_join(ender, NULL);
}

/* The settings are read before main(). The executor's end, which the test makes, is no news for whoever runs it. */
static void ensure_settings(char **arguments)
{
    if (settings()->quiet)
        return;
    setenv("TESSERA_QUIET", "1", 1);
    execv("/proc/self/exe", arguments);
    CHECK(false, "not executed again");
}

int main(int count, char **arguments)
{
    (void)count;
    ensure_settings(arguments);
    const char *given = getenv("TESSERA_SEED");
    seed = given ? strtoull(given, NULL, 10) : monotonic_ns() | 1;
    printf("seed %llu\n", (unsigned long long)seed);
    alarm(HANGS_S);
    segment = mmap(NULL, sizeof *segment, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(segment != MAP_FAILED, "no memory");
    segment->executor_heartbeat_ns = monotonic_ns();
    *link0 = (struct relay_link){.segment = segment, .socket = -1};
    pthread_t peer;
    CHECK(pthread_create(&peer, NULL, executor, NULL) == 0, "no thread");
    together(produce);
    together(ask);
    words();
    while (__atomic_load_n(&segment->consumed, __ATOMIC_ACQUIRE) != segment->claimed)
        usleep(100);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(peer, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        CHECK(seen[i] == RECORDS, "producer %d: %llu records", i, (unsigned long long)seen[i]);
    for (unsigned i = 0; i < TESSERA_RELAY_RING_BYTES; i++)
        CHECK(segment->ring[i] == 0, "the ring is not empty");
    CHECK(sleeps > 0, "the executor never slept");
    after_the_end();
    printf("%u records of %u threads, %llu times asleep: ok\n", RECORDS * PRODUCERS, PRODUCERS,
           (unsigned long long)sleeps);
    return 0;
}
