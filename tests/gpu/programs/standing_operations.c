/* The operations while a stream of the context stands still, one function each. */
#include "standing.h"

/* Two kernels; the second is asked for late. */
#define KERNEL(name)                                                                                                   \
    ".visible .entry " name "(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<2>;\n"                                    \
    "ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1; ret; }\n"
const char *const two_kernels = ".version 7.0\n.target sm_70\n.address_size 64\n" KERNEL("first") KERNEL("second");

static const char *const deep =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry deep(.param .u64 p) { .local .align 8 .b8 far[8192]; .reg .b64 %d<6>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; and.b32 %r1, %r1, 8188; cvt.u64.u32 %d2, %r1; mov.u64 %d3, far;\n"
    "add.u64 %d3, %d3, %d2; st.local.u32 [%d3], %r1; ld.local.u32 %r2, [far+128]; st.global.u32 [%d1], %r2; ret; }\n";

struct world world;

int launch(CUfunction function)
{
    void *parameters[] = {&world.memory};
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, world.runs, parameters, NULL);
}

static int load(void)
{
    return cuModuleLoadData(&world.module, two_kernels);
}

static int load_get(void)
{
    int result = load();
    return result ? result : cuModuleGetFunction(&world.other, world.module, "second");
}

static int load_attribute(void)
{
    int value, result = load_get();
    return result ? result : cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, world.other);
}

static int load_func_load(void)
{
    int result = load_get();
    return result ? result : cuFuncLoad(world.other);
}

static int load_launch(void)
{
    int result = load_get();
    return result ? result : launch(world.other);
}

static int get_launch(void)
{
    int result = cuModuleGetFunction(&world.second, world.loaded, "second");
    return result ? result : launch(world.second);
}

static int get_only(void)
{
    return cuModuleGetFunction(&world.second, world.loaded, "second");
}

static int get_attribute(void)
{
    int value, result = get_only();
    return result ? result : cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, world.second);
}

static int before_load(void)
{
    int result = get_only();
    return result ? result : cuFuncLoad(world.second);
}

static int launch_second(void)
{
    return launch(world.second);
}

static int before_library(void)
{
    return cuLibraryLoadData(&world.library, two_kernels, NULL, NULL, 0, NULL, NULL, 0);
}

static int library_get(void)
{
    CUkernel kernel;
    int result = cuLibraryGetKernel(&kernel, world.library, "second");
    return result ? result : cuKernelGetFunction(&world.other, kernel);
}

static int library_launch(void)
{
    int result = library_get();
    return result ? result : launch(world.other);
}

static int before_library_get(void)
{
    int result = before_library();
    return result ? result : library_get();
}

static int before_library_load(void)
{
    int result = before_library_get();
    return result ? result : cuFuncLoad(world.other);
}

static int launch_other(void)
{
    return launch(world.other);
}

static int nothing(void)
{
    return 0;
}

static int make_stream(void)
{
    return cuStreamCreate(&world.idle, CU_STREAM_NON_BLOCKING);
}

static int make_high_stream(void)
{
    int result = cuStreamCreateWithPriority(&world.idle, CU_STREAM_NON_BLOCKING, -100);
    return result ? result : cuStreamWriteValue32_v2(world.idle, world.memory, 1, 0);
}

static int end_stream(void)
{
    return cuStreamDestroy_v2(world.idle);
}

static int allocate(void)
{
    return cuMemAlloc_v2(&world.spare_memory, 64 << 20);
}

static int free_memory(void)
{
    return cuMemFree_v2(world.spare_memory);
}

static int allocate_async(void)
{
    int result = cuMemAllocAsync(&world.spare_memory, 64 << 20, world.runs);
    return result ? result : cuMemFreeAsync(world.spare_memory, world.runs);
}

static int pin(void)
{
    return cuMemHostAlloc(&world.pinned, BYTES, 0);
}

static int unpin(void)
{
    return cuMemFreeHost(world.pinned);
}

