/*
 * Handles of the victim, and handles of things that are gone. A handle is a number, and the victim's may be the number
 * of something that the attacker has too: that it then works on its own is right. So each attacker keeps nothing of the
 * kind that it attacks.
 */
#include <stdio.h>
#include <string.h>

#include "attack.h"
#include "cuda_constants.h"

static unsigned char bytes[4096];

static void streams(void)
{
    handle stream = fact("stream"), event = 0;
    NEED(cuEventCreate(&event, 0));
    ANSWER(cuStreamSynchronize(stream));
    ANSWER(cuStreamQuery(stream));
    LATER(cuEventRecord(event, stream));
    ANSWER(cuStreamWaitEvent(stream, event, 0));
    LATER(cuMemsetD8Async(own_memory(), 1, 16, stream));
    ANSWER(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ANSWER(cuStreamCopyAttributes(stream, stream));
    ANSWER(cuStreamDestroy(stream));
}

static void events(void)
{
    handle event = fact("event");
    ANSWER(cuEventQuery(event));
    ANSWER(cuEventSynchronize(event));
    ANSWER(cuStreamWaitEvent(0, event, 0));
    LATER(cuEventRecord(event, 0));
    ANSWER(cuEventDestroy(event));
}

static void modules(void)
{
    handle module = fact("module"), function = 0;
    CUdeviceptr address = 0;
    size_t size = 0;
    ANSWER(cuModuleGetFunction(&function, module, "work"));
    ANSWER(cuModuleGetGlobal(&address, &size, module, "table"));
    ANSWER(cuModuleUnload(module));
    if (address)
        loot_device(address, LOOT_BYTES);
}

static void functions(void)
{
    handle function = fact("function"), module = 0;
    CUdeviceptr from = fact("device"), to = own_memory();
    uint64_t round = 0;
    void *parameters[] = {&from, &to, &round};
    ANSWER(cuLaunchKernel(function, 64, 1, 1, 128, 1, 1, 0, 0, parameters, NULL));
    ANSWER(cuFuncGetModule(&module, function));
    ANSWER(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 16));
    cuCtxSynchronize();
    loot_device(to, LOOT_BYTES);
}

static struct exported foreign(const char *what)
{
    struct exported said;
    char name[32];
    for (int i = 0; i < EXPORTED_WORDS; i++) {
        snprintf(name, sizeof name, "exported_%s%d", what, i);
        said.word[i] = fact(name);
    }
    return said;
}

/* What the victim hands to its own processes, whole and with other secrets; and handles of its own that say more. */
static void exported(void)
{
    struct exported memory = foreign("memory"), event = foreign("event"), own, spoilt;
    CUdeviceptr opened = 0;
    handle made = 0;
    CUresult result = cuIpcOpenMemHandle(&opened, memory, 1);
    answer(result, "cuIpcOpenMemHandle");
    if (result == 0)
        loot_device(opened, LOOT_BYTES);
    ANSWER(cuIpcOpenEventHandle(&made, event));
    ANSWER(cuIpcOpenEventHandle(&made, memory));
    ANSWER(cuIpcOpenMemHandle(&opened, event, 1));
    NEED(cuIpcGetMemHandle(&own, own_memory()));
    for (int i = 0; i < EXPORTED_WORDS; i++) {
        spoilt = own;
        spoilt.word[i] = memory.word[i] ^ 1;
        ANSWER(cuIpcOpenMemHandle(&opened, spoilt, 1));
    }
    ANSWER(cuIpcOpenMemHandle(&opened, own, 1));
    ANSWER(cuIpcCloseMemHandle(own_memory()));
    ANSWER(cuIpcCloseMemHandle(fact("device")));
}

static void graphs(void)
{
    handle graph = fact("graph"), made = 0, nodes[4];
    size_t count = 4;
    ANSWER(cuGraphGetNodes(graph, nodes, &count));
    ANSWER(cuGraphInstantiate(&made, graph, 0));
    ANSWER(cuGraphClone(&made, graph));
    ANSWER(cuGraphAddEmptyNode(&made, graph, NULL, 0));
    LATER(cuGraphLaunch(fact("executable"), 0));
    ANSWER(cuGraphExecDestroy(fact("executable")));
    ANSWER(cuGraphDestroy(graph));
}

