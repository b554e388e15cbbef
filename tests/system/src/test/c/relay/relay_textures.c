/*
 * Texture and surface references of a module, levels of a mipmapped array, and boxes by a tensor map, by relay: what kernels
 * read is what was bound.
 */
#include <string.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

static const char CODE[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .texref line;\n.visible .global .surfref plane;\n"
    ".visible .entry read(.param .u64 to) {\n"
    " .reg .b32 %r<8>; .reg .b64 %d<4>;\n"
    " ld.param.u64 %d1, [to]; mov.u32 %r1, %tid.x;\n"
    " tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [line, {%r1}];\n"
    " mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r2; ret;\n}\n"
    ".visible .entry invert() {\n"
    " .reg .b32 %r<4>;\n"
    " mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; suld.b.1d.b32.trap {%r2}, [plane, {%r1}];\n"
    " not.b32 %r2, %r2; sust.b.1d.b32.trap [plane, {%r1}], {%r2}; ret;\n}\n"
    ".visible .entry detail(.param .u64 to, .param .u64 texture) {\n"
    " .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %d<5>;\n"
    " ld.param.u64 %d1, [to]; ld.param.u64 %d4, [texture]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1;\n"
    " mov.f32 %f2, 0f3E000000; tex.level.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d4, {%f2, %f2}], %f1;\n"
    " mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; st.global.f32 [%d3], %f3; ret;\n}\n";

/* Needs barriers in memory, which no fence holds: runs as it is. */
static const char BOX_CODE[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry box(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 x, .param .u32 y) {\n"
    " .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %d<12>;\n"
    " .shared .align 1024 .b8 tile[256];\n .shared .align 8 .b64 bar;\n"
    " mov.b64 %d1, map; cvta.param.u64 %d1, %d1; ld.param.u64 %d2, [out];\n"
    " ld.param.u32 %r1, [x]; ld.param.u32 %r2, [y];\n"
    " mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 %d3, [bar], 256;\n"
    " cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%d1, {%r1, %r2}], [bar];\n"
    "WAIT: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra WAIT;\n"
    " mov.u32 %r4, 0; mov.u64 %d4, tile;\n"
    "NEXT: ld.shared.u32 %r5, [%d4]; st.global.u32 [%d2], %r5; add.u64 %d2, %d2, 4; add.u64 %d4, %d4, 4;\n"
    " add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 64; @%p2 bra NEXT; ret;\n}\n";

struct descriptor {
    size_t width, height, depth;
    uint32_t format, channels, flags;
};

/* CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC */
struct resource {
    uint32_t type, pad;
    void *object;
    uint64_t more[15];
    uint32_t flags, end;
};
struct texture {
    uint32_t modes[3], filter, flags, anisotropy, mipmap_filter;
    float bias, least, most, border[4];
    int reserved[12];
};
_Static_assert(sizeof(struct resource) == 144 && sizeof(struct texture) == 104, "as cuda.h has them");

CUresult cuModuleGetTexRef(void **reference, void *module, const char *name);
CUresult cuModuleGetSurfRef(void **reference, void *module, const char *name);
CUresult cuTexRefSetFlags(void *reference, unsigned flags);
CUresult cuTexRefSetFormat(void *reference, int format, int channels);
CUresult cuTexRefSetArray(void *reference, void *array, unsigned flags);
CUresult cuTexRefSetAddress_v2(size_t *offset, void *reference, CUdeviceptr memory, size_t bytes);
CUresult cuTexRefGetFlags(unsigned *flags, void *reference);
CUresult cuSurfRefSetArray(void *reference, void *array, unsigned flags);
CUresult cuArray3DCreate_v2(void **array, const void *descriptor);
CUresult cuArrayDestroy(void *array);
CUresult cuMemcpyHtoA_v2(void *array, size_t offset, const void *from, size_t bytes);
CUresult cuMemcpyAtoH_v2(void *to, void *array, size_t offset, size_t bytes);
CUresult cuMipmappedArrayCreate(void **mipmap, const void *descriptor, unsigned levels);
CUresult cuMipmappedArrayGetLevel(void **array, void *mipmap, unsigned level);
CUresult cuMipmappedArrayDestroy(void *mipmap);
CUresult cuTexObjectCreate(uint64_t *object, const void *resource, const void *texture, const void *view);
CUresult cuTexObjectDestroy(uint64_t object);
CUresult cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                                const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave,
                                int swizzle, int promotion, int fill);

static void *module;
static CUdeviceptr out;

static void *array_of(uint32_t flags, const int *values, size_t count)
{
    const struct descriptor descriptor = {count, 0, 0, CU_AD_FORMAT_SIGNED_INT32, 1, flags};
    void *array;
    OKAY(cuArray3DCreate_v2(&array, &descriptor));
    OKAY(cuMemcpyHtoA_v2(array, 0, values, count * sizeof *values));
    return array;
}

static void launched(const char *kernel, unsigned threads, void **parameters, void *results)
{
    void *function;
    OKAY(cuModuleGetFunction(&function, module, kernel));
    OKAY(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL));
    OKAY(cuCtxSynchronize());
    if (results)
        OKAY(cuMemcpyDtoH_v2(results, out, threads * 4));
}

static void references(void)
{
    static const int first[] = {10, -20, 30}, second[] = {5, 6, 7}, third[] = {1, -1, 255};
    int got[3];
    void *line, *plane, *parameters[] = {&out}, *array, *surface;
    unsigned flags = 0;
    CUdeviceptr memory;
    OKAY(cuModuleGetTexRef(&line, module, "line"));
    EQUAL(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&plane, module, "plane"));
    OKAY(cuTexRefSetFlags(line, CU_TRSF_READ_AS_INTEGER));
    OKAY(cuTexRefGetFlags(&flags, line));
    EQUAL(CU_TRSF_READ_AS_INTEGER, (int)flags);
    array = array_of(0, first, 3);
    OKAY(cuTexRefSetArray(line, array, CU_TRSA_OVERRIDE_FORMAT));
    launched("read", 3, parameters, got);
    EQUAL(0, memcmp(first, got, sizeof got));
    OKAY(cuMemAlloc_v2(&memory, sizeof second));
    OKAY(cuMemcpyHtoD_v2(memory, second, sizeof second));
    OKAY(cuTexRefSetFormat(line, CU_AD_FORMAT_SIGNED_INT32, 1));
    size_t offset = 1;
    OKAY(cuTexRefSetAddress_v2(&offset, line, memory, sizeof second));
    EQUAL(0, (int)offset);
    launched("read", 3, parameters, got);
    EQUAL(0, memcmp(second, got, sizeof got));
    CHECK(cuTexRefSetAddress_v2(&offset, line, memory + (1ull << 32), sizeof second) != 0); /* nobody's */

    surface = array_of(CUDA_ARRAY3D_SURFACE_LDST, third, 3);
    OKAY(cuModuleGetSurfRef(&plane, module, "plane"));
    OKAY(cuSurfRefSetArray(plane, surface, 0));
    launched("invert", 3, NULL, NULL);
    OKAY(cuMemcpyAtoH_v2(got, surface, 0, sizeof got));
    for (int i = 0; i < 3; i++)
        EQUAL(~third[i], got[i]);
    OKAY(cuArrayDestroy(surface));
    OKAY(cuMemFree_v2(memory));
    OKAY(cuArrayDestroy(array));
}

