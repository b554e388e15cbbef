/*
 * What else in a context stands still while one of its streams does:
 *     standing wait|kernel OPERATION
 * A stream waits for a value that nobody writes (wait) or runs a kernel that waits for one (kernel). Then the operation is
 * done in another thread, then a kernel that is loaded already is launched in another stream. Prints
 *     OPERATION result MS later MS after RESULT
 * the operation's result and time, the launched kernel's time, both -1 where they were not over after 2 s, and the first
 * error after the value was written. `standing list` names the operations. CUDA_MODULE_LOADING counts.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
extern int cuStreamWaitValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned);
extern int cuMemHostGetDevicePointer_v2(CUdeviceptr *, void *, unsigned);
extern int cuFuncGetAttribute(int *, int, CUfunction);
extern int cuFuncLoad(CUfunction);
extern int cuLibraryLoadData(CUlibrary *, const void *, void *, void **, unsigned, void *, void **, unsigned);
extern int cuLibraryGetKernel(CUkernel *, CUlibrary, const char *);
extern int cuKernelGetFunction(CUfunction *, CUkernel);
extern int cuStreamCreateWithPriority(CUstream *, unsigned, int);
extern int cuStreamDestroy_v2(CUstream);
extern int cuStreamWriteValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned);
extern int cuMemAllocAsync(CUdeviceptr *, size_t, CUstream);
extern int cuMemFreeAsync(CUdeviceptr, CUstream);
extern int cuMemAllocManaged(CUdeviceptr *, size_t, unsigned);
extern int cuMemAdvise(CUdeviceptr, size_t, int, int);
extern int cuMemPrefetchAsync(CUdeviceptr, size_t, int, CUstream);
struct location {
    int type, id;
};
struct allocation {
    int type, handles;
    struct location location;
    void *win32;
    unsigned char flags[8], reserved[24];
};
struct access {
    struct location location;
    int flags;
};
extern int cuMemCreate(uint64_t *, size_t, const struct allocation *, unsigned long long);
extern int cuMemRelease(uint64_t);
extern int cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
extern int cuMemMap(CUdeviceptr, size_t, size_t, uint64_t, unsigned long long);
extern int cuMemUnmap(CUdeviceptr, size_t);
extern int cuMemSetAccess(CUdeviceptr, size_t, const struct access *, size_t);
struct array_shape {
    size_t width, height;
    int format;
    unsigned channels;
};
extern int cuArrayCreate_v2(void **, const struct array_shape *);
extern int cuArrayDestroy(void *);
extern int cuMemHostRegister_v2(void *, size_t, unsigned);
extern int cuMemHostUnregister(void *);
extern int cuCtxSetLimit(int, size_t);
extern int cuGraphCreate(void **, unsigned);
extern int cuGraphDestroy(void *);
struct kernel_node {
    CUfunction function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra, *kernel, *context;
};
extern int cuGraphAddKernelNode_v2(void **, void *, void **, size_t, const struct kernel_node *);
extern int cuGraphInstantiateWithFlags(void **, void *, unsigned long long);
extern int cuGraphLaunch(void *, CUstream);
extern int cuGraphExecDestroy(void *);
extern int cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule, const char *);
extern int cuLaunchHostFunc(CUstream, void (*)(void *), void *);
extern int cuMemPoolTrimTo(void *, size_t);
extern int cuDeviceGetDefaultMemPool(void **, int);
extern int cuEventDestroy_v2(CUevent);
extern int cuMemGetInfo_v2(size_t *, size_t *);
extern int cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
extern int cuLibraryUnload(CUlibrary);
extern int cuFuncSetAttribute(CUfunction, int, int);

enum { NON_BLOCKING = 1, PREFERRED_LOCATION = 3, EQUAL = 1, SHARED_BYTES_ATTRIBUTE = 1, GO = 77 };
enum { PATIENCE_MS = 2000, BYTES = 1 << 20 };

/* Two kernels; the second is asked for late. Shared memory of many sizes and calls would change nothing here. */
#define KERNEL(name) \
    ".visible .entry " name "(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<2>;\n" \
    "ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1; ret; }\n"
