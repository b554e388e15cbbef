/* Descriptors and attributes that name memory: textures, surfaces, tensor maps, windows of caches, queries, mappings. */
#include <stdio.h>
#include <string.h>

#include "attack.h"
#include "cuda_constants.h"

static void linear_textures(void)
{
    struct texture how = {.flags = 1};
    struct resource foreign = {.type = 2}, long_one = {.type = 2};
    handle made = 0;
    foreign.of.linear.address = fact("device");
    foreign.of.linear.format = long_one.of.linear.format = 3;
    foreign.of.linear.channels = long_one.of.linear.channels = 1;
    foreign.of.linear.bytes = 4096;
    long_one.of.linear.address = own_memory();
    long_one.of.linear.bytes = OWN_BYTES + 4096;
    ANSWER(cuTexObjectCreate(&made, &foreign, &how, NULL));
    ANSWER(cuTexObjectCreate(&made, &long_one, &how, NULL));
    long_one.of.linear.bytes = (size_t)1 << 63;
    ANSWER(cuTexObjectCreate(&made, &long_one, &how, NULL));
}

static void pitched_textures(void)
{
    struct texture how = {.flags = 1};
    struct resource plane = {.type = 3};
    CUdeviceptr own = own_memory();
    handle made = 0;
    plane.of.plane.format = 3;
    plane.of.plane.channels = 1;
    plane.of.plane.width = 64;
    plane.of.plane.height = 4;
    plane.of.plane.pitch = 256;
    plane.of.plane.address = fact("device");
    ANSWER(cuTexObjectCreate(&made, &plane, &how, NULL));
    plane.of.plane.address = own;
    plane.of.plane.pitch = (fact("device") - own) & ~(size_t)511;
    ANSWER(cuTexObjectCreate(&made, &plane, &how, NULL));
    plane.of.plane.pitch = (size_t)1 << 62;
    plane.of.plane.height = 5;
    ANSWER(cuTexObjectCreate(&made, &plane, &how, NULL));
    plane.of.plane.pitch = 256;
    plane.of.plane.height = (size_t)1 << 56;
    ANSWER(cuTexObjectCreate(&made, &plane, &how, NULL));
}

static void surfaces(void)
{
    struct resource resource = {.type = 0, .of.array = fact("array_handle")};
    handle made = 0;
    ANSWER(cuSurfObjectCreate(&made, &resource));
    resource.type = 1;
    ANSWER(cuSurfObjectCreate(&made, &resource));
    resource.type = 2;
    resource.of.linear.address = fact("device");
    ANSWER(cuSurfObjectCreate(&made, &resource));
}

static CUresult encode(CUdeviceptr address, uint64_t width, uint64_t height, uint64_t stride)
{
    static uint64_t map[16] __attribute__((aligned(64)));
    uint64_t sizes[2] = {width, height}, strides[1] = {stride};
    unsigned box[2] = {16, 4}, steps[2] = {1, 1};
    return cuTensorMapEncodeTiled(map, 2, 2, address, sizes, strides, box, steps, 0, 0, 0, 0);
}

static void tensor_maps(void)
{
    CUdeviceptr victim = fact("device") & ~(CUdeviceptr)15, own = own_memory();
    static uint64_t map[16] __attribute__((aligned(64)));
    ANSWER(encode(victim, 64, 16, 256));
    ANSWER(encode(own, 64, 1 << 20, 256));
    ANSWER(encode(own, 64, 2, (uint64_t)1 << 39));
    ANSWER(encode(own, (uint64_t)1 << 31, 1 << 10, (uint64_t)1 << 39));
    ANSWER(cuTensorMapReplaceAddress(map, victim));
}

static void cache_windows(void)
{
    CUdeviceptr victim = fact("device");
    handle stream = 0;
    uint64_t window[8] = {victim, 1 << 16, 0x3f800000, 0};
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ANSWER(cuStreamSetAttribute(stream, 1, window));
    window[0] = own_memory();
    window[1] = (uint64_t)1 << 40;
    ANSWER(cuStreamSetAttribute(stream, 1, window));
}