static void levels(void)
{
    enum { WIDTH = 8, LEVELS = 4 };
    static float values[WIDTH * WIDTH];
    const struct descriptor descriptor = {WIDTH, WIDTH, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    void *mipmap, *level;
    OKAY(cuMipmappedArrayCreate(&mipmap, &descriptor, LEVELS));
    for (unsigned i = 0; i < LEVELS; i++) {
        unsigned width = WIDTH >> i;
        for (unsigned at = 0; at < width * width; at++)
            values[at] = 10.0f * (float)i;
        OKAY(cuMipmappedArrayGetLevel(&level, mipmap, i));
        const struct call_copy_2d copy = {.source_type = 1,
                                          .source_host = values,
                                          .source_pitch = width * 4,
                                          .target_type = 3,
                                          .target_array = level,
                                          .width = width * 4,
                                          .height = width};
        OKAY(cuMemcpy2D_v2(&copy));
    }
    EQUAL(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&level, mipmap, LEVELS));
    const struct resource resource = {.type = 1, .object = mipmap};
    const struct texture texture = {.modes = {1, 1, 1}, .flags = CU_TRSF_NORMALIZED_COORDINATES, .most = 9};
    uint64_t object;
    float got[LEVELS];
    OKAY(cuTexObjectCreate(&object, &resource, &texture, NULL));
    void *parameters[] = {&out, &object};
    launched("detail", LEVELS, parameters, got);
    for (int i = 0; i < LEVELS; i++)
        CHECK(got[i] == 10.0f * (float)i);
    OKAY(cuTexObjectDestroy(object));
    OKAY(cuMipmappedArrayDestroy(mipmap));
}

static void boxes(void)
{
    enum { INT = 3, WIDTH = 24, HEIGHT = 10, SIDE = 8 };
    static _Alignas(64) unsigned char map[128];
    static unsigned values[WIDTH * HEIGHT];
    const uint64_t sizes[] = {WIDTH, HEIGHT}, strides[] = {WIDTH * 4};
    const unsigned box[] = {SIDE, SIDE}, steps[] = {1, 1};
    unsigned got[SIDE * SIDE], x = 4, y = 1;
    void *loaded, *function, *parameters[] = {map, &out, &x, &y};
    CUdeviceptr memory;
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
        values[i] = 100 * (i / WIDTH) + i % WIDTH;
    OKAY(cuMemAlloc_v2(&memory, sizeof values));
    OKAY(cuMemcpyHtoD_v2(memory, values, sizeof values));
    CHECK(cuTensorMapEncodeTiled(map, INT, 2, (void *)(memory + (1ull << 31)), sizes, strides, box, steps, 0, 0, 0,
                                 0) != 0);
    OKAY(cuTensorMapEncodeTiled(map, INT, 2, (void *)memory, sizes, strides, box, steps, 0, 0, 0, 0));
    OKAY(cuModuleLoadData(&loaded, BOX_CODE));
    OKAY(cuModuleGetFunction(&function, loaded, "box"));
    OKAY(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    OKAY(cuCtxSynchronize());
    OKAY(cuMemcpyDtoH_v2(got, out, sizeof got));
    for (unsigned i = 0; i < SIDE * SIDE; i++)
        EQUAL((int)values[(y + i / SIDE) * WIDTH + x + i % SIDE], (int)got[i]);
    OKAY(cuModuleUnload(loaded));
    OKAY(cuMemFree_v2(memory));
}

int main(void)
{
    void *context;
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, CODE));
    OKAY(cuMemAlloc_v2(&out, 4096));
    references();
    levels();
    boxes();
    OKAY(cuModuleUnload(module));
    printf("textures ok\n");
    return 0;
}
