/*
 * What no honest library writes: records made by hand in the ring that it shares with the executor, a segment full of
 * rubbish, and connections of its own to the executor's socket (ATTACK_EXECUTOR). ATTACK_SEED repeats a run.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "connect.h"
#include "cuda_constants.h"
#include "tessera_relay.h"

enum { SLOT = 50, ANSWERED = 3000, UNANSWERED = 20000, BODY = 20, WAIT_US = 20000, OTHER_USER = 65534 };

static struct tessera_relay_segment *shared;
static uint64_t known[24];
static size_t known_count;

/* The only shared mapping of the segment's size that begins with its magic. */
static void find_segment(void)
{
    char line[512], rights[8];
    uintptr_t from, to;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (!shared && maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, rights) == 3 && strcmp(rights, "rw-s") == 0 &&
            to - from == sizeof *shared && *(uint64_t *)from == TESSERA_RELAY_MAGIC)
            shared = (struct tessera_relay_segment *)from;
    need(shared ? 0 : 1, "finding the segment");
    fclose(maps);
}

static void begin(void)
{
    static const char *const facts[] = {"device",       "pinned",  "global",  "pool",       "mapped",     "results",
                                        "stream",       "event",   "module",  "function",   "graph",      "executable",
                                        "array_handle", "texture", "surface", "allocation", "pool_handle"};
    const char *seed = getenv("ATTACK_SEED");
    srandom(seed ? (unsigned)atol(seed) : (unsigned)getpid());
    printf("seed %s%d\n", seed ? seed : "", seed ? 0 : getpid());
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        known[known_count++] = fact(facts[i]);
    known[known_count++] = own_memory();
    find_segment();
}