/* Shared memory of a kernel that knows of no clusters is fenced for blocks that are in none. */
static void cluster_attributes(void)
{
    static const char code[] = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry alone() { .reg .b32 %r1;\n"
                               ".shared .align 4 .b8 s[64]; mov.u32 %r1, 1; st.shared.u32 [s], %r1; ret; }\n";
    static const int ids[] = {4 /* cluster dimension */, 11 /* preferred cluster dimension */};
    handle module = 0, function = 0;
    struct launch_attribute attribute = {.value = {2 | 1ull << 32, 1}};
    struct launch launch = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .attributes = &attribute, .count = 1};
    NEED(cuModuleLoadData(&module, code));
    NEED(cuModuleGetFunction(&function, module, "alone"));
    for (int i = 0; i < 2; i++) {
        attribute.id = ids[i];
        CUresult result = cuLaunchKernelEx(&launch, function, NULL, NULL);
        CUresult end = cuCtxSynchronize();
        answer(result ? result : end, i ? "a preferred cluster" : "a cluster");
    }
}

static void launch_attributes(void)
{
    static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    handle module = 0, function = 0;
    struct launch_attribute attribute = {.id = 1, .value = {fact("device"), 1 << 16, 0x3f800000, 0}};
    struct launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .attributes = &attribute, .count = 1};
    NEED(cuModuleLoadData(&module, code));
    NEED(cuModuleGetFunction(&function, module, "nothing"));
    CUresult result = cuLaunchKernelEx(&launch, function, NULL, NULL);
    CUresult end = cuCtxSynchronize();
    answer(result ? result : end, "a window of the victim's memory");
    attribute.id = 12; /* an event of the victim */
    attribute.value[0] = fact("event") | 0xffff;
    result = cuLaunchKernelEx(&launch, function, NULL, NULL);
    end = cuCtxSynchronize();
    answer(result ? result : end, "an event of nobody");
    cluster_attributes();
}

/* A query of another tenant's address must not reveal more than a query of an unused address. */
static void queries(void)
{
    CUdeviceptr victim = fact("device"), base = 0;
    uint64_t value = 0;
    size_t size = 0;
    handle kept = 0;
    struct location place = {1, 0};
    unsigned char exported[64];
    ANSWER(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_CONTEXT, victim));
    ANSWER(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, victim));
    ANSWER(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_BUFFER_ID, victim));
    ANSWER(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, victim));
    ANSWER(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_RANGE_SIZE, victim));
    ANSWER(cuMemGetAddressRange(&base, &size, victim));
    ANSWER(cuMemGetAccess(&value, &place, victim));
    ANSWER(cuMemRetainAllocationHandle(&kept, victim));
    ANSWER(cuMemRangeGetAttribute(&value, 8, 1, victim, 4096));
    ANSWER(cuMemAdvise(victim, 4096, 1, 0));
    ANSWER(cuMemPrefetchAsync(victim, 4096, 0, 0));
    ANSWER(cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, victim));
    ANSWER(cuIpcGetMemHandle(exported, victim));
}

static void mappings(void)
{
    CUdeviceptr victim = fact("device") & ~(((CUdeviceptr)2 << 20) - 1), got = 0;
    size_t size = (size_t)2 << 20;
    struct allocation_properties properties = {.type = 1, .location = {1, 0}};
    struct access access = {{1, 0}, 3};
    handle physical = 0;
    CUresult reserved = cuMemAddressReserve(&got, size, 0, victim, 0);
    answer(reserved == 0 && got == victim ? 0 : 1, "reserving the victim's addresses");
    NEED(cuMemCreate(&physical, size, &properties, 0));
    ANSWER(cuMemMap(victim, size, 0, physical, 0));
    ANSWER(cuMemUnmap(victim, size));
    ANSWER(cuMemSetAccess(victim, size, &access, 1));
    ANSWER(cuMemAddressFree(victim, size));
    ANSWER(cuMemUnmap(0, (size_t)1 << 47));
    if (reserved == 0) {
        ANSWER(cuMemMap(got, size * 1024, 0, physical, 0));
        ANSWER(cuMemUnmap(got, (size_t)0 - got));
    }
}

