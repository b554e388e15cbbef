/*
 * Runs fenced kernels of the fuzzer (tests/fuzz) on the driver's first GPU: `java ... io.tessera.fuzz.FuzzMain gpu | fuzz [THREADS]`. The records that come on
 * standard input are described in io.tessera.fuzz.run.GpuFeed. Legal kernels must compute what the software GPU says; hostile ones must end, without a
 * fault, and leave what lies outside of their window as it was. One that takes long is told to end, as an executor does. Prints one JSON object. The exit status is 0 where all kernels ran, also where some
 * differ; it is 3 where one ended the context or did not end, since nothing can follow it.
 *
 * The compiler runs in all threads at once; kernels run one by one.
 */
#include <pthread.h>
#include <string.h>

#include "cuda_constants.h"
#include "driver.h"

enum {
    MAGIC = 0x315A5546,
    MODULO = 1,
    MOST_THREADS = 64,
    SHOWN = 20,
    REPORT_BYTES = 1 << 20,
    STOP_GO_ON = 4096,
    BEFORE = 0x5A,
    VICTIM_BYTES = 1 << 20
};
enum { NON_BLOCKING = 1, PATIENCE_MS = 100, LEGAL_PATIENCE_MS = 5000, MORE_PATIENCE_MS = 10000 };
enum { OUT_ROOM = 1 << 20, DATA_AT = 1 << 28, DEFAULT_THREADS = 8 };
enum { CLUSTER_BYTES = 24 }; /* dynamic shared memory for what waits for clusters: FencedModule */
#define GIB ((size_t)1 << 30)
#define CHUNK (2 * GIB)
#define UNIT (4 * GIB)
#define GUARD (40 * GIB)

struct location {
    int type, id;
};
struct allocation {
    int type, handle_types;
    struct location location;
    void *metadata;
    unsigned char flags[8];
};
struct access {
    struct location location;
    int flags;
};
extern int cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, uint64_t);
extern int cuMemCreate(uint64_t *, size_t, const struct allocation *, uint64_t);
extern int cuMemMap(CUdeviceptr, size_t, size_t, uint64_t, uint64_t);
extern int cuMemSetAccess(CUdeviceptr, size_t, const struct access *, size_t);
extern int cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule, const char *);

struct bytes {
    uint32_t length;
    unsigned char *start;
};
struct variable {
    struct bytes name, initial;
    uint64_t size;
};
struct record {
    uint32_t mode, hostile, blocks, threads, count, out_bytes;
    uint64_t seed;
    struct bytes text, in, expected;
    struct variable *variables;
};

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER, running = PTHREAD_MUTEX_INITIALIZER;
static CUcontext context;
static CUstream other;
static CUdeviceptr base, report, stop, victim;
static unsigned kernels, hostile_kernels, stopped, refused, differences, escapes, shown;
static char failures[1 << 14];

static int take(void *to, size_t bytes)
{
    return fread(to, 1, bytes, stdin) == bytes;
}

static int take_bytes(struct bytes *into)
{
    if (!take(&into->length, sizeof into->length))
        return 0;
    into->start = malloc((size_t)into->length + 1);
    return into->start && take(into->start, into->length);
}

static int take_record(struct record *into)
{
    uint32_t magic;
    memset(into, 0, sizeof *into);
    if (!take(&magic, sizeof magic) || magic != MAGIC || !take(&into->mode, 4) || !take(&into->seed, 8) ||
        !take(&into->hostile, 4) || !take(&into->blocks, 4) || !take(&into->threads, 4) || !take(&into->count, 4) ||
        !take_bytes(&into->text))
        return 0;
    into->variables = calloc(into->count + 1, sizeof *into->variables);
    for (uint32_t i = 0; into->variables && i < into->count; i++)
        if (!take_bytes(&into->variables[i].name) || !take(&into->variables[i].size, 8) ||
            !take_bytes(&into->variables[i].initial))
            return 0;
    return into->variables && take_bytes(&into->in) && take(&into->out_bytes, 4) && take_bytes(&into->expected) &&
           into->out_bytes <= OUT_ROOM;
}

static void drop(struct record *record)
{
    for (uint32_t i = 0; i < record->count; i++) {
        free(record->variables[i].name.start);
        free(record->variables[i].initial.start);
    }
    free(record->variables);
    free(record->text.start);
    free(record->in.start);
    free(record->expected.start);
}

