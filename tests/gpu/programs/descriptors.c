/*
 * What wgmma does with matrix descriptors that point beyond the block's shared memory: whether the context ends, and whether another
 * block's shared memory is read. A descriptor is 64 bits in a register, which a program may make of anything; the fencer refuses wgmma
 * as long as nobody knows.
 *
 *   descriptors --list           the names of all probes, one a line
 *   descriptors --text PROBE     its PTX
 *   descriptors PROBE...         runs them; a line of JSON each; stops behind the first whose context is gone
 *
 * A probe is FORM_SIZE_SERIES: how the matrices are given, KiB of the block's shared memory, and which descriptors are tried, one after
 * the other by one block. The block's memory holds zeros. Beside it a block on each SM holds SECRET in all of its own (but for the size
 * that leaves no room), so a result that is no zero was read elsewhere, and one that is SECRET times a count of rows was read there.
 * A probe that takes longer than a few seconds ends the process with status 3.
 */
#include <string.h>
#include <unistd.h>

#include "cuda_constants.h"
#include "probe.h"

extern int cuFuncSetAttribute(CUfunction, int, int);
extern int cuDeviceGetAttribute(int *, int, int);

enum { PROBE_SECONDS = 10, TEXT_BYTES = 65536, THREADS = 128, MOST = 16384 };
enum { SECRET_KIB = 64, WHOLE_KIB = 227, SYSTEM_BYTES = 1024, KIB = 1024 };
enum { START_BITS = 14, UNIT = 16, LEADING_AT = 16, STRIDE_AT = 32, OFFSET_AT = 49, SWIZZLE_AT = 62 };

static const struct form {
    const char *name, *shape, *operands;
    int columns;
} FORMS[] = {
    {"rows", "m64n8k16", "{%a, %a, %a, %a}, %d, 1, 1, 1, 0", 8},
    {"columns", "m64n8k16", "{%a, %a, %a, %a}, %d, 1, 1, 1, 1", 8},
    {"both", "m64n8k16", "%d, %d, 1, 1, 1, 0, 0", 8},
    {"wide", "m64n256k16", "{%a, %a, %a, %a}, %d, 1, 1, 1, 0", 256},
};
static const int SIZES[] = {1, 48, 150, WHOLE_KIB};
static const char *const SERIES[] = {"good", "start", "leading", "stride", "swizzle", "rest", "random"};
enum {
    FORM_COUNT = sizeof FORMS / sizeof *FORMS,
    SIZE_COUNT = sizeof SIZES / sizeof *SIZES,
    SERIES_COUNT = sizeof SERIES / sizeof *SERIES
};

struct probe {
    const struct form *form;
    int kib, series;
};

/* What the two kernels share with the host. */
struct words {
    uint32_t begun, held, end;
};

/* `hold` fills its block's shared memory with a pattern, counts itself, and waits to be told to end, two seconds at most. `probe` fills
   its own with zeros and multiplies ones with what each descriptor points to: results[i] gets all bits of the products, and the highest
   bit if one of them is SECRET (1024) times 1 to 16. */
static const char *HOLD =
    ".visible .entry hold(.param .u64 words, .param .u32 pattern, .param .u32 bytes)\n{\n"
    ".reg .b32 %i, %f, %n, %t, %b;\n.reg .b64 %w;\n.reg .pred %p, %o;\n"
    "ld.param.u64 %w, [words];\nld.param.u32 %f, [pattern];\nld.param.u32 %n, [bytes];\nmov.u32 %i, %tid.x;\nmov.u32 %b, mine;\n"
    "setp.ne.u32 %o, %i, 0;\nshl.b32 %i, %i, 2;\nfill:\nsetp.ge.u32 %p, %i, %n;\n@%p bra filled;\nadd.u32 %t, %b, %i;\n"
    "st.shared.u32 [%t], %f;\nadd.u32 %i, %i, 512;\nbra fill;\nfilled:\nbar.sync 0;\n@%o bra done;\n"
    "red.global.add.u32 [%w+4], 1;\nmov.u32 %n, 0;\nwait:\nld.volatile.global.u32 %t, [%w+8];\nsetp.ne.u32 %p, %t, 0;\n@%p bra done;\n"
    "nanosleep.u32 1000;\nadd.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 2000000;\n@%p bra wait;\ndone:\nbar.sync 0;\nret;\n}\n";