static const char *const two = ".version 7.0\n.target sm_70\n.address_size 64\n" KERNEL("first") KERNEL("second");
static const char *const spin =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry spin(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<2>; .reg .pred %q;\n"
    "ld.param.u64 %d1, [p];\nagain: ld.volatile.global.u32 %r1, [%d1]; setp.ne.u32 %q, %r1, 77; @%q bra again; ret; }\n";

static const char *const deep =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry deep(.param .u64 p) { .local .align 8 .b8 far[8192]; .reg .b64 %d<6>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; and.b32 %r1, %r1, 8188; cvt.u64.u32 %d2, %r1; mov.u64 %d3, far;\n"
    "add.u64 %d3, %d3, %d2; st.local.u32 [%d3], %r1; ld.local.u32 %r2, [far+128]; st.global.u32 [%d1], %r2; ret; }\n";

static CUcontext context;
static CUstream stands, runs, idle;
static CUmodule loaded, module, spare;
static CUfunction first, second, other, spinning;
static CUlibrary library;
static CUdeviceptr memory, word, spare_memory;
static uint32_t *volatile host_word;
static CUevent event;
static void *pinned;

static int launch(CUfunction function)
{
    void *parameters[] = {&memory};
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, runs, parameters, NULL);
}

static int load(void)
{
    return cuModuleLoadData(&module, two);
}

static int load_get(void)
{
    int result = load();
    return result ? result : cuModuleGetFunction(&other, module, "second");
}

static int load_attribute(void)
{
    int value, result = load_get();
    return result ? result : cuFuncGetAttribute(&value, SHARED_BYTES_ATTRIBUTE, other);
}

static int load_func_load(void)
{
    int result = load_get();
    return result ? result : cuFuncLoad(other);
}

static int load_launch(void)
{
    int result = load_get();
    return result ? result : launch(other);
}

static int get_launch(void)
{
    int result = cuModuleGetFunction(&second, loaded, "second");
    return result ? result : launch(second);
}

static int get_only(void)
{
    return cuModuleGetFunction(&second, loaded, "second");
}

static int get_attribute(void)
{
    int value, result = get_only();
    return result ? result : cuFuncGetAttribute(&value, SHARED_BYTES_ATTRIBUTE, second);
}

static int before_get(void)
{
    return cuModuleGetFunction(&second, loaded, "second");
}

static int before_attribute(void)
{
    int value, result = before_get();
    return result ? result : cuFuncGetAttribute(&value, SHARED_BYTES_ATTRIBUTE, second);
}

static int before_load(void)
{
    int result = before_get();
    return result ? result : cuFuncLoad(second);
}

static int launch_second(void)
{
    return launch(second);
}

static int before_library(void)
{
    return cuLibraryLoadData(&library, two, NULL, NULL, 0, NULL, NULL, 0);
}

static int library_get(void)
{
    CUkernel kernel;
    int result = cuLibraryGetKernel(&kernel, library, "second");
    return result ? result : cuKernelGetFunction(&other, kernel);
}

static int library_launch(void)
{
    int result = library_get();
    return result ? result : launch(other);
}

static int before_library_get(void)
{
    int result = before_library();
    return result ? result : library_get();
}

static int before_library_load(void)
{
    int result = before_library_get();
    return result ? result : cuFuncLoad(other);
}

static int launch_other(void)
{
    return launch(other);
}

static int library_load(void)
{
    return before_library();
}

static int nothing(void)
{
    return 0;
}

static int make_stream(void)
{
    return cuStreamCreate(&idle, NON_BLOCKING);
}

static int make_high_stream(void)
{
    int result = cuStreamCreateWithPriority(&idle, NON_BLOCKING, -100);
    return result ? result : cuStreamWriteValue32_v2(idle, memory, 1, 0);
}

static int end_stream(void)
{
    return cuStreamDestroy_v2(idle);
}

static int allocate(void)
{
    return cuMemAlloc_v2(&spare_memory, 64 << 20);
}

static int free_memory(void)
{
    return cuMemFree_v2(spare_memory);
}

static int allocate_async(void)
{
    int result = cuMemAllocAsync(&spare_memory, 64 << 20, runs);
    return result ? result : cuMemFreeAsync(spare_memory, runs);
}

static int pin(void)
{
    return cuMemHostAlloc(&pinned, BYTES, 0);
}

static int unpin(void)
{
    return cuMemFreeHost(pinned);
}

static int unload(void)
{
    return cuModuleUnload(spare);
}

static int load_spare(void)
{
    return cuModuleLoadData(&spare, two);
}

static int set_memory(void)
{
    return cuMemsetD8Async(memory, 1, 16, runs);
}

static int copy_in(void)
{
    static char bytes[BYTES];
    return cuMemcpyHtoD_v2(memory, bytes, BYTES);
}

static int copy_async(void)
{
    return cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, runs);
}

