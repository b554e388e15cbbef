/*
 * Effects of an invalid mbarrier in shared memory on its context: each probe makes a good one, spoils it or uses it in
 * a way that no legal program may, and says how the launch ended. The fencer keeps mbarriers as words of its own since
 * one such use ends the context of an H200; this finds out which others do.
 *
 *   barriers --list           the names of all probes, one a line
 *   barriers --text PROBE     its PTX
 *   barriers PROBE...         runs them; a line of JSON each; stops behind the first whose context is gone
 *
 * A probe that takes longer than a few seconds ends the process with status 3.
 */
#include <string.h>
#include <unistd.h>

#include "probe.h"

enum { PROBE_SECONDS = 5, THREADS = 64, RESULTS = 4, TEXT_BYTES = 8192, BITS = 64, PATTERNS = 16 };

/* Thread 0 has made `bar`, at %b, with COUNT arrivals, and %w is what its eight bytes are then; %i is the thread's number. The body
   leaves a state in %s and a look's outcome in %q. */
static const char *HEAD =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry probe(.param .u64 results)\n{\n"
    ".reg .b32 %i, %b, %t, %n, %u, %v, %q;\n.reg .b64 %r, %w, %s, %x, %a;\n.reg .pred %p, %o;\n"
    ".shared .align 16 .b8 place[256];\n.shared .align 8 .b64 bar;\n.shared .align 8 .b64 other;\n"
    "ld.param.u64 %r, [results];\nmov.u32 %i, %tid.x;\nmov.u32 %b, bar;\nmov.u32 %t, place;\nmov.u64 %s, 0;\n"
    "mov.u32 %q, 0;\nmov.u64 %w, 0;\nsetp.ne.u32 %o, %i, 0;\n@%o bra made;\n"
    "mbarrier.init.shared.b64 [%b], COUNT;\nld.volatile.shared.u64 %w, [%b];\nmade:\nbar.sync 0;\n";
static const char *TAIL =
    "\nbar.sync 0;\n@%o bra done;\nst.global.u64 [%r], %w;\nld.volatile.shared.u64 %x, [%b];\n"
    "st.global.u64 [%r+8], %x;\nst.global.u64 [%r+16], %s;\ncvt.u64.u32 %x, %q;\nst.global.u64 [%r+24], %x;\n"
    "done:\nret;\n}\n";

#define ARRIVE "@!%o mbarrier.arrive.shared.b64 %s, [%b];\n"
#define LOOK "@!%o mbarrier.test_wait.shared.b64 %p, [%b], %s;\nselp.u32 %q, 1, 0, %p;\n"
#define PUT(word) "@!%o st.shared.u64 [%b], " word ";\n"
#define EXPECT(bytes) "@!%o mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%b], " bytes ";\n"
#define COMPLETE(bytes) "@!%o mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%b], " bytes ";\n"
#define BULK "@!%o cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%t], [%r], 32, [%b];\n"
#define SMALL "@!%o cp.async.ca.shared.global [%t], [%r], 16;\n@!%o cp.async.mbarrier.arrive.noinc.shared.b64 [%b];\n"
/* A launch must not end before what is under way has come. */
#define LATER                                                                                                          \
    "mov.u32 %n, 20000;\nlater:\nsub.u32 %n, %n, 1;\nnanosleep.u32 100;\nsetp.ne.u32 %p, %n, 0;\n@%p bra later;\n"

static const struct probe {
    const char *name, *count, *body;
} PROBES[] = {
    {"good", "2", ARRIVE LOOK},
    {"good_phase", "1", ARRIVE LOOK},
    {"good_bytes", "1", "@!%o mbarrier.arrive.expect_tx.shared.b64 %s, [%b], 32;\n" BULK LATER LOOK},
    {"good_copy", "1", SMALL LATER "@!%o mbarrier.test_wait.parity.shared.b64 %p, [%b], 0;\nselp.u32 %q, 1, 0, %p;\n"},
    {"format_arrivals", "7", ARRIVE ARRIVE},
    {"format_bytes", "7", EXPECT("4660")},
    {"format_bytes_less", "7", COMPLETE("4660")},
    {"zeros", "2", PUT("0") ARRIVE LOOK},
    {"ones", "2", PUT("-1") ARRIVE LOOK},
    {"zeros_look", "2", PUT("0") LOOK},
    {"ones_look", "2", PUT("-1") LOOK},
    {"zeros_expect", "2", PUT("0") EXPECT("16")},
    {"ones_expect", "2", PUT("-1") EXPECT("16")},
    {"zeros_bulk", "2", PUT("0") BULK LATER},
    {"ones_bulk", "2", PUT("-1") BULK LATER},
    {"zeros_copy", "2", PUT("0") SMALL LATER},
    {"ones_copy", "2", PUT("-1") SMALL LATER},
    {"never_made", "2", "@!%o mbarrier.arrive.shared.b64 %s, [other];\n"},
    {"invalidated", "2", "@!%o mbarrier.inval.shared.b64 [%b];\n" ARRIVE},
    {"invalidated_look", "2", "@!%o mbarrier.inval.shared.b64 [%b];\n" LOOK},
    {"invalidated_twice", "2", "@!%o mbarrier.inval.shared.b64 [%b];\n@!%o mbarrier.inval.shared.b64 [%b];\n"},
    {"invalidated_made", "2",
     "@!%o mbarrier.inval.shared.b64 [%b];\n@!%o mbarrier.init.shared.b64 [%b], 2;\n" ARRIVE LOOK},
    {"invalidated_put", "2", "@!%o mbarrier.inval.shared.b64 [%b];\n" PUT("%w") ARRIVE LOOK},
    {"made_twice", "2", ARRIVE "@!%o mbarrier.init.shared.b64 [%b], 2;\n" ARRIVE LOOK},
    {"too_many", "1", "@!%o mbarrier.arrive.shared.b64 %s, [%b], 2;\n" LOOK},
    {"far_too_many", "1", "mov.u32 %n, -1;\n@!%o mbarrier.arrive.shared.b64 %s, [%b], %n;\n" LOOK},
    {"none_arrive", "2", "mov.u32 %n, 0;\n@!%o mbarrier.arrive.shared.b64 %s, [%b], %n;\n" LOOK},
    {"ends_quietly", "1", "@!%o mbarrier.arrive.noComplete.shared.b64 %s, [%b], 1;\n" LOOK ARRIVE},
    {"made_for_none", "0", ARRIVE LOOK},
    {"made_for_most", "1048575", ARRIVE LOOK},
    {"made_for_more", "1048576", ARRIVE LOOK},
    {"made_for_all", "-1", ARRIVE LOOK},
    {"all_dropped", "1", "@!%o mbarrier.arrive_drop.shared.b64 %s, [%b];\n" ARRIVE LOOK},
    {"dropped_too_many", "1", "@!%o mbarrier.arrive_drop.shared.b64 %s, [%b], 3;\n" ARRIVE LOOK},
    {"bytes_over", "1", EXPECT("1048575") EXPECT("1048575") EXPECT("1048575") ARRIVE LOOK},
    {"bytes_under", "1", COMPLETE("1048575") COMPLETE("1048575") COMPLETE("1048575") ARRIVE LOOK},
    {"bytes_large", "1", "mov.u32 %n, -1;\n" EXPECT("%n") COMPLETE("%n") ARRIVE LOOK},
    {"bytes_over_bulk", "2", EXPECT("1048575") EXPECT("1048575") BULK LATER},
    {"odd_4", "2", "@!%o mbarrier.arrive.shared.b64 %s, [%b+4];\n"},
    {"odd_1", "2", "@!%o mbarrier.arrive.shared.b64 %s, [%b+1];\n"},
    {"beyond", "2", "mov.u32 %n, 0x3fff8;\n@!%o mbarrier.arrive.shared.b64 %s, [%n];\n"},
    {"far_beyond", "2", "mov.u32 %n, 0xfffffff8;\n@!%o mbarrier.arrive.shared.b64 %s, [%n];\n"},
    {"first_bytes", "2", "mov.u32 %n, 8;\n@!%o mbarrier.arrive.shared.b64 %s, [%n];\n"},
    {"waits", "2", "@!%o mbarrier.try_wait.parity.shared.b64 %p, [%b], 0, 1000000;\nselp.u32 %q, 1, 0, %p;\n"},
    {"ends_meanwhile", "2", BULK},
    {"raced", "2",
     "mov.u32 %n, 100000;\nmul.wide.u32 %a, %i, 0x9e3779b9;\nagain:\nsetp.lt.u32 %p, %i, 32;\n"
     "@%p mbarrier.arrive.shared.b64 %s, [%b];\n@%p mbarrier.test_wait.shared.b64 %p, [%b], %s;\n"
     "setp.lt.u32 %p, %i, 32;\n@!%p st.shared.u64 [%b], %a;\nmad.lo.u64 %a, %a, 6364136223846793005, 1442695040888963407;\n"
     "sub.u32 %n, %n, 1;\nsetp.ne.u32 %p, %n, 0;\n@%p bra again;\n"},
};
enum { NAMED = sizeof PROBES / sizeof *PROBES };

/* Fills in a probe of the table, `bit_N`: a good barrier with one bit turned, or `pattern_N`: eight bytes that mean nothing. */
static int find(const char *name, struct probe *found, char *body, size_t bytes)
{
    for (int i = 0; i < NAMED; i++)
        if (strcmp(PROBES[i].name, name) == 0) {
            *found = PROBES[i];
            return 1;
        }
    static const char *AFTER = PUT("%x") ARRIVE LOOK EXPECT("16") COMPLETE("16") ARRIVE;
    int number = -1;
    *found = (struct probe){name, "3", body};
    if (sscanf(name, "bit_%d", &number) == 1 && number >= 0 && number < BITS) {
        snprintf(body, bytes, "xor.b64 %%x, %%w, 0x%llx;\n%s", 1ull << number, AFTER);
        return 1;
    }
    if (sscanf(name, "pattern_%d", &number) == 1 && number >= 0 && number < PATTERNS) {
        snprintf(body, bytes, "mov.u64 %%x, 0x%llx;\n%s", (unsigned long long)mixed((uint64_t)number), AFTER);
        return 1;
    }
    return 0;
}

static void list(void)
{
    for (int i = 0; i < NAMED; i++)
        puts(PROBES[i].name);
    for (int i = 0; i < BITS; i++)
        printf("bit_%d\n", i);
    for (int i = 0; i < PATTERNS; i++)
        printf("pattern_%d\n", i);
}

static void write_text(const struct probe *probe, char *text)
{
    const char *count = strstr(HEAD, "COUNT");
    snprintf(text, TEXT_BYTES, "%.*s%s%s%s%s", (int)(count - HEAD), HEAD, probe->count, count + 5, probe->body, TAIL);
}

/* Runs one; whether the context is still there. */
static int run(const struct probe *probe, CUdeviceptr results)
{
    char text[TEXT_BYTES];
    write_text(probe, text);
    CUmodule module;
    CUfunction kernel;
    int result = cuModuleLoadData(&module, text);
    if (result != 0) {
        printf("{\"probe\":\"%s\",\"ended\":\"not loaded: %s\"}\n", probe->name, error_name(result));
        return 1;
    }
    CHECK(cuModuleGetFunction(&kernel, module, "probe"));
    unsigned long long words[RESULTS] = {0};
    CHECK(cuMemcpyHtoD_v2(results, words, sizeof words));
    void *arguments[] = {&results};
    alarm(PROBE_SECONDS);
    result = cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL);
    if (result == 0)
        result = cuCtxSynchronize();
    alarm(0);
    if (result == 0)
        CHECK(cuMemcpyDtoH_v2(words, results, sizeof words));
    printf(
        "{\"probe\":\"%s\",\"ended\":\"%s\",\"made\":\"%016llx\",\"after\":\"%016llx\",\"state\":\"%016llx\",\"over\":%llu}\n",
        probe->name, error_name(result), words[0], words[1], words[2], words[3]);
    if (result == 0)
        CHECK(cuModuleUnload(module));
    return result == 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        list();
        return 0;
    }
    struct probe probe;
    char body[TEXT_BYTES / 2], text[TEXT_BYTES];
    if (argc == 3 && strcmp(argv[1], "--text") == 0 && find(argv[2], &probe, body, sizeof body)) {
        write_text(&probe, text);
        fputs(text, stdout);
        return 0;
    }
    probes_begin();
    CUcontext context;
    int device;
    CUdeviceptr results;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc_v2(&results, 4096));
    for (int i = 1; i < argc; i++) {
        running = argv[i];
        if (!find(argv[i], &probe, body, sizeof body)) {
            fprintf(stderr, "barriers: there is no probe %s\n", argv[i]);
            return 2;
        }
        if (!run(&probe, results))
            return 0;
    }
    return 0;
}
