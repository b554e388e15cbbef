/*
 * What a program in space sharing is refused and a driver would not refuse: each has a line on standard error. First
 * argument:
 *   unsupported  entries that space sharing does not have, of two families, the first twice
 *   question     a question of which the answer is "not supported", which programs do without
 *   grid         a launch of more blocks than there can be
 *   stack        a stack beyond what one program may set for the context that all share
 *   depth        graphs in graphs, deeper than they may lie
 *   code         a kernel with an instruction that the software GPU lacks, twice, and one whose functions call each other deeper than any stack
 *   descriptors  pinned memory while the limit of descriptors is below what is open, as a sandbox sets it
 *   profiler     loads a library of CUPTI's name (second argument), which asks for an export table
 *   loaded       loads it, and nothing else
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

/* Refused by name, whatever the arguments are. */
CUresult cuImportExternalMemory(void **memory, const void *description);
CUresult cuImportExternalSemaphore(void **semaphore, const void *description);
CUresult cuGreenCtxCreate(void **context, void *description, int device, unsigned flags);
CUresult cuMulticastGetGranularity(size_t *granularity, const void *properties, int option);
CUresult cuCtxSetLimit(int limit, size_t value);
CUresult cuGraphAddChildGraphNode(void **node, void *graph, void *const *after, size_t count, void *child);

static const char IMAGE[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";

static const char *library;
static void *stream;

static void unsupported(void)
{
    void *made = NULL;
    EQUAL(CUDA_ERROR_NOT_SUPPORTED, cuImportExternalMemory(&made, &made));
    EQUAL(CUDA_ERROR_NOT_SUPPORTED, cuImportExternalMemory(&made, &made));
    EQUAL(CUDA_ERROR_NOT_SUPPORTED, cuImportExternalSemaphore(&made, &made));
    EQUAL(CUDA_ERROR_NOT_SUPPORTED, cuGreenCtxCreate(&made, NULL, 0, 1));
}

static void question(void)
{
    size_t granularity = 0;
    EQUAL(CUDA_ERROR_NOT_SUPPORTED, cuMulticastGetGranularity(&granularity, &granularity, 0));
}

static void grid(void)
{
    void *module, *function;
    OKAY(cuModuleLoadData(&module, IMAGE));
    OKAY(cuModuleGetFunction(&function, module, "nothing"));
    for (int i = 0; i < 2; i++) {
        CUresult result = cuLaunchKernel(function, 0x7fffffff, 65535, 1, 1, 1, 1, 0, stream, NULL, NULL);
        EQUAL(CUDA_ERROR_INVALID_VALUE, result ? result : cuStreamSynchronize(stream));
    }
    OKAY(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    OKAY(cuStreamSynchronize(stream));
}

static void stack(void)
{
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 128 << 10));
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 256 << 10));
    OKAY(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4 << 10));
}

static void depth(void)
{
    void *inner, *outer, *node;
    CUresult result = 0;
    int depth = 0;
    OKAY(cuGraphCreate(&inner, 0));
    while (result == 0 && depth++ < 1000) {
        OKAY(cuGraphCreate(&outer, 0));
        result = cuGraphAddChildGraphNode(&node, outer, NULL, 0, inner);
        inner = outer;
    }
    EQUAL(CUDA_ERROR_OUT_OF_MEMORY, result);
}

enum { FUNCTIONS = 5000, FUNCTION_BYTES = 64 };

static void code(void)
{
    static const char LACKING[] =
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry lacking() { tcgen05.fence::before_thread_sync; ret; }\n";
    static char deep[(FUNCTIONS + 2) * FUNCTION_BYTES];
    void *module, *function;
    OKAY(cuModuleLoadData(&module, LACKING));
    for (int i = 0; i < 2; i++)
        EQUAL(CUDA_ERROR_INVALID_PTX, cuModuleGetFunction(&function, module, "lacking"));
    int used = sprintf(deep, ".version 7.0\n.target sm_70\n.address_size 64\n.func f0() { ret; }\n");
    for (int i = 1; i < FUNCTIONS; i++)
        used += sprintf(deep + used, ".func f%d() { call f%d; ret; }\n", i, i - 1);
    sprintf(deep + used, ".visible .entry deep() { call f%d; ret; }\n", FUNCTIONS - 1);
    OKAY(cuModuleLoadData(&module, deep));
    OKAY(cuModuleGetFunction(&function, module, "deep"));
    OKAY(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    OKAY(cuStreamSynchronize(stream));
}

/* Microseconds of processor time of all threads so far. */
static long used_us(void)
{
    struct rusage used;
    CHECK(getrusage(RUSAGE_SELF, &used) == 0);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

static void descriptors(void)
{
    struct rlimit limit, none;
    uint64_t memory;
    void *pinned;
    uint32_t word = 7;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = (struct rlimit){0, limit.rlim_max};
    OKAY(cuMemAlloc_v2(&memory, 1 << 20));
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    for (int i = 0; i < 2; i++)
        EQUAL(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocHost_v2(&pinned, 8 << 20));
    OKAY(cuMemcpyHtoD_v2(memory, &word, sizeof word));
    long before_us = used_us();
    sleep(2);
    CHECK(used_us() - before_us < 500000); /* nobody waits by asking again and again */
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    OKAY(cuMemAllocHost_v2(&pinned, 8 << 20));
    OKAY(cuMemcpyDtoH_v2(pinned, memory, sizeof word));
    EQUAL(7, *(uint32_t *)pinned);
}

static void *load(void)
{
    void *loaded = dlopen(library, RTLD_NOW);
    CHECK(loaded);
    return loaded;
}

static void profiler(void)
{
    int (*begin)(void) = (int (*)(void))dlsym(load(), "profile");
    CHECK(begin);
    for (int i = 0; i < 2; i++)
        EQUAL(0, begin());
}

static void loaded(void)
{
    load();
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"unsupported", unsupported},
                 {"question", question},
                 {"grid", grid},
                 {"stack", stack},
                 {"depth", depth},
                 {"code", code},
                 {"descriptors", descriptors},
                 {"profiler", profiler},
                 {"loaded", loaded}};
    void *context;
    library = count > 2 ? arguments[2] : NULL;
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        if (count > 1 && strcmp(arguments[1], modes[i].name) == 0) {
            modes[i].run();
            printf("%s ok\n", arguments[1]);
            return 0;
        }
    return 2;
}