static const char *PROBE_HEAD =
    ".visible .entry probe(.param .u64 words, .param .u64 list, .param .u32 count, .param .u64 results, .param .u32 bytes)\n{\n"
    ".reg .b32 %i, %n, %t, %b, %a, %s, %k;\n.reg .b64 %w, %l, %r, %d;\n.reg .f32 %q, %v;\n.reg .pred %p, %o, %c;\n"
    "ld.param.u64 %w, [words];\nld.param.u64 %l, [list];\nld.param.u32 %k, [count];\nld.param.u64 %r, [results];\n"
    "ld.param.u32 %n, [bytes];\nmov.u32 %i, %tid.x;\nmov.u32 %b, mine;\nsetp.ne.u32 %o, %i, 0;\nmov.u32 %a, 0x3c003c00;\n"
    "shl.b32 %i, %i, 2;\nfill:\nsetp.ge.u32 %p, %i, %n;\n@%p bra filled;\nadd.u32 %t, %b, %i;\nst.shared.u32 [%t], 0;\n"
    "add.u32 %i, %i, 512;\nbra fill;\nfilled:\nfence.proxy.async.shared::cta;\nbar.sync 0;\nmov.u32 %i, 0;\nnext:\n"
    "@!%o st.volatile.global.u32 [%w], %i;\n@!%o membar.sys;\nbar.sync 0;\nld.global.u64 %d, [%l];\n";
static const char *PROBE_TAIL =
    "@%c or.b32 %s, %s, 0x80000000;\nsetp.eq.u32 %p, %s, 0;\n@!%p red.global.or.b32 [%r], %s;\n"
    "add.u64 %l, %l, 8;\nadd.u64 %r, %r, 4;\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, %k;\n@%p bra next;\nret;\n}\n";

static int find(const char *name, struct probe *found)
{
    for (int f = 0; f < FORM_COUNT; f++)
        for (int s = 0; s < SIZE_COUNT; s++)
            for (int n = 0; n < SERIES_COUNT; n++) {
                char full[64];
                snprintf(full, sizeof full, "%s_%d_%s", FORMS[f].name, SIZES[s], SERIES[n]);
                if (name == NULL)
                    puts(full);
                else if (strcmp(full, name) == 0) {
                    *found = (struct probe){&FORMS[f], SIZES[s], n};
                    return 1;
                }
            }
    return 0;
}

static uint64_t made(uint64_t start, uint64_t leading, uint64_t stride)
{
    return start | leading << LEADING_AT | stride << STRIDE_AT;
}

/* The descriptors of a series (PTX ISA, matrix descriptor: start, leading and stride offset in units of 16 bytes, base offset, swizzle). */
static int fill(int series, uint64_t *list)
{
    uint64_t own = SYSTEM_BYTES / UNIT, all = (1u << START_BITS) - 1;
    int count = 0;
    switch (series) {
    case 0:
        list[count++] = made(own, 8, 8);
        break;
    case 1:
        for (uint64_t start = 0; start <= all; start++)
            list[count++] = made(start, 8, 8);
        break;
    case 2:
    case 3:
        for (uint64_t far = 0; far <= all; far += 3)
            list[count++] = series == 2 ? made(own, far, 8) : made(own, 8, far);
        break;
    case 4:
        for (uint64_t swizzle = 0; swizzle < 4; swizzle++)
            for (uint64_t offset = 0; offset < 8; offset++)
                for (uint64_t start = 0; start <= all; start += 97)
                    list[count++] = made(start, all, all - start) | offset << OFFSET_AT | swizzle << SWIZZLE_AT;
        break;
    case 5: /* bits that the ISA gives no meaning */
        for (int bit = 0; bit < 64; bit++)
            list[count++] = made(own, 8, 8) ^ 1ull << bit;
        list[count++] = 0;
        list[count++] = ~0ull;
        break;
    default:
        for (uint64_t i = 0; i < MOST; i++)
            list[count++] = mixed(i);
    }
    return count;
}

static void write_text(const struct probe *probe, char *text)
{
    int at = snprintf(text, TEXT_BYTES,
                      ".version 8.3\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 mine[];\n%s%s",
                      HOLD, PROBE_HEAD);
    int registers = probe->form->columns / 2; /* 64 rows of this many columns over 128 threads */
    at += snprintf(text + at, TEXT_BYTES - at, ".reg .f32 %%y<%d>;\n", registers);
    for (int i = 0; i < registers; i++)
        at += snprintf(text + at, TEXT_BYTES - at, "mov.f32 %%y%d, 0f00000000;\n", i);
    at += snprintf(text + at, TEXT_BYTES - at,
                   "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.%s.f32.f16.f16 {", probe->form->shape);
    for (int i = 0; i < registers; i++)
        at += snprintf(text + at, TEXT_BYTES - at, "%s%%y%d", i == 0 ? "" : ", ", i);
    at += snprintf(text + at, TEXT_BYTES - at,
                   "}, %s;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
                   "mov.u32 %%s, 0;\nsetp.ne.u32 %%c, 0, 0;\n",
                   probe->form->operands);
    for (int i = 0; i < registers; i++)
        at += snprintf(
            text + at, TEXT_BYTES - at,
            "mov.b32 %%t, %%y%d;\nand.b32 %%t, %%t, 0x7fffffff;\nor.b32 %%s, %%s, %%t;\n"
            "mul.f32 %%q, %%y%d, 0f3a800000;\ncvt.rni.f32.f32 %%v, %%q;\n"
            "setp.eq.f32 %%p, %%v, %%q;\nsetp.ge.and.f32 %%p, %%q, 0f3f800000, %%p;\nsetp.le.and.f32 %%p, %%q, 0f41800000, %%p;\n"
            "or.pred %%c, %%c, %%p;\n",
            i, i);
    snprintf(text + at, TEXT_BYTES - at, "%s", PROBE_TAIL);
}

