/*
 * Tensor maps: a kernel copies tiles of a matrix by bulk tensor copies, through a map that cuTensorMapEncodeTiled made, and the
 * tiles are compared with the matrix; beyond its edges they are zero. Needs a GPU of capability 9.0 or newer.
 */
#include <stdalign.h>
#include <string.h>

#include "driver.h"

extern int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                                  const uint64_t *strides, const unsigned *box, const unsigned *element_strides,
                                  int interleave, int swizzle, int promotion, int fill);
extern int cuTensorMapReplaceAddress(void *map, void *address);

enum { COLUMNS = 200, ROWS = 90, TILE = 32, UINT32 = 2 /* CU_TENSOR_MAP_DATA_TYPE_UINT32 */ };

static const char KERNEL[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry tile(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 x, .param .u32 y)\n{\n"
    "  .shared .align 128 .b8 data[4096];\n  .shared .align 8 .b64 done;\n"
    "  .reg .pred %p<3>;\n  .reg .b32 %r<8>;\n  .reg .b64 %rd<8>;\n"
    "  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, data;\n  mov.u32 %r3, done;\n"
    "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra READY;\n"
    "  mbarrier.init.shared.b64 [%r3], 1;\n  fence.mbarrier_init.release.cluster;\n"
    "  ld.param.u32 %r4, [x];\n  ld.param.u32 %r5, [y];\n"
    "  mov.b64 %rd1, map;\n  cvta.param.u64 %rd2, %rd1;\n"
    "  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r4, %r5}], [%r3];\n"
    "  mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r3], 4096;\n"
    "READY:\n  bar.sync 0;\n"
    "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;\n  @!%p2 bra WAIT;\n"
    "  shl.b32 %r6, %r1, 2;\n  add.u32 %r6, %r6, %r2;\n  ld.shared.u32 %r7, [%r6];\n"
    "  ld.param.u64 %rd4, [out];\n  cvta.to.global.u64 %rd5, %rd4;\n  mul.wide.u32 %rd6, %r1, 4;\n"
    "  add.u64 %rd7, %rd5, %rd6;\n  st.global.u32 [%rd7], %r7;\n  ret;\n}\n";

static CUfunction kernel;
static CUdeviceptr out;
static uint32_t matrix[ROWS][COLUMNS], got[TILE][TILE];

static int wrong(void *map, int x, int y)
{
    void *parameters[] = {map, &out, &x, &y};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, TILE * TILE, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cuMemcpyDtoH_v2(got, out, sizeof got));
    for (int row = 0; row < TILE; row++)
        for (int column = 0; column < TILE; column++) {
            int inside = y + row >= 0 && y + row < ROWS && x + column >= 0 && x + column < COLUMNS;
            uint32_t expected = inside ? matrix[y + row][x + column] : 0;
            if (got[row][column] != expected) {
                printf("tile %d %d, row %d column %d: %u, not %u WRONG\n", x, y, row, column, got[row][column], expected);
                return 1;
            }
        }
    return 0;
}

int main(void)
{
    static const int corners[][2] = {{0, 0}, {32, 32}, {7, 5}, {180, 70}, {-10, -3}, {190, 0}, {0, 80}, {400, 400}};
    alignas(64) unsigned char map[128];
    const uint64_t sizes[] = {COLUMNS, ROWS}, strides[] = {sizeof matrix[0]};
    const unsigned box[] = {TILE, TILE}, steps[] = {1, 1};
    CUdeviceptr memory, other;
    CUcontext context;
    CUmodule module;
    int device;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, KERNEL));
    CHECK(cuModuleGetFunction(&kernel, module, "tile"));
    CHECK(cuMemAlloc_v2(&memory, sizeof matrix));
    CHECK(cuMemAlloc_v2(&other, sizeof matrix));
    CHECK(cuMemAlloc_v2(&out, sizeof got));
    for (int turn = 0; turn < 2; turn++) {
        for (int row = 0; row < ROWS; row++)
            for (int column = 0; column < COLUMNS; column++)
                matrix[row][column] = (uint32_t)(row * 1000 + column + 1 + turn * 1000000);
        CHECK(cuMemcpyHtoD_v2(turn ? other : memory, matrix, sizeof matrix));
        if (turn == 0)
            CHECK(cuTensorMapEncodeTiled(map, UINT32, 2, (void *)(uintptr_t)memory, sizes, strides, box, steps, 0, 0, 0, 0));
        else
            CHECK(cuTensorMapReplaceAddress(map, (void *)(uintptr_t)other));
        for (unsigned i = 0; i < sizeof corners / sizeof *corners; i++)
            if (wrong(map, corners[i][0], corners[i][1]))
                return 1;
    }
    printf("tensormap ok\n");
    return 0;
}