static void failed(const struct record *record, const char *what, int code)
{
    static const char *const modes[] = {"mask", "modulo", "check"};
    size_t used = strlen(failures);
    if (shown++ < SHOWN)
        snprintf(failures + used, sizeof failures - used,
                 "%s{\"seed\":%llu,\"mode\":\"%s\",\"hostile\":%u,\"what\":\"%s\",\"code\":%d}", used ? "," : "",
                 (unsigned long long)record->seed, modes[record->mode % 3], record->hostile, what, code);
}

static void say(int lost)
{
    printf(
        "{\"kernels\":%u,\"hostile\":%u,\"stopped\":%u,\"refused\":%u,\"differences\":%u,\"escapes\":%u,\"contextLost\":%d,\"failures\":[%s]}\n",
        kernels, hostile_kernels, stopped, refused, differences, escapes, lost, failures);
    fflush(stdout);
}

/* The window's first 2 GiB hold data; all else of it, and the guards, lead to 2 GiB that nobody needs. */
static void open_window(void)
{
    struct allocation what = {.type = 1, .location = {1, 0}};
    struct access access = {{1, 0}, 3};
    uint64_t data, sink;
    CUdeviceptr region;
    uint32_t go_on = STOP_GO_ON;
    CHECK(cuMemAddressReserve(&region, UNIT + 2 * GUARD, UNIT, 0, 0));
    CHECK(cuMemCreate(&data, CHUNK, &what, 0));
    CHECK(cuMemCreate(&sink, CHUNK, &what, 0));
    base = region + GUARD;
    for (CUdeviceptr at = region; at < region + UNIT + 2 * GUARD; at += CHUNK) {
        CHECK(cuMemMap(at, CHUNK, 0, at == base ? data : sink, 0));
        CHECK(cuMemSetAccess(at, CHUNK, &access, 1));
    }
    CHECK(cuStreamCreate(&other, NON_BLOCKING));
    CHECK(cuMemAlloc_v2(&report, REPORT_BYTES));
    CHECK(cuMemAlloc_v2(&stop, 4096));
    CHECK(cuMemAlloc_v2(&victim, VICTIM_BYTES));
    CHECK(cuMemsetD8Async(report, 0, REPORT_BYTES, NULL));
    CHECK(cuMemsetD8Async(victim, BEFORE, VICTIM_BYTES, NULL));
    CHECK(cuMemcpyHtoD_v2(stop, &go_on, sizeof go_on));
    CHECK(cuCtxSynchronize());
}

static void fill(const struct record *record, CUmodule module)
{
    uint64_t words[8] = {base >> 32 | (uint64_t)(record->mode == MODULO) << 32,
                         base,
                         UNIT,
                         record->mode == MODULO ? 0xFFFFFFFFu : 0,
                         report,
                         stop,
                         0,
                         0};
    CUdeviceptr constant, place = base + DATA_AT + OUT_ROOM + record->in.length;
    size_t ignored;
    words[7] = words[0];
    CHECK(cuModuleGetGlobal_v2(&constant, &ignored, module, "__tessera_window"));
    CHECK(cuMemcpyHtoD_v2(constant, words, sizeof words));
    for (uint32_t i = 0; i < record->count; i++) {
        const struct variable *variable = &record->variables[i];
        place = (place + 511) & ~(CUdeviceptr)511;
        CHECK(cuMemsetD8Async(place, 0, variable->size, NULL));
        CHECK(cuCtxSynchronize());
        CHECK(cuMemcpyHtoD_v2(place, variable->initial.start, variable->initial.length));
        CHECK(cuModuleGetGlobal_v2(&constant, &ignored, module, (const char *)variable->name.start));
        CHECK(cuMemcpyHtoD_v2(constant, &place, sizeof place));
        place += variable->size;
    }
}

