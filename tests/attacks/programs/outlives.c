/*
 * Uses what is gone: graphs, references and contexts keep names of modules, arrays and pinned memory that the program has
 * ended, and their memory then belongs to another client. Here the next owner is the attacker itself, with another
 * mark.
 */
#include <stdio.h>
#include <string.h>

#include "attack.h"

enum { WIDTH = 1024, BYTES = WIDTH * 4, ENDED = 0x51515151, NEXT = 0x62626262, AFTER = 16 };

static handle context, graph, executable, node, array;
static CUdeviceptr own;

static void begin(void)
{
    own = own_memory();
    NEED(cuDevicePrimaryCtxRetain(&context, 0));
    NEED(cuGraphCreate(&graph, 0));
}

static handle array_of(unsigned mark)
{
    handle made = 0;
    NEED(cuArrayCreate(&made, &(struct array_shape){WIDTH, 0, 3, 1}));
    NEED(cuMemsetD32(own + BYTES, mark, WIDTH));
    NEED(cuMemcpyDtoA(made, 0, own + BYTES, BYTES));
    NEED(cuCtxSynchronize());
    return made;
}

static void others_arrays(void)
{
    for (int i = 0; i < AFTER; i++)
        array_of(NEXT);
}

/* Whether there is any of the next owner's in the attacker's memory, once its work is done. */
static CUresult saw_none(void)
{
    unsigned values[WIDTH];
    if (cuCtxSynchronize() != 0 || cuMemcpyDtoH(values, own, sizeof values) != 0)
        return 1;
    for (int i = 0; i < WIDTH; i++)
        if (values[i] == NEXT)
            return 0;
    return 1;
}

static struct copy_3d copy_of_array(handle from)
{
    return (struct copy_3d){.source_type = 3,
                            .source_array = from,
                            .target_type = 2,
                            .target_device = own,
                            .width = BYTES,
                            .height = 1,
                            .depth = 1};
}

static void array_in_graph(void)
{
    begin();
    array = array_of(ENDED);
    struct copy_3d copy = copy_of_array(array);
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    NEED(cuGraphInstantiate(&executable, graph, 0));
    NEED(cuArrayDestroy(array));
    others_arrays();
    cuGraphLaunch(executable, 0);
    ANSWER(saw_none());
}

static void array_in_late_graph(void)
{
    handle copied = 0;
    begin();
    array = array_of(ENDED);
    struct copy_3d copy = copy_of_array(array);
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    NEED(cuArrayDestroy(array));
    others_arrays();
    if (cuGraphClone(&copied, graph) == 0 && cuGraphInstantiate(&executable, copied, 0) == 0)
        cuGraphLaunch(executable, 0);
    ANSWER(saw_none());
}

static void array_from_node(void)
{
    struct copy_3d told;
    begin();
    array = array_of(ENDED);
    struct copy_3d copy = copy_of_array(array);
    memset(&told, 0, sizeof told);
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    NEED(cuArrayDestroy(array));
    NEED(cuGraphMemcpyNodeGetParams(node, &told));
    NEED(cuGraphDestroy(graph));
    others_arrays();
    ANSWER(told.source_array ? cuMemcpy3D(&(struct copy_3d){.source_type = 3,
                                                            .source_array = told.source_array,
                                                            .target_type = 2,
                                                            .target_device = own,
                                                            .width = BYTES,
                                                            .height = 1,
                                                            .depth = 1})
                             : 1);
    ANSWER(saw_none());
}

static void pinned_in_graph(void)
{
    void *pinned = NULL;
    begin();
    NEED(cuMemHostAlloc(&pinned, OWN_BYTES, 0));
    memset(pinned, 0x51, OWN_BYTES);
    struct copy_3d from = {.source_type = 1,
                           .source_host = pinned,
                           .target_type = 2,
                           .target_device = own,
                           .width = OWN_BYTES,
                           .height = 1,
                           .depth = 1};
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &from, context));
    NEED(cuGraphInstantiate(&executable, graph, 0));
    NEED(cuGraphLaunch(executable, 0));
    NEED(cuCtxSynchronize());
    NEED(cuMemFreeHost(pinned));
    for (int i = 0; i < AFTER && cuGraphLaunch(executable, 0) == 0 && cuCtxSynchronize() == 0; i++)
        ;
}

