/*
 * A grid that takes long, and small kernels beside it. One JSON object a line.
 *
 *   grids batch SECONDS BLOCK_US   says "ready", launches one grid that takes about that long where it is alone, of blocks that take about so
 *                                  long, and says how long it took, how much it did in a ms and whether every block ran once
 *   grids waves SECONDS KERNEL_MS  says "ready", launches grids of few blocks that take about that long each, until the time is over, and says
 *                                  the same
 *   grids ask COUNT                loads a module, launches its kernel, and then again every 10 ms: how long each takes until it is done
 */
#include <string.h>
#include <unistd.h>

#include "driver.h"

enum { CELLS = 1024, THREADS = 128, TRIAL_BLOCKS = 1 << 16, WAVE_BLOCKS = 264, MOST_ASKED = 100000 };

/* Every block computes for as long as `turns` says, and adds one to its cell. */
static const char BATCH[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                            ".visible .entry batch(.param .u64 cells, .param .u32 turns)\n{\n"
                            "  .reg .b64 %rd<3>;\n  .reg .b32 %r<6>;\n  .reg .f32 %f<2>;\n  .reg .pred %p<3>;\n"
                            "  ld.param.u64 %rd1, [cells];\n  ld.param.u32 %r1, [turns];\n"
                            "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %tid.x;\n  cvt.rn.f32.u32 %f1, %r3;\n"
                            "again:\n  fma.rn.f32 %f1, %f1, 0f3F7FFFFF, 0f3F800000;\n"
                            "  sub.u32 %r1, %r1, 1;\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra again;\n"
                            "  setp.eq.f32 %p2, %f1, 0f42280000;\n  @%p2 ret;\n" /* never: what is computed is needed */
                            "  setp.ne.u32 %p1, %r3, 0;\n  @%p1 ret;\n"
                            "  and.b32 %r4, %r2, 1023;\n  mul.wide.u32 %rd2, %r4, 4;\n  add.u64 %rd1, %rd1, %rd2;\n"
                            "  atom.global.add.u32 %r5, [%rd1], 1;\n  ret;\n}\n";
static const char ASK[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry ask()\n{\n  ret;\n}\n";

static CUfunction kernel;
static CUstream stream;
static CUdeviceptr cells;

static double launch_ms(unsigned blocks, unsigned turns)
{
    void *parameters[] = {&cells, &turns};
    int64_t begin = now_ns();
    CHECK(cuLaunchKernel(kernel, blocks, 1, 1, THREADS, 1, 1, 0, stream, parameters, NULL));
    CHECK(cuStreamSynchronize(stream));
    return (double)(now_ns() - begin) / 1e6;
}

static uint64_t counted(void)
{
    static unsigned counts[CELLS];
    uint64_t sum = 0;
    CHECK(cuMemcpyDtoH_v2(counts, cells, sizeof counts));
    for (int i = 0; i < CELLS; i++)
        sum += counts[i];
    return sum;
}

static void open_kernel(const char *image, const char *name)
{
    CUmodule module;
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuModuleGetFunction(&kernel, module, name));
}

/* Prepares the kernel. Returns for how many turns a block alone takes a time. */
static unsigned open_batch(double block_us)
{
    unsigned trial = 100000;
    stream = open_stream();
    open_kernel(BATCH, "batch");
    CHECK(cuMemAlloc_v2(&cells, CELLS * sizeof(unsigned)));
    CHECK(cuMemsetD8Async(cells, 0, CELLS * sizeof(unsigned), stream));
    launch_ms(1, 1);
    return (unsigned)(trial * block_us / 1000 / launch_ms(1, trial)) + 1;
}

static void say(uint64_t blocks, unsigned turns, double ms, uint64_t counts)
{
    printf("{\"blocks\":%llu,\"turns\":%u,\"ms\":%.1f,\"turns_per_ms\":%.0f,\"right\":%s}\n",
           (unsigned long long)blocks, turns, ms, (double)blocks * turns / ms, counts == blocks ? "true" : "false");
}

static int waves(double seconds, double kernel_ms)
{
    unsigned turns = open_batch(kernel_ms * 1000);
    launch_ms(WAVE_BLOCKS, turns);
    uint64_t before = counted(), blocks = 0;
    printf("ready\n");
    fflush(stdout);
    double ms = 0;
    for (; ms < seconds * 1000; blocks += WAVE_BLOCKS)
        ms += launch_ms(WAVE_BLOCKS, turns);
    say(blocks, turns, ms, counted() - before);
    return 0;
}

static int batch(double seconds, double block_us)
{
    unsigned turns = open_batch(block_us);
    double rate = TRIAL_BLOCKS / launch_ms(TRIAL_BLOCKS, turns); /* blocks in a millisecond */
    unsigned blocks = (unsigned)(seconds * 1000 * rate) + 1;
    uint64_t before = counted();
    printf("ready\n");
    fflush(stdout);
    double ms = launch_ms(blocks, turns);
    say(blocks, turns, ms, counted() - before);
    return 0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double ask_ms(void)
{
    int64_t begin = now_ns();
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    CHECK(cuStreamSynchronize(stream));
    return (double)(now_ns() - begin) / 1e6;
}

static int ask(int count)
{
    static double ms[MOST_ASKED];
    int64_t begin = now_ns();
    stream = open_stream();
    open_kernel(ASK, "ask");
    ask_ms();
    double first_ms = (double)(now_ns() - begin) / 1e6;
    for (int i = 0; i < count; i++) {
        usleep(10000);
        ms[i] = ask_ms();
    }
    qsort(ms, (size_t)count, sizeof *ms, ascending);
    printf("{\"count\":%d,\"first_ms\":%.3f,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f}\n", count, first_ms,
           ms[count / 2], ms[count * 99 / 100], ms[count - 1]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "batch") == 0)
        return batch(atof(argv[2]), atof(argv[3]));
    if (argc == 4 && strcmp(argv[1], "waves") == 0)
        return waves(atof(argv[2]), atof(argv[3]));
    if (argc == 3 && strcmp(argv[1], "ask") == 0 && atoi(argv[2]) > 0 && atoi(argv[2]) <= MOST_ASKED)
        return ask(atoi(argv[2]));
    fprintf(stderr, "grids batch SECONDS BLOCK_US | waves SECONDS KERNEL_MS | ask COUNT\n");
    return 2;
}