static void compare(const struct record *record)
{
    static unsigned char got[OUT_ROOM];
    if (!record->hostile) {
        CHECK(cuMemcpyDtoH_v2(got, base + DATA_AT, record->out_bytes));
        if (memcmp(got, record->expected.start, record->expected.length) != 0) {
            differences++;
            failed(record, "differs", 0);
        }
        return;
    }
    _Static_assert((int)VICTIM_BYTES <= (int)OUT_ROOM, "room for what is compared");
    CHECK(cuMemcpyDtoH_v2(got, victim, VICTIM_BYTES));
    for (size_t i = 0; i < VICTIM_BYTES; i++)
        if (got[i] != BEFORE) {
            escapes++;
            failed(record, "changed what lies outside of its window", 0);
            CHECK(cuMemsetD8Async(victim, BEFORE, VICTIM_BYTES, NULL));
            break;
        }
    CHECK(cuMemcpyDtoH_v2(got, stop, sizeof(uint32_t)));
    if (memcmp(got, &(uint32_t){STOP_GO_ON}, sizeof(uint32_t)) != 0) {
        escapes++;
        failed(record, "changed the stop word", 0);
        CHECK(cuMemcpyHtoD_v2(stop, &(uint32_t){STOP_GO_ON}, sizeof(uint32_t)));
    }
}

static int ended_within(int ms)
{
    const struct timespec pause = {0, 50000};
    int result = CUDA_ERROR_NOT_READY;
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        result = cuStreamQuery(NULL);
        if (result != CUDA_ERROR_NOT_READY)
            return result;
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
    return CUDA_ERROR_NOT_READY;
}

/* The result of the kernel that runs. One that takes long is told to end by the stop word; only hostile ones may need that. */
static int await(const struct record *record)
{
    static const uint32_t end = 0;
    int result = ended_within(record->hostile ? PATIENCE_MS : LEGAL_PATIENCE_MS);
    if (result != CUDA_ERROR_NOT_READY)
        return result;
    stopped++;
    if (!record->hostile)
        failed(record, "has to be told to end", 0);
    CHECK(cuMemcpyHtoDAsync_v2(stop, &end, sizeof end, other));
    result = ended_within(MORE_PATIENCE_MS);
    if (result == 0) {
        CHECK(cuStreamSynchronize(other));
        CHECK(cuMemcpyHtoD_v2(stop, &(uint32_t){STOP_GO_ON}, sizeof(uint32_t)));
    }
    return result;
}

static void run(const struct record *record, CUmodule module)
{
    CUfunction function;
    CUdeviceptr out = base + DATA_AT, in = out + OUT_ROOM;
    const CUdeviceptr targets[] = {victim, stop, report, victim + VICTIM_BYTES / 2, base, base + UNIT - 8};
    CUdeviceptr foreign = record->hostile ? targets[record->seed % (sizeof targets / sizeof targets[0])] : out;
    uint32_t seed = (uint32_t)record->seed, count = record->in.length / 4;
    void *parameters[] = {&in, &out, &seed, &foreign, &count};
    CHECK(cuModuleGetFunction(&function, module, "k"));
    fill(record, module);
    CHECK(cuMemcpyHtoD_v2(in, record->in.start, record->in.length));
    CHECK(cuMemsetD8Async(out, BEFORE, record->out_bytes, NULL));
    int result = cuLaunchKernel(function, record->blocks, 1, 1, record->threads, 1, 1, CLUSTER_BYTES, NULL, parameters,
                                NULL);
    result = result ? result : await(record);
    kernels++;
    hostile_kernels += record->hostile;
    if (result) {
        failed(record, result == CUDA_ERROR_NOT_READY ? "does not end when it is told to" : "ends the context", result);
        say(1);
        _Exit(3);
    }
    compare(record);
}

static void *work(void *unused)
{
    struct record record;
    CHECK(cuCtxSetCurrent(context));
    for (;;) {
        pthread_mutex_lock(&reading);
        int more = take_record(&record);
        pthread_mutex_unlock(&reading);
        if (!more)
            return unused;
        CUmodule module;
        int result = cuModuleLoadData(&module, record.text.start);
        pthread_mutex_lock(&running);
        if (result) {
            refused++;
            failed(&record, "is not compiled", result);
        } else
            run(&record, module);
        pthread_mutex_unlock(&running);
        if (!result)
            CHECK(cuModuleUnload(module));
        drop(&record);
    }
}

int main(int count, char **arguments)
{
    pthread_t threads[MOST_THREADS];
    int wanted = count > 1 ? atoi(arguments[1]) : DEFAULT_THREADS;
    wanted = wanted < 1 ? 1 : wanted > MOST_THREADS ? MOST_THREADS : wanted;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    open_window();
    for (int i = 0; i < wanted; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < wanted; i++)
        pthread_join(threads[i], NULL);
    say(0);
    return 0;
}