/* Room for a record, as every producer claims it; NULL where there is none within a bound. */
static struct tessera_record *claim(uint32_t bytes)
{
    uint32_t length = (bytes + 15) & ~15u;
    for (int tries = 0; tries < 200000; tries++) {
        uint64_t at = __atomic_load_n(&shared->claimed, __ATOMIC_ACQUIRE), place = at % TESSERA_RELAY_RING_BYTES;
        int wraps = place + length > TESSERA_RELAY_RING_BYTES;
        uint32_t taken = wraps ? (uint32_t)(TESSERA_RELAY_RING_BYTES - place) : length;
        if (at + taken - __atomic_load_n(&shared->consumed, __ATOMIC_ACQUIRE) > TESSERA_RELAY_RING_BYTES) {
            usleep(10);
            continue;
        }
        if (!__atomic_compare_exchange_n(&shared->claimed, &at, at + taken, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            continue;
        struct tessera_record *record = (void *)&shared->ring[place];
        __atomic_store_n(&record->length, -(int32_t)taken, __ATOMIC_RELEASE);
        if (!wraps)
            return record;
        record->kind = TESSERA_RELAY_PADDING;
        record->entry = 0;
        record->slot = 0;
        record->context = record->flags = 0;
        __atomic_store_n(&record->length, (int32_t)taken, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* The executor looks at least every 100 ms: nothing wakes it here. */
static void send_record(uint16_t kind, uint16_t entry, uint32_t slot, const void *body, uint32_t bytes)
{
    struct tessera_record *record = claim((uint32_t)sizeof *record + bytes);
    if (!record)
        return;
    record->kind = kind;
    record->entry = entry;
    record->slot = slot;
    record->context = 1;
    record->flags = 0;
    memcpy(record + 1, body, bytes);
    __atomic_store_n(&record->length, (int32_t)(sizeof *record + bytes), __ATOMIC_RELEASE);
}

static uint64_t argument(void)
{
    uint64_t at = known[(size_t)random() % known_count];
    switch (random() % 10) {
    case 0:
    case 1:
    case 2:
        return at;
    case 3:
        return at + (uint64_t)(random() % 4096);
    case 4:
        return (uint64_t)(random() % 64);
    case 5:
        return (uint64_t)1 << 63 | (uint64_t)(random() % 512) << 32 | (uint64_t)(random() % 16 * 8);
    case 6:
        return (uint64_t)1 << 63 | (uint64_t)256 << 32;
    case 7:
        return 4096;
    case 8:
        return (uint64_t)1 << (random() % 64);
    default:
        return (uint64_t) - (random() % 64);
    }
}

static void fill(uint64_t *body)
{
    for (int i = 0; i < BODY; i++)
        body[i] = argument();
}

/* Every entry there is, with the victim's addresses and handles in every place; what comes back is loot. */
static void records(void)
{
    uint64_t body[BODY];
    begin();
    struct tessera_reply *reply = (void *)shared->reply[SLOT];
    for (int i = 0; i < ANSWERED && !shared->ended; i++) {
        fill(body);
        uint32_t expected = ++reply->expected;
        send_record(TESSERA_RELAY_CALL, (uint16_t)((uint32_t)i % shared->entries), SLOT + 1, body, sizeof body);
        for (int wait = 0; __atomic_load_n(&reply->sequence, __ATOMIC_ACQUIRE) != expected && wait < WAIT_US; wait++)
            usleep(1);
        if (reply->result == 0 && reply->bytes >= 64 && reply->bytes <= TESSERA_RELAY_REPLY_MAX)
            loot(reply + 1, reply->bytes < LOOT_BYTES ? reply->bytes : LOOT_BYTES);
    }
}

static const char listed[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry store(.param .u64 to)\n{\n"
                             ".reg .b64 %d<2>;\nld.param.u64 %d1, [to];\nst.global.u64 [%d1], 1;\nret;\n}\n";
enum { PLACES = 8 };

/* Every entry with addresses where the driver's results belong, for a module of its own; what comes back is used as a kernel: where
   the driver left something as it was, it would be what the attacker put there. */
static void results(void)
{
    handle module = 0, found = 0;
    CUdeviceptr to = own_memory();
    void *parameters[] = {&to};
    begin();
    NEED(cuModuleLoadData(&module, listed));
    struct tessera_reply *reply = (void *)shared->reply[SLOT];
    for (uint32_t i = 0; i < shared->entries && !shared->ended; i++) {
        uint64_t there = (uint64_t)1 << 63 | (uint64_t)sizeof(uint64_t[PLACES]) << 32 | sizeof(uint64_t[PLACES]);
        uint64_t body[3 + PLACES] = {there, PLACES, module};
        for (int place = 0; place < PLACES; place++)
            body[3 + place] = 0x4141414141410000 + (uint64_t)place * 4096;
        uint32_t expected = ++reply->expected;
        send_record(TESSERA_RELAY_CALL, (uint16_t)i, SLOT + 1, body, sizeof body);
        for (int wait = 0; __atomic_load_n(&reply->sequence, __ATOMIC_ACQUIRE) != expected && wait < WAIT_US; wait++)
            usleep(1);
        if (reply->result != 0 || reply->bytes < sizeof(uint64_t[PLACES]))
            continue;
        uint64_t came[PLACES];
        memcpy(came, reply + 1, sizeof came);
        for (int place = 0; place < PLACES; place++)
            if (came[place] != 0 && cuLaunchKernel(came[place], 1, 1, 1, 1, 1, 1, 0, 0, parameters, NULL) == 0)
                cuFuncGetModule(&found, came[place]);
    }
    cuCtxSynchronize();
}

static void flood(void)
{
    uint64_t body[BODY];
    begin();
    for (int i = 0; i < UNANSWERED && !shared->ended; i++) {
        fill(body);
        send_record((uint16_t)(random() % 10), (uint16_t)(random() % shared->entries), 0, body,
                    (uint32_t)(random() % (BODY * 8)));
    }
}

static void launches(void)
{
    struct {
        struct tessera_launch head;
        uint64_t rest[16];
    } launch;
    begin();
    for (int i = 0; i < 2000 && !shared->ended; i++) {
        memset(&launch, 0, sizeof launch);
        launch.head.function = i % 3 ? fact("function") : argument();
        launch.head.stream = i % 4 ? 0 : argument();
        for (int at = 0; at < 3; at++) {
            launch.head.grid[at] = random() % 5 ? 1 : (uint32_t)random();
            launch.head.block[at] = random() % 5 ? 1 : (uint32_t)random();
        }
        launch.head.shared_bytes = random() % 4 ? 0 : (uint32_t)random();
        launch.head.attributes = random() % 3 ? 0 : (uint32_t)random() % 80;
        launch.head.parameter_bytes = random() % 3 ? 24 : (uint32_t)random();
        launch.rest[0] = fact("device");
        launch.rest[1] = own_memory();
        send_record(TESSERA_RELAY_LAUNCH, 0, 0, &launch, sizeof launch);
        i += 7; /* facts are read from a file each time */
    }
}

static void words(void)
{
    begin();
    for (int i = 0; i < 3000 && !shared->ended; i++) {
        struct tessera_mark mark = {.handle = argument(), .value = argument(), .word = (uint32_t)random()};
        if (i % 2)
            mark.word %= TESSERA_RELAY_WORDS * 2;
        send_record((uint16_t)(TESSERA_RELAY_MARK + i % 3), 0, 0, &mark, sizeof mark);
    }
}

static void *spoil(void *unused)
{
    for (int i = 0; i < 2000000; i++)
        shared->ring[random() % TESSERA_RELAY_RING_BYTES] = (uint8_t)random();
    return unused;
}

/* Changes records while they are read. */
static void raced(void)
{
    pthread_t thread;
    begin();
    need(pthread_create(&thread, NULL, spoil, NULL), "a thread");
    uint64_t body[BODY];
    for (int i = 0; i < 5000 && !shared->ended; i++) {
        fill(body);
        send_record(TESSERA_RELAY_CALL, (uint16_t)((uint32_t)i % shared->entries), 0, body, sizeof body);
    }
    pthread_join(thread, NULL);
}

static void rubbish(void *to, size_t bytes)
{
    unsigned char *at = to;
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(random() >> 7);
}

/* Its own library may wait for ever for what it has spoilt: the process goes. */
static void segment(void)
{
    begin();
    rubbish(shared->reply, sizeof shared->reply);
    rubbish(shared->word, sizeof shared->word);
    rubbish(shared->ring, sizeof shared->ring);
    rubbish(shared, 8192);
    __atomic_store_n(&shared->claimed, ((uint64_t)random() << 32) ^ (uint64_t)random(), __ATOMIC_SEQ_CST);
    usleep(300000);
    _exit(0);
}

static void unwritten(void)
{
    begin();
    claim(4096);
    for (int i = 0; i < 10; i++) {
        uint64_t body[BODY] = {0};
        send_record(TESSERA_RELAY_CALL, 1, 0, body, sizeof body);
    }
    usleep(200000);
    _exit(0);
}

static const char counts[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry count(.param .u64 at)\n{\n"
    ".reg .b64 %d<2>; .reg .b32 %r<2>; .reg .pred %q;\nld.param.u64 %d1, [at]; mov.u32 %r1, 0;\n"
    "again: add.u32 %r1, %r1, 1; st.volatile.global.u32 [%d1], %r1; setp.lt.u32 %q, %r1, 20000000;\n"
    "@%q bra again; ret;\n}\n";

/* No length has this for its opposite. Streams of its own have words of the segment to write when its kernels are done. */
static void least(void)
{
    handle module = 0, function = 0;
    CUdeviceptr own = own_memory();
    void *parameters[] = {&own};
    begin();
    NEED(cuModuleLoadData(&module, counts));
    NEED(cuModuleGetFunction(&function, module, "count"));
    for (int i = 0; i < 4; i++)
        NEED(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, parameters, NULL));
    for (uint32_t word = 100; word < 140; word++) {
        struct tessera_mark mark = {.handle = 0, .value = 77, .word = word};
        send_record(TESSERA_RELAY_MARK, 0, 0, &mark, sizeof mark);
    }
    usleep(300000);
    struct tessera_record *hole = claim(32);
    need(hole ? 0 : 1, "room in the ring");
    __atomic_store_n(&hole->length, INT32_MIN, __ATOMIC_RELEASE);
    uint64_t body[BODY] = {0};
    send_record(TESSERA_RELAY_CALL, 1, 0, body, sizeof body);
    for (int i = 0; i < 500 && !shared->ended; i++)
        usleep(10000);
    need(shared->ended ? 0 : 1, "being let go");
    sleep(2);
    _exit(0);
}

static void tokens(void)
{
    for (int i = 0; i < 10; i++)
        answer(connect_with_token(i), "a token that nobody gave");
    answer(connect_without_token(), "a request before the token");
}

/* As another user: of one user, one name is one tenant. Where the suite is not root it cannot become one. */
static void name(void)
{
    char program[4096], kernel[4096];
    const char *kernels = getenv("ATTACK_KERNELS");
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 16);
    need(length > 0 && kernels ? 0 : 1, "finding the kernels");
    program[length] = 0;
    strcpy(strrchr(program, '/'), "/kernel");
    snprintf(kernel, sizeof kernel, "%s/load/forged.ptx", kernels);
    setenv("TESSERA_NAME", "victim", 1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (setgid(OTHER_USER) || setuid(OTHER_USER))
            _exit(127);
        execl(program, "kernel", kernel, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    need(child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) == 127,
         "becoming another user");
    answer(WEXITSTATUS(status) == 3 ? CUDA_ERROR_SYSTEM_NOT_READY : 0,
           "a device, as another user"); /* the manager may not serve it at all */
}

static const struct attack attacks[] = {
    {"records", HARMLESS, "calls every entry by hand with the victim's addresses and handles", records},
    {"results", HARMLESS, "puts addresses where the driver's results belong and launches what comes back", results},
    {"flood", HARMLESS, "floods the ring with records of every kind", flood},
    {"launches", HARMLESS, "launches by hand the victim's kernel and what is none", launches},
    {"words", HARMLESS, "marks, watches and host calls of words and streams that are not there", words},
    {"raced", HARMLESS, "changes records while they are read", raced},
    {"segment", HARMLESS, "fills its segment with rubbish", segment},
    {"unwritten", HARMLESS, "claims room in the ring and never writes it", unwritten},
    {"least", ENDS, "leaves a record of the least length there is while its streams are to write words of its segment",
     least},
    {"tokens", REFUSED, "connects to the executor with tokens that it guessed", tokens},
    {"name", HARMLESS, "comes as another user by the victim's name and reads its memory", name},
};
ATTACKS(attacks)