static int unload(void)
{
    return cuModuleUnload(world.spare);
}

static int load_spare(void)
{
    return cuModuleLoadData(&world.spare, two_kernels);
}

static int set_memory(void)
{
    return cuMemsetD8Async(world.memory, 1, 16, world.runs);
}

static int copy_in(void)
{
    static char bytes[BYTES];
    return cuMemcpyHtoD_v2(world.memory, bytes, BYTES);
}

static int copy_async(void)
{
    return cuMemcpyHtoDAsync_v2(world.memory, world.pinned, BYTES, world.runs);
}

static int make_event(void)
{
    int result = cuEventCreate(&world.event, 0);
    return result ? result : cuEventRecord(world.event, world.runs);
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
    return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096);
}

/* The kernel of the spare module takes more local memory than any before. */
static int before_deep(void)
{
    int result = cuModuleLoadData(&world.spare, deep);
    result = result ? result : cuModuleGetFunction(&world.other, world.spare, "deep");
    return result ? result : cuFuncLoad(world.other);
}

static int make_graph(void)
{
    static void *parameters[1];
    void *node;
    parameters[0] = &world.memory;
    struct kernel_node one = {world.first, {1, 1, 1}, {1, 1, 1}, 0, parameters, NULL, NULL, NULL};
    int result = cuGraphCreate(&graph, 0);
    result = result ? result : cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &one);
    return result ? result : cuGraphInstantiateWithFlags(&executable, graph, 0);
}

static int launch_graph(void)
{
    return cuGraphLaunch(executable, world.runs);
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
    return cuLaunchHostFunc(world.runs, hear, NULL);
}

static int before_trim(void)
{
    int result = cuMemAllocAsync(&world.spare_memory, 64 << 20, world.runs);
    return result ? result : cuMemFreeAsync(world.spare_memory, world.runs);
}

static int trim(void)
{
    void *pool;
    int result = cuDeviceGetDefaultMemPool(&pool, 0);
    return result ? result : cuMemPoolTrimTo(pool, 0);
}

static int end_event(void)
{
    return cuEventDestroy_v2(world.event);
}

static int ask_memory(void)
{
    size_t available, all;
    return cuMemGetInfo_v2(&available, &all);
}

static int set_and_wait(void)
{
    return cuMemsetD8_v2(world.memory, 1, BYTES);
}

static int copy_out(void)
{
    static char bytes[BYTES];
    return cuMemcpyDtoH_v2(bytes, world.memory, BYTES);
}

static int end_busy_stream(void)
{
    return cuStreamDestroy_v2(world.stands);
}

static int unload_library(void)
{
    return cuLibraryUnload(world.library);
}

static int more_shared(void)
{
    return cuFuncSetAttribute(world.first, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10);
}

static int allocate_managed(void)
{
    return cuMemAllocManaged(&world.spare_memory, BYTES, 1);
}

const struct operation operations[] = {
    {"nothing", NULL, nothing},
    {"load a module", NULL, load},
    {"load a module, get a function", NULL, load_get},
    {"load a module, ask for an attribute", NULL, load_attribute},
    {"load a module, cuFuncLoad", NULL, load_func_load},
    {"load a module, launch", NULL, load_launch},
    {"get a function", NULL, get_only},
    {"get a function, ask for an attribute", NULL, get_attribute},
    {"get a function, launch", NULL, get_launch},
    {"launch, got before", get_only, launch_second},
    {"launch, asked for an attribute before", get_attribute, launch_second},
    {"launch, cuFuncLoad before", before_load, launch_second},
    {"load a library", NULL, before_library},
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
    {"unload an unused library", before_library, unload_library},
    {"unload a library", before_library_load, unload_library},
    {"allow more shared memory", NULL, more_shared},
    {"allocate managed memory", NULL, allocate_managed},
    {"free managed memory", allocate_managed, free_memory},
};
const int operation_count = sizeof operations / sizeof operations[0];