static int make_event(void)
{
    int result = cuEventCreate(&event, 0);
    return result ? result : cuEventRecord(event, runs);
}

enum { CHUNK = 2 << 20 };
static uint64_t chunk;
static CUdeviceptr place;
static void *array, *graph, *executable, *registered;

static int create_chunk(void)
{
    const struct allocation shape = {.type = 1, .location = {1, 0}};
    return cuMemCreate(&chunk, CHUNK, &shape, 0);
}

static int reserve(void)
{
    int result = create_chunk();
    return result ? result : cuMemAddressReserve(&place, CHUNK, 0, 0, 0);
}

static int map(void)
{
    const struct access all = {{1, 0}, 3};
    int result = cuMemMap(place, CHUNK, 0, chunk, 0);
    return result ? result : cuMemSetAccess(place, CHUNK, &all, 1);
}

static int before_map(void)
{
    int result = reserve();
    return result ? result : map();
}

static int unmap(void)
{
    return cuMemUnmap(place, CHUNK);
}

static int release(void)
{
    return cuMemRelease(chunk);
}

static int make_array(void)
{
    const struct array_shape shape = {256, 256, 32, 1};
    return cuArrayCreate_v2(&array, &shape);
}

static int end_array(void)
{
    return cuArrayDestroy(array);
}

static int before_register(void)
{
    registered = aligned_alloc(4096, BYTES);
    return registered ? 0 : 2;
}

static int register_memory(void)
{
    return cuMemHostRegister_v2(registered, BYTES, 0);
}

static int registered_before(void)
{
    int result = before_register();
    return result ? result : register_memory();
}

static int unregister(void)
{
    return cuMemHostUnregister(registered);
}

static int larger_stack(void)
{
    return cuCtxSetLimit(0, 4096);
}

/* The kernel of the spare module takes more local memory than any before. */
static int before_deep(void)
{
    int result = cuModuleLoadData(&spare, deep);
    result = result ? result : cuModuleGetFunction(&other, spare, "deep");
    return result ? result : cuFuncLoad(other);
}

static int make_graph(void)
{
    static void *parameters[1];
    void *node;
    parameters[0] = &memory;
    struct kernel_node one = {first, {1, 1, 1}, {1, 1, 1}, 0, parameters, NULL, NULL, NULL};
    int result = cuGraphCreate(&graph, 0);
    result = result ? result : cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &one);
    return result ? result : cuGraphInstantiateWithFlags(&executable, graph, 0);
}

static int launch_graph(void)
{
    return cuGraphLaunch(executable, runs);
}

static int make_launch_graph(void)
{
    int result = make_graph();
    return result ? result : launch_graph();
}

static int end_graph(void)
{
    return cuGraphExecDestroy(executable);
}

static void hear(void *unused)
{
    (void)unused;
}

static int call_host(void)
{
    return cuLaunchHostFunc(runs, hear, NULL);
}

static int before_trim(void)
{
    int result = cuMemAllocAsync(&spare_memory, 64 << 20, runs);
    return result ? result : cuMemFreeAsync(spare_memory, runs);
}

static int trim(void)
{
    void *pool;
    int result = cuDeviceGetDefaultMemPool(&pool, 0);
    return result ? result : cuMemPoolTrimTo(pool, 0);
}

static int end_event(void)
{
    return cuEventDestroy_v2(event);
}

static int ask_memory(void)
{
    size_t available, all;
    return cuMemGetInfo_v2(&available, &all);
}

