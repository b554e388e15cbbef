/*
 * Odd sequences of driver calls with valid handles of the caller's own, to find those that end or hang the process:
 *     odd_calls --list     prints the cases with a sentence each
 *     odd_calls NAME       runs one case in this process
 *     odd_calls --neighbour     computes beside others, and says at each line that comes in how it went
 * Each call is printed before it is made, and its result behind it, so the last line names the call that ended the process.
 * Errors are fine. At the end the context is tried: `context: works` or the error, then `done`. Exit code: 0 done; 2 the case
 * cannot begin, or wrong usage; SIGALRM after 12 s.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "odd.h"

enum { LIMIT_S = 12 };

static const struct odd_case *const tables[] = {
    odd_children, odd_bodies,   odd_nodes,  odd_node_kinds, odd_executables, odd_captures, odd_captured,
    odd_streams,  odd_copies,   odd_arrays, odd_mappings,   odd_pools,       odd_modules,  odd_mutants,
    odd_launches, odd_contexts, NULL,
};

const char *const odd_text =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter;\n"
    ".visible .entry add(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<2>;\n"
    "ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1; ret; }\n"
    ".visible .entry spins(.param .u64 n) { .reg .b64 %d<6>; .reg .pred %q;\n"
    "ld.param.u64 %d1, [n]; min.u64 %d1, %d1, 3000000000; mov.u64 %d2, %globaltimer;\n"
    "again: mov.u64 %d3, %globaltimer; sub.u64 %d4, %d3, %d2; setp.lt.u64 %q, %d4, %d1; @%q bra again; ret; }\n";

struct odd_fixture the;
_Thread_local void *odd_entry;
static void *library;

int odd_find(const char *name)
{
    odd_entry = dlsym(library, name);
    return odd_entry != NULL;
}

int odd_begin(const char *name, const char *arguments)
{
    printf("%s(%s) = ", name, arguments);
    fflush(stdout);
    return odd_find(name);
}

static const char *name_of(CUresult result)
{
    const char *name = NULL;
    QUIET(cuGetErrorName, result, &name);
    return name ? name : "?";
}

CUresult odd_end(CUresult result)
{
    void *entry = odd_entry;
    if (entry)
        printf("%d %s\n", (int)result, name_of(result));
    else
        printf("not in the library\n");
    fflush(stdout);
    odd_entry = entry;
    return result;
}

void odd_say(const char *line)
{
    puts(line);
    fflush(stdout);
}

void odd_need(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("cannot begin: %s = %d %s\n", what, (int)result, name_of(result));
    exit(2);
}

static void begin(void)
{
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        printf("cannot begin: %s\n", dlerror());
        exit(2);
    }
    void *host;
    NEED(cuInit, 0);
    NEED(cuDeviceGet, &the.device, 0);
    NEED(cuDevicePrimaryCtxRetain, &the.context, the.device);
    NEED(cuCtxSetCurrent, the.context);
    NEED(cuStreamCreate, &the.stream, CU_STREAM_NON_BLOCKING);
    NEED(cuStreamCreate, &the.other_stream, CU_STREAM_NON_BLOCKING);
    NEED(cuEventCreate, &the.event, CU_EVENT_DISABLE_TIMING);
    NEED(cuMemAlloc, &the.memory, ODD_BYTES);
    NEED(cuMemAlloc, &the.other_memory, ODD_BYTES);
    NEED(cuMemsetD8, the.memory, 0, ODD_BYTES);
    NEED(cuMemsetD8, the.other_memory, 0, ODD_BYTES);
    NEED(cuMemHostAlloc, &host, ODD_BYTES, CU_MEMHOSTALLOC_DEVICEMAP);
    the.pinned = host;
    memset(host, 0, ODD_BYTES);
    NEED(cuModuleLoadData, &the.module, odd_text);
    NEED(cuModuleGetFunction, &the.add, the.module, "add");
    NEED(cuModuleGetFunction, &the.spins, the.module, "spins");
    NEED(cuGraphCreate, &the.graph, 0);
    NEED(cuGraphCreate, &the.other_graph, 0);
    odd_say("ready");
}

/* Whether the context still does what programs want of it. */
static CUresult try_context(void)
{
    static unsigned char bytes[4096];
    CUdeviceptr memory;
    CUresult result = CALL(cuCtxSynchronize);
    if (result == CUDA_SUCCESS)
        result = CALL(cuMemAlloc, &memory, sizeof bytes);
    if (result == CUDA_SUCCESS)
        result = CALL(cuMemsetD8, memory, 0x5a, sizeof bytes);
    if (result == CUDA_SUCCESS)
        result = CALL(cuMemcpyDtoH, bytes, memory, sizeof bytes);
    if (result == CUDA_SUCCESS && (bytes[0] != 0x5a || bytes[sizeof bytes - 1] != 0x5a))
        odd_say("context: the copied bytes are wrong");
    return result;
}

static int list(void)
{
    for (int table = 0; tables[table]; table++)
        for (const struct odd_case *one = tables[table]; one->name; one++)
            printf("%s\t%s\n", one->name, one->sentence);
    return 0;
}

static const struct odd_case *find(const char *name)
{
    for (int table = 0; tables[table]; table++)
        for (const struct odd_case *one = tables[table]; one->name; one++)
            if (strcmp(one->name, name) == 0)
                return one;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list();
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    if (argc == 2 && strcmp(argv[1], "--neighbour") == 0) {
        begin();
        return odd_neighbour();
    }
    const struct odd_case *one = argc == 2 ? find(argv[1]) : NULL;
    if (!one) {
        fprintf(stderr, "usage: %s NAME, or --list, or --neighbour\n", argv[0]);
        return 2;
    }
    alarm(LIMIT_S);
    begin();
    one->run();
    CUresult result = try_context();
    printf("context: %s\n", result == CUDA_SUCCESS ? "works" : name_of(result));
    odd_say("done");
    return 0;
}