static void memory(void)
{
    CUdeviceptr victim = fact("device");
    ANSWER(cuMemFree(victim));
    LATER(cuMemFreeAsync(fact("pool"), 0));
    ANSWER(cuMemFree(fact("pool")));
    ANSWER(cuMemFree(fact("global")));
    ANSWER(cuMemFree(victim + 256));
    ANSWER(cuMemFreeHost((void *)(uintptr_t)fact("pinned")));
    ANSWER(cuMemUnmap(fact("mapped"), (size_t)2 << 20));
    ANSWER(cuMemAddressFree(fact("mapped"), (size_t)2 << 20));
}

static void allocations(void)
{
    handle allocation = fact("allocation"), kept = 0;
    CUdeviceptr place = 0;
    struct access access = {{1, 0}, 3};
    size_t size = (size_t)2 << 20;
    NEED(cuMemAddressReserve(&place, size, 0, 0, 0));
    CUresult result = cuMemMap(place, size, 0, allocation, 0);
    answer(result, "cuMemMap");
    if (result == 0 && cuMemSetAccess(place, size, &access, 1) == 0)
        loot_device(place, LOOT_BYTES);
    ANSWER(cuMemMap(fact("mapped"), size, 0, allocation, 0));
    ANSWER(cuMemRetainAllocationHandle(&kept, fact("mapped")));
    ANSWER(cuMemSetAccess(fact("mapped"), size, &access, 1));
    ANSWER(cuMemExportToShareableHandle(bytes, allocation, 1, 0));
    ANSWER(cuMemRelease(allocation));
}

static void pools(void)
{
    handle pool = fact("pool_handle");
    CUdeviceptr got = 0;
    uint64_t value = 0;
    struct access access = {{1, 0}, 3};
    ANSWER(cuMemAllocFromPoolAsync(&got, 4096, pool, 0));
    ANSWER(cuMemPoolTrimTo(pool, 0));
    ANSWER(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    ANSWER(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
    ANSWER(cuMemPoolSetAccess(pool, &access, 1));
    ANSWER(cuMemPoolExportPointer(bytes, fact("pool")));
    ANSWER(cuMemPoolDestroy(pool));
}

static void arrays(void)
{
    handle array = fact("array_handle");
    struct array_shape shape;
    struct resource resource = {.type = 0, .of.array = array};
    handle surface = 0;
    ANSWER(cuArrayGetDescriptor(&shape, array));
    CUresult result = cuMemcpyAtoH(bytes, array, 0, LOOT_BYTES);
    answer(result, "cuMemcpyAtoH");
    if (result == 0)
        loot(bytes, LOOT_BYTES);
    LATER(cuMemcpyDtoA(array, 0, own_memory(), LOOT_BYTES));
    ANSWER(cuSurfObjectCreate(&surface, &resource));
    ANSWER(cuArrayDestroy(array));
}

static void textures(void)
{
    handle texture = fact("texture");
    struct resource resource = {0};
    ANSWER(cuTexObjectGetResourceDesc(&resource, texture));
    ANSWER(cuTexObjectDestroy(texture));
    ANSWER(cuSurfObjectDestroy(fact("surface")));
}

/* Everything that can be ended, ended twice, and used after its end. */
static void freed(void)
{
    handle stream = 0, event = 0, graph = 0, made = 0, pool = 0, allocation = 0;
    CUdeviceptr address = 0;
    struct pool_properties properties = {.allocation_type = 1, .location = {1, 0}};
    struct allocation_properties physical = {.type = 1, .location = {1, 0}};
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuEventCreate(&event, 0));
    NEED(cuMemAlloc(&address, 4096));
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphInstantiate(&made, graph, 0));
    NEED(cuStreamDestroy(stream));
    NEED(cuEventDestroy(event));
    NEED(cuMemFree(address));
    NEED(cuGraphExecDestroy(made));
    NEED(cuGraphDestroy(graph));
    ANSWER(cuStreamDestroy(stream));
    ANSWER(cuStreamSynchronize(stream));
    ANSWER(cuEventDestroy(event));
    LATER(cuEventRecord(event, 0));
    ANSWER(cuMemFree(address));
    ANSWER(cuGraphDestroy(graph));
    LATER(cuGraphLaunch(made, 0));
    ANSWER(cuGraphExecDestroy(made));
    if (cuMemPoolCreate(&pool, &properties) == 0 && cuMemPoolDestroy(pool) == 0)
        ANSWER(cuMemPoolDestroy(pool));
    if (cuMemCreate(&allocation, (size_t)2 << 20, &physical, 0) == 0 && cuMemRelease(allocation) == 0)
        ANSWER(cuMemRelease(allocation));
}