static const char WRITER[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.const .align 8 .u64 c[16] = {1};\n"
    ".visible .entry write(.param .u64 out)\n{\n.reg .b64 %d<4>;\nld.param.u64 %d1, [out];\nld.const.u64 %d2, [c];\n"
    "st.global.u64 [%d1], %d2;\nret;\n}\n";

/* Modules whose constants lie where those of an ended one were, and say what lets a fence through. */
static void others_constants(void)
{
    static char text[65536];
    for (int i = 0; i < AFTER; i++) {
        int length = snprintf(text, sizeof text, ".version 8.0\n.target sm_80\n.address_size 64\n");
        for (int k = 0; k < 100; k++) {
            length += snprintf(text + length, sizeof text - (size_t)length, ".const .align 8 .u64 c%d[32] = {0", k);
            for (int n = 1; n < 32; n++)
                length += snprintf(text + length, sizeof text - (size_t)length, ", 0xffffffff");
            length += snprintf(text + length, sizeof text - (size_t)length, "};\n");
        }
        snprintf(text + length, sizeof text - (size_t)length, ".visible .entry e()\n{\nret;\n}\n");
        handle module = 0;
        NEED(cuModuleLoadData(&module, text));
    }
}

static void kernel_in_graph(void)
{
    handle module = 0, function = 0;
    uint64_t value = 0;
    begin();
    void *parameters[] = {&own};
    NEED(cuModuleLoadData(&module, WRITER));
    NEED(cuModuleGetFunction(&function, module, "write"));
    struct kernel_node kernel = {.function = function, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters};
    NEED(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    NEED(cuGraphInstantiate(&executable, graph, 0));
    NEED(cuModuleUnload(module));
    others_constants();
    cuGraphLaunch(executable, 0);
    ANSWER(cuCtxSynchronize() != 0 || (cuMemcpyDtoH(&value, own, sizeof value) == 0 && value == 1));
}

static void constant_in_graph(void)
{
    handle module = 0;
    CUdeviceptr constant = 0;
    size_t bytes = 0;
    uint64_t values[16] = {0};
    begin();
    NEED(cuModuleLoadData(&module, WRITER));
    NEED(cuModuleGetGlobal(&constant, &bytes, module, "c"));
    struct copy_3d copy = {.source_type = 2,
                           .source_device = constant,
                           .target_type = 2,
                           .target_device = own,
                           .width = sizeof values,
                           .height = 1,
                           .depth = 1};
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    NEED(cuGraphInstantiate(&executable, graph, 0));
    NEED(cuModuleUnload(module));
    others_constants();
    cuGraphLaunch(executable, 0);
    ANSWER(cuCtxSynchronize() != 0 || (cuMemcpyDtoH(values, own, sizeof values) == 0 && values[1] == 0));
}

static void module_of_library(void)
{
    handle library = 0, module = 0;
    begin();
    NEED(cuLibraryLoadData(&library, WRITER, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetModule(&module, library));
    ANSWER(cuModuleUnload(module));
}

static const char REFERENCE[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .texref t;\n"
    ".visible .entry fetch(.param .u64 out)\n{\n.reg .b64 %d<4>; .reg .b32 %r<8>; .reg .f32 %f1;\nld.param.u64 %d1, [out];\n"
    "mov.u32 %r5, %tid.x; cvt.rn.f32.u32 %f1, %r5;\ntex.1d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [t, {%f1}];\n"
    "mul.wide.u32 %d2, %r5, 4; add.u64 %d1, %d1, %d2;\nst.global.u32 [%d1], %r1;\nret;\n}\n";

static void array_of_reference(void)
{
    handle module = 0, function = 0, reference = 0, told = 0;
    begin();
    void *parameters[] = {&own};
    NEED(cuModuleLoadData(&module, REFERENCE));
    NEED(cuModuleGetFunction(&function, module, "fetch"));
    NEED(cuModuleGetTexRef(&reference, module, "t"));
    array = array_of(ENDED);
    NEED(cuTexRefSetArray(reference, array, 1));
    NEED(cuTexRefSetFlags(reference, 1));
    NEED(cuArrayDestroy(array));
    others_arrays();
    if (cuTexRefGetArray(&told, reference) == 0 && told)
        ANSWER(cuArrayDestroy(told));
    cuLaunchKernel(function, 1, 1, 1, WIDTH, 1, 1, 0, 0, parameters, NULL);
    ANSWER(saw_none());
}

static const char FETCH[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry fetch(.param .u64 out, .param .u64 texture)\n{\n"
    ".reg .b64 %d<4>; .reg .b32 %r<8>; .reg .f32 %f1;\nld.param.u64 %d1, [out]; ld.param.u64 %d3, [texture];\n"
    "mov.u32 %r5, %tid.x; cvt.rn.f32.u32 %f1, %r5;\ntex.1d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d3, {%f1}];\n"
    "mul.wide.u32 %d2, %r5, 4; add.u64 %d1, %d1, %d2;\nst.global.u32 [%d1], %r1;\nret;\n}\n";

/* An array of another context ends with it; its texture stays. */
static void array_of_context(void)
{
    handle other = 0, module = 0, function = 0, texture = 0;
    struct resource resource = {.type = 0};
    struct texture how = {.flags = 1};
    begin();
    NEED(cuModuleLoadData(&module, FETCH));
    NEED(cuModuleGetFunction(&function, module, "fetch"));
    NEED(cuCtxCreate(&other, 0, 0));
    array = array_of(ENDED);
    NEED(cuCtxSetCurrent(context));
    resource.of.array = array;
    NEED(cuTexObjectCreate(&texture, &resource, &how, NULL));
    NEED(cuCtxDestroy(other));
    NEED(cuCtxSetCurrent(context));
    others_arrays();
    void *parameters[] = {&own, &texture};
    cuLaunchKernel(function, 1, 1, 1, WIDTH, 1, 1, 0, 0, parameters, NULL);
    ANSWER(saw_none());
}

static const struct attack attacks[] = {
    {"array_in_graph", REFUSED, "copies from an array in a graph after its end", array_in_graph},
    {"array_in_late_graph", REFUSED, "makes a graph executable whose array has ended", array_in_late_graph},
    {"array_from_node", REFUSED, "asks a node for an array that has ended, and copies from that", array_from_node},
    {"pinned_in_graph", HARMLESS, "copies from freed pinned memory in a graph", pinned_in_graph},
    {"kernel_in_graph", REFUSED, "launches a graph with a kernel of an unloaded module", kernel_in_graph},
    {"constant_in_graph", REFUSED, "copies a constant of an unloaded module in a graph", constant_in_graph},
    {"module_of_library", REFUSED, "unloads the module of a library", module_of_library},
    {"array_of_reference", REFUSED, "reads through a texture reference to an array that has ended", array_of_reference},
    {"array_of_context", REFUSED, "reads through a texture of an array that ended with its context", array_of_context},
};
ATTACKS(attacks)
