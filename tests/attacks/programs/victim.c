/*
 * The victim: has a secret in every kind of memory, computes with it again and again, and compares every result and all of
 * its memory with what must be there. VICTIM_PAUSE_MS: milliseconds between two computations (5).
 *     victim SEED          says where everything is (`fact NAME VALUE`), then `ready`; `check` and `stop` on stdin
 *     victim SEED leave    fills its memory and ends without freeing it: the next client must not find it
 * A check is answered by `checked ROUNDS WRONG CHANGED ERRORS LONGEST_MS` since the last one, and mends what was changed.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda_constants.h"
#include "driver.h"
#include "regions.h"
#include "secret.h"

enum { WORK_WORDS = 8192, THREADS = 128, STEPS = 8, PAUSE_MS = 5, MOST_PAUSE_MS = 1000, LOAD_EVERY = 8 };

static const char *const code =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 16 .b64 table[8192];\n"
    ".visible .entry work(.param .u64 from, .param .u64 to, .param .u64 round) {\n"
    "  .reg .b32 %r<6>; .reg .b64 %d<12>; .reg .pred %p;\n"
    "  .shared .align 8 .b64 kept[128];\n"
    "  ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to]; ld.param.u64 %d3, [round];\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "  mul.wide.u32 %d4, %r4, 8; add.u64 %d5, %d1, %d4; add.u64 %d6, %d2, %d4;\n"
    "  ld.global.u64 %d7, [%d5]; mov.u32 %r5, 0;\n"
    "again:\n"
    "  mul.lo.u64 %d7, %d7, 6364136223846793005; add.u64 %d7, %d7, %d3; add.u32 %r5, %r5, 1;\n"
    "  setp.lt.u32 %p, %r5, 8; @%p bra again;\n"
    "  mul.wide.u32 %d8, %r3, 8; mov.u64 %d9, kept; add.u64 %d9, %d9, %d8; st.shared.u64 [%d9], %d7;\n"
    "  bar.sync 0; ld.shared.u64 %d10, [%d9]; st.global.u64 [%d6], %d10; ret;\n}\n";

static handle stream, event, module, function, graph, executable;
static CUdeviceptr results;
static uint64_t *staging;
static uint64_t seed, rounds;
static unsigned wrong, changed, errors;
static double longest_ms;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Errors that no later call can be without (cuda.h): from an illegal address on, but for those of host memory. */
static int fatal(CUresult result)
{
    return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT || result == CUDA_ERROR_UNKNOWN ||
           (result >= CUDA_ERROR_CONTEXT_IS_DESTROYED && result <= CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE &&
            result != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED && result != CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* A victim whose context is lost is no victim of the next attack: it says so and ends, and the runner starts another. */
static int call(CUresult result, const char *where)
{
    if (result == 0)
        return 1;
    errors++;
    fprintf(stderr, "error %d %s\n", result, where);
    if (fatal(result)) {
        printf("lost %d %s\n", result, where);
        fflush(stdout);
        _exit(5);
    }
    return 0;
}
#define CALL(what) call((what), #what)

static void fill(void)
{
    for (int i = 0; i < REGIONS; i++)
        region_fill(i, seed, staging);
}

/* Compares all memory with the secret, and puts it right where it is not: the next attack finds what this one found. */
static void look(void)
{
    for (int i = 0; i < REGIONS; i++) {
        unsigned words = 0;
        CUresult result = region_compare(i, seed, staging, &words);
        if (!call(result, "reading a region") || words == 0)
            continue;
        fprintf(stderr, "changed %u words of %s\n", words, region_name(i));
        changed += words;
        region_fill(i, seed, staging);
    }
}

static uint64_t expected(uint64_t index, uint64_t round)
{
    uint64_t word = secret_word(seed, REGION_DEVICE, index);
    for (int i = 0; i < STEPS; i++)
        word = word * 6364136223846793005u + round;
    return word;
}

static void work(void)
{
    CUdeviceptr from = region_address(REGION_DEVICE);
    void *parameters[] = {&from, &results, &rounds};
    double begin = now_ms();
    rounds++;
    CALL(cuLaunchKernel(function, WORK_WORDS / THREADS, 1, 1, THREADS, 1, 1, 0, stream, parameters, NULL));
    CALL(cuMemcpyDtoHAsync(staging, results, WORK_WORDS * sizeof(uint64_t), stream));
    CALL(cuEventRecord(event, stream));
    if (executable)
        CALL(cuGraphLaunch(executable, stream));
    int fine = CALL(cuStreamSynchronize(stream));
    double took = now_ms() - begin;
    longest_ms = took > longest_ms ? took : longest_ms;
    for (uint64_t i = 0; fine && i < WORK_WORDS; i++)
        if (staging[i] != expected(i, rounds)) {
            wrong++;
            fprintf(stderr, "wrong result %llu in round %llu\n", (unsigned long long)i, (unsigned long long)rounds);
            break;
        }
}

/* Calls for which a driver needs the whole context: other clients' streams must not delay them for long. */
static void come_and_go(void)
{
    handle again = 0, known = 0;
    void *pinned = NULL;
    CUdeviceptr from = region_address(REGION_DEVICE);
    void *parameters[] = {&from, &results, &rounds};
    double begin = now_ms();
    CALL(cuMemHostAlloc(&pinned, 4096, 0));
    if (CALL(cuModuleLoadData(&again, code)) && CALL(cuModuleGetFunction(&known, again, "work"))) {
        CALL(cuLaunchKernel(known, WORK_WORDS / THREADS, 1, 1, THREADS, 1, 1, 0, stream, parameters, NULL));
        CALL(cuStreamSynchronize(stream));
        CALL(cuModuleUnload(again));
    }
    CALL(cuMemFreeHost(pinned));
    double took = now_ms() - begin;
    longest_ms = took > longest_ms ? took : longest_ms;
}

static void begin(void)
{
    struct memset_node clear = {.element_bytes = 4, .width = 1, .height = 1};
    handle node, context = 0;
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CALL(cuEventCreate(&event, 0));
    CALL(cuModuleLoadData(&module, code));
    CALL(cuModuleGetFunction(&function, module, "work"));
    CALL(cuMemAlloc(&results, WORK_WORDS * sizeof(uint64_t) + 256));
    CALL(cuMemHostAlloc((void **)&staging, REGION_MOST_BYTES, 0));
    clear.target = results + WORK_WORDS * sizeof(uint64_t);
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    if (cuGraphCreate(&graph, 0) == 0 && cuGraphAddMemsetNode(&node, graph, NULL, 0, &clear, context) == 0)
        CALL(cuGraphInstantiate(&executable, graph, 0));
    regions_make(module, stream);
}

/* What it hands to processes of its own tenant; where there is no such thing the facts are 0. */
static void tell_exported(void)
{
    struct exported memory = {{0}}, signal = {{0}};
    handle shared = 0;
    cuIpcGetMemHandle(&memory, region_address(REGION_DEVICE));
    if (cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING) == 0)
        cuIpcGetEventHandle(&signal, shared);
    for (int i = 0; i < EXPORTED_WORDS; i++) {
        printf("fact exported_memory%d %llu\n", i, (unsigned long long)memory.word[i]);
        printf("fact exported_event%d %llu\n", i, (unsigned long long)signal.word[i]);
    }
}

static void tell(void)
{
    const struct {
        const char *name;
        handle value;
    } facts[] = {{"stream", stream}, {"event", event},           {"module", module},  {"function", function},
                 {"graph", graph},   {"executable", executable}, {"results", results}};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        printf("fact %s %llu\n", facts[i].name, (unsigned long long)facts[i].value);
    regions_tell();
    tell_exported();
    printf("ready\n");
    fflush(stdout);
}

static int pause_ms(void)
{
    const char *set = getenv("VICTIM_PAUSE_MS");
    int ms = set ? atoi(set) : PAUSE_MS;
    return ms < 1 || ms > MOST_PAUSE_MS ? PAUSE_MS : ms;
}

/* Whether to go on, after at most this time. */
static int listen_to_runner(int ms)
{
    static char line[64];
    struct pollfd input = {.fd = 0, .events = POLLIN};
    if (poll(&input, 1, ms) <= 0)
        return 1;
    if (!fgets(line, sizeof line, stdin) || strncmp(line, "stop", 4) == 0)
        return 0;
    look();
    printf("checked %llu %u %u %u %.0f\n", (unsigned long long)rounds, wrong, changed, errors, longest_ms);
    fflush(stdout);
    wrong = changed = errors = 0;
    longest_ms = 0;
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s SEED [leave]\n", argv[0]);
        return 2;
    }
    seed = strtoull(argv[1], NULL, 10);
    driver_open();
    begin();
    fill();
    if (argc > 2) {
        work();
        printf("left\n");
        fflush(stdout);
        _exit(errors ? 4 : 0);
    }
    work();
    tell();
    setvbuf(stdin, NULL, _IONBF, 0);
    for (int pause = pause_ms(); listen_to_runner(pause);) {
        work();
        if (rounds % LOAD_EVERY == 0)
            come_and_go();
    }
    printf("stopped\n");
    return 0;
}