/* Each handle in the place of every other kind, and numbers that are no handle at all. */
static void confused(void)
{
    handle event = 0, module = 0;
    CUdeviceptr address = own_memory();
    NEED(cuEventCreate(&event, 0));
    const handle wrong[] = {event, address, 0x7fffffffffff, (handle)-1, (handle)1 << 63, 0xdeadbeef};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ANSWER(cuStreamSynchronize(wrong[i]));
        ANSWER(cuModuleGetFunction(&module, wrong[i], "attack"));
        LATER(cuGraphLaunch(wrong[i], 0));
        ANSWER(cuMemPoolDestroy(wrong[i]));
        ANSWER(cuArrayDestroy(wrong[i]));
        ANSWER(cuMemRelease(wrong[i]));
        ANSWER(cuLibraryUnload(wrong[i]));
        ANSWER(cuLinkDestroy(wrong[i]));
        ANSWER(cuTexObjectDestroy(wrong[i]));
    }
}

static const char copying[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry copy(.param .u64 from, .param .u64 to)\n{\n.reg .b64 %d<8>;\n.reg .b32 %r<2>;\n"
    "ld.param.u64 %d1, [from];\nld.param.u64 %d2, [to];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d3, %r1, 8;\n"
    "add.u64 %d4, %d1, %d3;\nadd.u64 %d5, %d2, %d3;\nld.global.u64 %d6, [%d4];\nst.global.u64 [%d5], %d6;\nret;\n}\n";
enum { MOST_LISTED = 16 };

/* Launches all kernels of a list over the victim's memory. */
static void launch_listed(const handle *listed, unsigned count)
{
    CUdeviceptr from = fact("device"), to = own_memory();
    void *parameters[] = {&from, &to};
    for (unsigned i = 0; i < count && i < MOST_LISTED; i++)
        cuLaunchKernel(listed[i], 1, 1, 1, LOOT_BYTES / 8, 1, 1, 0, 0, parameters, NULL);
    if (cuCtxSynchronize() !=
        CUDA_ERROR_ILLEGAL_ADDRESS) /* in the mode that reports them, the kernel's accesses have ended the program */
        loot_device(to, LOOT_BYTES);
}

static void listed_functions(void)
{
    handle module = 0, listed[MOST_LISTED] = {0};
    unsigned count = 0;
    NEED(cuModuleLoadData(&module, copying));
    NEED(cuModuleGetFunctionCount(&count, module));
    NEED(cuModuleEnumerateFunctions(listed, count < MOST_LISTED ? count : MOST_LISTED, module));
    launch_listed(listed, count);
}

static void listed_kernels(void)
{
    handle library = 0, listed[MOST_LISTED] = {0};
    unsigned count = 0;
    NEED(cuLibraryLoadData(&library, copying, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernelCount(&count, library));
    NEED(cuLibraryEnumerateKernels(listed, count < MOST_LISTED ? count : MOST_LISTED, library));
    launch_listed(listed, count);
}

static const struct attack attacks[] = {
    {"streams", REFUSED, "uses and ends the victim's stream", streams},
    {"events", REFUSED, "uses and ends the victim's event", events},
    {"modules", HARMLESS, "asks the victim's module for functions and variables, and unloads it", modules},
    {"functions", HARMLESS, "launches the victim's kernel over the victim's memory", functions},
    {"listed_functions", HARMLESS, "launches what a list of its module's functions has over the victim's memory",
     listed_functions},
    {"listed_kernels", HARMLESS, "the same of a library's kernels", listed_kernels},
    {"exported", REFUSED, "opens what the victim hands to its own tenant, and makes such handles up", exported},
    {"graphs", REFUSED, "launches, changes and ends the victim's graphs", graphs},
    {"memory", REFUSED, "frees and unmaps the victim's memory", memory},
    {"allocations", REFUSED, "maps, keeps, exports and releases the victim's physical memory", allocations},
    {"pools", REFUSED, "takes from, trims, changes and ends the victim's pool", pools},
    {"arrays", REFUSED, "reads, writes and ends the victim's array", arrays},
    {"textures", HARMLESS, "describes and ends the victim's texture and surface", textures},
    {"freed", REFUSED, "uses and ends what it has ended", freed},
    {"confused", REFUSED, "uses handles of other kinds and numbers that are no handle", confused},
};
ATTACKS(attacks)