static int set_and_wait(void)
{
    return cuMemsetD8_v2(memory, 1, BYTES);
}

static int copy_out(void)
{
    static char bytes[BYTES];
    return cuMemcpyDtoH_v2(bytes, memory, BYTES);
}

static int end_busy_stream(void)
{
    return cuStreamDestroy_v2(stands);
}

static int load_library_unused(void)
{
    return before_library();
}

static int unload_library(void)
{
    return cuLibraryUnload(library);
}

static int more_shared(void)
{
    return cuFuncSetAttribute(first, 8, 100 << 10);
}

static int load_long(void)
{
    return cuMemAllocManaged(&spare_memory, BYTES, 1);
}

static int free_early(void)
{
    return cuMemFree_v2(spare_memory);
}

static const struct {
    const char *name;
    int (*before)(void);
    int (*operation)(void);
} operations[] = {
    {"nothing", NULL, nothing},
    {"load a module", NULL, load},
    {"load a module, get a function", NULL, load_get},
    {"load a module, ask for an attribute", NULL, load_attribute},
    {"load a module, cuFuncLoad", NULL, load_func_load},
    {"load a module, launch", NULL, load_launch},
    {"get a function", NULL, get_only},
    {"get a function, ask for an attribute", NULL, get_attribute},
    {"get a function, launch", NULL, get_launch},
    {"launch, got before", before_get, launch_second},
    {"launch, asked for an attribute before", before_attribute, launch_second},
    {"launch, cuFuncLoad before", before_load, launch_second},
    {"load a library", NULL, library_load},
    {"get a library function", before_library, library_get},
    {"get a library function, launch", before_library, library_launch},
    {"launch a library function, got before", before_library_get, launch_other},
    {"launch a library function, cuFuncLoad before", before_library_load, launch_other},
    {"unload a module", load_spare, unload},
    {"make a stream", NULL, make_stream},
    {"make a stream of high priority, write by it", NULL, make_high_stream},
    {"end an idle stream", make_stream, end_stream},
    {"allocate", NULL, allocate},
    {"free", allocate, free_memory},
    {"allocate and free in a stream", NULL, allocate_async},
    {"pin", NULL, pin},
    {"unpin", pin, unpin},
    {"set memory, the first time", NULL, set_memory},
    {"copy pageable memory", NULL, copy_in},
    {"copy pinned memory", pin, copy_async},
    {"make and record an event", NULL, make_event},
    {"end an event", make_event, end_event},
    {"create a chunk", NULL, create_chunk},
    {"map a chunk", reserve, map},
    {"unmap a chunk", before_map, unmap},
    {"release a mapped chunk", before_map, release},
    {"release a chunk", create_chunk, release},
    {"make an array", NULL, make_array},
    {"end an array", make_array, end_array},
    {"register memory", before_register, register_memory},
    {"unregister memory", registered_before, unregister},
    {"larger stack", NULL, larger_stack},
    {"launch with more local memory", before_deep, launch_other},
    {"make a graph", NULL, make_graph},
    {"make and launch a graph", NULL, make_launch_graph},
    {"launch a graph", make_graph, launch_graph},
    {"end an executable graph", make_graph, end_graph},
    {"call the host", NULL, call_host},
    {"trim a pool", before_trim, trim},
    {"ask for free memory", NULL, ask_memory},
    {"set memory and wait", NULL, set_and_wait},
    {"copy out", NULL, copy_out},
    {"end the stream that stands", NULL, end_busy_stream},
    {"unload an unused library", load_library_unused, unload_library},
    {"unload a library", before_library_load, unload_library},
    {"allow more shared memory", NULL, more_shared},
    {"allocate managed memory", NULL, load_long},
    {"free managed memory", load_long, free_early},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static atomic_int over, outcome;

static void *in_thread(void *operation)
{
    cuCtxSetCurrent(context);
    atomic_store(&outcome, (*(int (**)(void))operation)());
    atomic_store(&over, 1);
    return NULL;
}

/* Milliseconds until the operation returns; -1: it has not, and its thread goes on. */
static double timed(int (*operation)(void), int *result)
{
    static int (*kept[4])(void);
    static int used;
    pthread_t thread;
    int64_t begin = now_ns();
    kept[used] = operation;
    atomic_store(&over, 0);
    if (pthread_create(&thread, NULL, in_thread, &kept[used++]) != 0)
        exit(1);
    while (!atomic_load(&over) && now_ns() - begin < PATIENCE_MS * 1000000ll)
        usleep(50);
    *result = atomic_load(&over) ? atomic_load(&outcome) : 0;
    return atomic_load(&over) ? (double)(now_ns() - begin) / 1e6 : -1;
}

static CUevent old;

static int ask_event(void)
{
    int result = cuEventQuery(old);
    return result == 600 ? 0 : result;
}

static int launch_first(void)
{
    int result = launch(first);
    int64_t begin = now_ns();
    while (!result && (result = cuStreamQuery(runs)) == 600 && now_ns() - begin < PATIENCE_MS * 1000000ll) {
        result = 0;
        usleep(50);
    }
    if (!result && now_ns() - begin >= PATIENCE_MS * 1000000ll)
        pause(); /* it does not return, as far as its caller knows */
    return result;
}

static void begin(const char *how)
{
    void *host;
    int device;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc_v2(&memory, BYTES));
    CHECK(cuMemHostAlloc(&host, 4096, 2));
    CHECK(cuMemHostGetDevicePointer_v2(&word, host, 0));
    host_word = host;
    if (strcmp(how, "managed") == 0) {
        CHECK(cuMemAllocManaged(&word, 65536, 1));
        host_word = (uint32_t *)(uintptr_t)word;
    }
    *host_word = 0;
    if (strcmp(how, "managed") == 0) {
        CHECK(cuMemAdvise(word, 65536, PREFERRED_LOCATION, device));
        CHECK(cuMemPrefetchAsync(word, 65536, device, NULL));
    }
    CHECK(cuStreamCreate(&stands, NON_BLOCKING));
    CHECK(cuStreamCreate(&runs, NON_BLOCKING));
    CHECK(cuModuleLoadData(&loaded, two));
    CHECK(cuModuleGetFunction(&first, loaded, "first"));
    CHECK(launch(first));
    CUmodule spins;
    if (strcmp(how, "wait") != 0) {
        CHECK(cuModuleLoadData(&spins, spin));
        CHECK(cuModuleGetFunction(&spinning, spins, "spin"));
        CHECK(cuFuncLoad(spinning));
    }
    CHECK(cuCtxSynchronize());
}