static void function_bounds(void)
{
    static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    handle module = 0, function = 0;
    NEED(cuModuleLoadData(&module, code));
    NEED(cuModuleGetFunction(&function, module, "nothing"));
    ANSWER(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30));
    ANSWER(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1));
    ANSWER(cuLaunchKernel(function, 1, 1, 1, 4096, 1, 1, 0, 0, NULL, NULL));
    ANSWER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 1 << 30, 0, NULL, NULL));
    ANSWER(cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, 0, NULL, NULL));
}

static const char FETCH[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry fetch(.param .u64 out, .param .u64 texture)\n{\n"
    ".reg .b64 %d<3>; .reg .b32 %r<5>; .reg .f32 %f1;\nld.param.u64 %d1, [out]; ld.param.u64 %d2, [texture];\n"
    /* By a number: by an index the hardware fetches from memory without a shape only, and nothing from an array. */
    "mov.f32 %f1, 0f40600000;\n"
    "tex.1d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d2, {%f1}];\nst.global.u32 [%d1], %r1;\nret;\n}\n";

static unsigned fetched(handle function, CUdeviceptr own, handle texture)
{
    unsigned value = 0;
    void *parameters[] = {&own, &texture};
    NEED(cuMemsetD32(own, 0, 1));
    NEED(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters, NULL));
    /* A fence may end the kernel, and the program with it. */
    return cuCtxSynchronize() == 0 && cuMemcpyDtoH(&value, own, sizeof value) == 0 ? value : 0;
}

/* An array's memory is the next one's, for any client that asks for it. */
static void textures_outlive(void)
{
    enum { WIDTH = 64, MARK = 0x51525354 };
    handle array = 0, texture = 0, module = 0, function = 0;
    unsigned values[WIDTH];
    CUdeviceptr own = own_memory();
    struct resource resource = {.type = 0};
    struct texture how = {.flags = 1};
    for (int i = 0; i < WIDTH; i++)
        values[i] = MARK;
    NEED(cuModuleLoadData(&module, FETCH));
    NEED(cuModuleGetFunction(&function, module, "fetch"));
    NEED(cuArrayCreate(&array, &(struct array_shape){WIDTH, 0, 3, 1}));
    NEED(cuMemcpyHtoD(own, values, sizeof values));
    NEED(cuMemcpyDtoA(array, 0, own, sizeof values));
    resource.of.array = array;
    NEED(cuTexObjectCreate(&texture, &resource, &how, NULL));
    NEED(fetched(function, own, texture) == MARK ? 0 : 999);
    NEED(cuArrayDestroy(array));
    ANSWER(fetched(function, own, texture) == MARK ? 0 : 1);
    cuTexObjectDestroy(texture);
}

static const struct attack attacks[] = {
    {"textures_outlive", REFUSED, "reads through a texture of an array that it has destroyed", textures_outlive},
    {"linear_textures", REFUSED, "textures over the victim's memory and past the end of its own", linear_textures},
    {"pitched_textures", REFUSED, "textures that reach the victim by pitch and height", pitched_textures},
    {"surfaces", REFUSED, "surfaces of the victim's array, and of what no surface can be of", surfaces},
    {"tensor_maps", REFUSED, "tensor maps over the victim's memory and past the end of its own", tensor_maps},
    {"cache_windows", REFUSED, "cache policies of streams for the victim's memory", cache_windows},
    {"launch_attributes", REFUSED, "launches with the victim's memory and events in their attributes, and in clusters",
     launch_attributes},
    {"queries", REFUSED, "asks what the victim's addresses are", queries},
    {"mappings", REFUSED, "maps, unmaps and reserves the victim's addresses", mappings},
    {"function_bounds", REFUSED, "asks for more than a kernel can have", function_bounds},
};
ATTACKS(attacks)