/* The streams, memory and shared words of a process. */
struct room {
    CUstream holders, prober;
    CUdeviceptr list, results;
    volatile struct words *words;
    int processors;
};

static int hold(const struct room *room, CUfunction kernel, uint32_t pattern, uint32_t kib)
{
    uint32_t bytes = kib * KIB;
    void *words = (void *)room->words;
    void *arguments[] = {&words, &pattern, &bytes};
    CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes));
    CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                             100)); /* an SM divides its memory again only once it is empty */
    return cuLaunchKernel(kernel, (unsigned)room->processors, 1, 1, THREADS, 1, 1, bytes, room->holders, arguments,
                          NULL);
}

/* Zeros in all shared memory, then a holder of the secret on each SM if there is room. */
static void prepare(const struct room *room, CUfunction holder, int kib)
{
    room->words->held = 0;
    room->words->end = 1;
    CHECK(hold(room, holder, 0, WHOLE_KIB));
    CHECK(cuStreamSynchronize(room->holders));
    room->words->held = 0;
    room->words->end = kib == WHOLE_KIB;
    room->words->begun = 0;
    if (kib == WHOLE_KIB)
        return;
    CHECK(hold(room, holder, 0x64006400, SECRET_KIB));
    int64_t until = now_ns() + 1000000000;
    while ((int)room->words->held < room->processors && now_ns() < until)
        usleep(100);
}

/* Runs one; whether the context is still there. */
static int run(const struct probe *probe, const struct room *room)
{
    static char text[TEXT_BYTES];
    static uint64_t list[MOST];
    static uint32_t results[MOST];
    write_text(probe, text);
    CUmodule module;
    CUfunction kernel, holder;
    int result = cuModuleLoadData(&module, text);
    if (result != 0) {
        printf("{\"probe\":\"%s\",\"ended\":\"not loaded: %s\"}\n", running, error_name(result));
        return 1;
    }
    CHECK(cuModuleGetFunction(&kernel, module, "probe"));
    CHECK(cuModuleGetFunction(&holder, module, "hold"));
    uint32_t count = (uint32_t)fill(probe->series, list), bytes = (uint32_t)probe->kib * KIB;
    memset(results, 0, sizeof results);
    CHECK(cuMemcpyHtoD_v2(room->list, list, sizeof list));
    CHECK(cuMemcpyHtoD_v2(room->results, results, sizeof results));
    CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes));
    CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                             100)); /* an SM divides its memory again only once it is empty */
    prepare(room, holder, probe->kib);
    uint32_t held = room->words->held;
    void *words = (void *)room->words;
    CUdeviceptr listed = room->list, into = room->results;
    void *arguments[] = {&words, &listed, &count, &into, &bytes};
    alarm(PROBE_SECONDS);
    result = cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, bytes, room->prober, arguments, NULL);
    if (result == 0)
        result = cuStreamSynchronize(room->prober);
    room->words->end = 1;
    if (result == 0)
        result = cuCtxSynchronize();
    alarm(0);
    if (result == 0)
        CHECK(cuMemcpyDtoH_v2(results, room->results, sizeof results));
    uint32_t seen = 0, secret = 0;
    uint64_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (results[i] != 0 && seen++ == 0)
            first = list[i];
        secret += results[i] >> 31;
    }
    printf("{\"probe\":\"%s\",\"ended\":\"%s\",\"tried\":%u,\"begun\":%u,\"last\":\"%016llx\",\"seen\":%u,\"secret\":%u,\"first\":\"%016llx\","
           "\"holders\":%u}\n",
           running, error_name(result), count, room->words->begun + 1, (unsigned long long)list[room->words->begun],
           seen, secret, (unsigned long long)first, held);
    if (result == 0)
        CHECK(cuModuleUnload(module));
    return result == 0;
}

int main(int argc, char **argv)
{
    struct probe probe;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        find(NULL, &probe);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--text") == 0 && find(argv[2], &probe)) {
        static char text[TEXT_BYTES];
        write_text(&probe, text);
        fputs(text, stdout);
        return 0;
    }
    probes_begin();
    CUcontext context;
    int device;
    struct room room;
    void *words;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetAttribute(&room.processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&room.holders, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&room.prober, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc_v2(&room.list, MOST * sizeof(uint64_t)));
    CHECK(cuMemAlloc_v2(&room.results, MOST * sizeof(uint32_t)));
    CHECK(cuMemHostAlloc(&words, sizeof *room.words, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    room.words = words;
    for (int i = 1; i < argc; i++) {
        running = argv[i];
        if (!find(argv[i], &probe)) {
            fprintf(stderr, "descriptors: there is no probe %s\n", argv[i]);
            return 2;
        }
        if (!run(&probe, &room))
            return 0;
    }
    return 0;
}