static void stand_still(void)
{
    void *parameters[] = {&word};
    if (spinning)
        CHECK(cuLaunchKernel(spinning, 1, 1, 1, 1, 1, 1, 0, stands, parameters, NULL));
    else
        CHECK(cuStreamWaitValue32_v2(stands, word, GO, EQUAL));
    usleep(100000);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (int i = 0; i < OPERATIONS; i++)
            puts(operations[i].name);
        return 0;
    }
    int chosen = 0;
    while (argc == 3 && chosen < OPERATIONS && strcmp(argv[2], operations[chosen].name) != 0)
        chosen++;
    if (argc != 3 || chosen == OPERATIONS || (strcmp(argv[1], "wait") != 0 && strcmp(argv[1], "kernel") != 0 && strcmp(argv[1], "managed") != 0)) {
        fprintf(stderr, "usage: %s wait|kernel|managed OPERATION, or %s list\n", argv[0], argv[0]);
        return 2;
    }
    begin(argv[1]);
    if (operations[chosen].before)
        CHECK(operations[chosen].before());
    CHECK(cuEventCreate(&old, 2));
    CHECK(cuEventRecord(old, runs));
    CHECK(cuCtxSynchronize());
    stand_still();
    int result, later;
    double took = timed(operations[chosen].operation, &result);
    double asked = timed(ask_event, &later);
    double then = timed(launch_first, &later);
    int64_t written = now_ns();
    *host_word = GO;
    int after = cuCtxSynchronize();
    printf("%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%d\n", operations[chosen].name, result, took, asked, then,
           (double)(now_ns() - written) / 1e6, after ? after : later);
    fflush(stdout);
    _exit(0);
}
