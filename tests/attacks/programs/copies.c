/* Copies, memsets and memory operations of streams that name the victim's memory, or reach it from the attacker's own. */
#include <string.h>

#include "attack.h"
#include "cuda_constants.h"

static unsigned char host[1 << 16];

/* A pageable address, and what is left of it is as much as any copy here may bring. */
static void got(void)
{
    cuCtxSynchronize();
    loot(host, LOOT_BYTES);
}

static void to_host(void)
{
    CUdeviceptr victim = fact("device");
    ANSWER(cuMemcpyDtoH(host, victim, LOOT_BYTES));
    got();
    ANSWER(cuMemcpyDtoHAsync(host, victim, LOOT_BYTES, 0));
    got();
    ANSWER(cuMemcpyDtoH(host, fact("pinned"), LOOT_BYTES));
    ANSWER(cuMemcpyDtoH(host, fact("global"), LOOT_BYTES));
    ANSWER(cuMemcpyDtoH(host, fact("pool"), LOOT_BYTES));
    got();
}

static void from_host(void)
{
    CUdeviceptr victim = fact("device");
    ANSWER(cuMemcpyHtoD(victim, host, LOOT_BYTES));
    ANSWER(cuMemcpyHtoDAsync(victim, host, LOOT_BYTES, 0));
    ANSWER(cuMemcpyHtoD(fact("global"), host, LOOT_BYTES));
}

static void between(void)
{
    CUdeviceptr victim = fact("device"), own = own_memory();
    LATER(cuMemcpyDtoD(own, victim, LOOT_BYTES));
    LATER(cuMemcpyDtoD(victim, own, LOOT_BYTES));
    LATER(cuMemcpyDtoDAsync(own, victim, LOOT_BYTES, 0));
    loot_device(own, LOOT_BYTES);
}

static void across(void)
{
    CUdeviceptr own = own_memory();
    LATER(cuMemsetD8(own + OWN_BYTES - 1, 1, 2));
    LATER(cuMemsetD8(own, 1, (size_t)-1));
    LATER(cuMemsetD32(own, 1, ((size_t)1 << 62) + 1));
    LATER(cuMemsetD32(own, 1, (size_t)1 << 40));
    LATER(cuMemsetD16(own + OWN_BYTES - 2, 1, (size_t)1 << 63));
    LATER(cuMemcpyDtoD(own, own + OWN_BYTES - 64, 4096));
    LATER(cuMemcpyDtoD(own - 4096, own, 4096));
    LATER(cuMemcpyDtoH(host, own + OWN_BYTES - 64, 4096));
    LATER(cuMemcpyHtoD(own + OWN_BYTES - 64, host, 4096));
    LATER(cuMemcpyDtoD(own, own, (size_t)0 - own));
}

static void memsets(void)
{
    CUdeviceptr victim = fact("device");
    LATER(cuMemsetD8(victim, 1, 64));
    LATER(cuMemsetD16(victim, 1, 64));
    LATER(cuMemsetD32(victim, 1, 64));
    LATER(cuMemsetD8Async(victim, 1, 64, 0));
    LATER(cuMemsetD32Async(victim, 1, 64, 0));
    LATER(cuMemsetD2D8(victim, 64, 1, 8, 8));
    LATER(cuMemsetD2D32(victim, 64, 1, 8, 8));
}

static void memset_pitches(void)
{
    CUdeviceptr victim = fact("device"), own = own_memory();
    LATER(cuMemsetD2D8(own, victim - own, 1, 8, 2));
    LATER(cuMemsetD2D8(own, (size_t)1 << 63, 1, 8, 3));
    LATER(cuMemsetD2D32(own, 0x4000000000000000, 1, 8, 5));
    LATER(cuMemsetD2D32(own, (size_t)-64, 1, 8, 4));
    LATER(cuMemsetD2D32(own, 8, 1, (size_t)1 << 62, 1));
    LATER(cuMemsetD2D8(own, 4096, 1, 8, (size_t)1 << 52));
}

static struct copy_2d plane(CUdeviceptr to, CUdeviceptr from)
{
    return (struct copy_2d){.source_type = 2,
                            .source_device = from,
                            .source_pitch = 64,
                            .target_type = 2,
                            .target_device = to,
                            .target_pitch = 64,
                            .width = 64,
                            .height = 4};
}

static void planes(void)
{
    CUdeviceptr victim = fact("device"), own = own_memory();
    struct copy_2d copy = plane(own, victim);
    LATER(cuMemcpy2D(&copy));
    LATER(cuMemcpy2DUnaligned(&copy));
    LATER(cuMemcpy2DAsync(&copy, 0));
    copy = plane(victim, own);
    LATER(cuMemcpy2D(&copy));
    copy = plane(own, victim);
    copy.target_type = 1;
    copy.target_host = host;
    LATER(cuMemcpy2D(&copy));
    got();
    loot_device(own, LOOT_BYTES);
}

/* An address that the process does not know as the device's is taken for one of the host, as the driver does: where
   nothing lies there the process dies of it. */
static void unified_from(void)
{
    CUdeviceptr victim = fact("device"), own = own_memory();
    struct copy_2d copy = plane(own, victim);
    copy.source_type = 4;
    LATER(cuMemcpyAsync(own, victim, LOOT_BYTES, 0));
    LATER(cuMemcpy(own, victim, LOOT_BYTES));
    LATER(cuMemcpy2DAsync(&copy, 0));
    loot_device(own, LOOT_BYTES);
}

static void unified_to(void)
{
    CUdeviceptr victim = fact("device"), own = own_memory();
    struct copy_2d copy = plane(victim, own);
    copy.target_type = 4;
    LATER(cuMemcpyAsync(victim, own, LOOT_BYTES, 0));
    LATER(cuMemcpy(victim, own, LOOT_BYTES));
    LATER(cuMemcpy2DAsync(&copy, 0));
}

static void plane_overflows(void)
{
    CUdeviceptr victim = fact("device"), own = own_memory();
    struct copy_2d copy = plane(own, own);
    copy.source_y = 1;
    copy.source_pitch = victim - own;
    LATER(cuMemcpy2DAsync(&copy, 0));
    copy = plane(own, own);
    copy.source_x = victim - own;
    LATER(cuMemcpy2DAsync(&copy, 0));
    copy = plane(own, own);
    copy.source_y = (victim - own) / 64;
    LATER(cuMemcpy2DAsync(&copy, 0));
    copy = plane(own, own);
    copy.source_pitch = (size_t)1 << 62;
    copy.height = 5;
    LATER(cuMemcpy2DAsync(&copy, 0));
    copy = plane(own, own);
    copy.source_y = (size_t)1 << 58;
    LATER(cuMemcpy2DAsync(&copy, 0));
    copy = plane(own, own);
    copy.source_x = (size_t)0 - 4096;
    copy.source_device = own;
    LATER(cuMemcpy2DAsync(&copy, 0));
    copy = plane(own, own);
    copy.height = ((size_t)1 << 58) + 1;
    LATER(cuMemcpy2DAsync(&copy, 0));
    loot_device(own, LOOT_BYTES);
}

static struct copy_3d box(CUdeviceptr to, CUdeviceptr from)
{
    return (struct copy_3d){.source_type = 2,
                            .source_device = from,
                            .source_pitch = 64,
                            .source_height = 2,
                            .target_type = 2,
                            .target_device = to,
                            .target_pitch = 64,
                            .target_height = 2,
                            .width = 64,
                            .height = 2,
                            .depth = 2};
}

static void boxes(void)
{
    CUdeviceptr victim = fact("device"), own = own_memory();
    struct copy_3d copy = box(own, victim);
    LATER(cuMemcpy3D(&copy));
    LATER(cuMemcpy3DAsync(&copy, 0));
    LATER(cuMemcpy3DPeer(&copy));
    copy = box(victim, own);
    LATER(cuMemcpy3D(&copy));
    copy = box(own, own);
    copy.source_z = (victim - own) / 128;
    LATER(cuMemcpy3DAsync(&copy, 0));
    copy = box(own, own);
    copy.source_height = (victim - own) / 64;
    LATER(cuMemcpy3DAsync(&copy, 0));
    copy = box(own, own);
    copy.source_z = (size_t)1 << 57;
    LATER(cuMemcpy3DAsync(&copy, 0));
    copy = box(own, own);
    copy.depth = ((size_t)1 << 57) + 1;
    LATER(cuMemcpy3DAsync(&copy, 0));
    copy = box(own, own);
    copy.source_height = (size_t)1 << 58;
    copy.depth = 3;
    LATER(cuMemcpy3DAsync(&copy, 0));
    loot_device(own, LOOT_BYTES);
}

static void peers(void)
{
    CUdeviceptr victim = fact("device"), own = own_memory();
    handle context = 0;
    NEED(cuDevicePrimaryCtxRetain(&context, 0));
    LATER(cuMemcpyPeer(own, context, victim, context, LOOT_BYTES));
    LATER(cuMemcpyPeerAsync(victim, context, own, context, LOOT_BYTES, 0));
    loot_device(own, LOOT_BYTES);
}

static void batches(void)
{
    CUdeviceptr victim = fact("device"), own = own_memory(), to[2] = {own, own + 4096}, from[2] = {own + 8192, victim};
    size_t sizes[2] = {64, LOOT_BYTES}, first = 0;
    uint64_t attributes[8] = {1}; /* in stream order */
    handle stream = 0;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    LATER(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, &first, 1, stream));
    LATER(cuMemcpyBatchAsync(from, to, sizes, 2, attributes, &first, 1, stream));
    loot_device(own + 4096, LOOT_BYTES);
}

static void arrays(void)
{
    struct array_shape shape = {64, 1, 3, 1};
    handle array = 0;
    CUdeviceptr victim = fact("device");
    NEED(cuArrayCreate(&array, &shape));
    LATER(cuMemcpyDtoA(array, 0, victim, 256));
    LATER(cuMemcpyAtoD(victim, array, 0, 256));
    LATER(cuMemcpyAtoH(host, array, (size_t)1 << 40, 256));
    LATER(cuMemcpyAtoD(own_memory(), array, (size_t)0 - 256, 512));
    if (cuMemcpyAtoH(host, array, 0, 256) == 0)
        got();
}

/* Boxes that end far behind an array, or before it: a comparison of begin + size wraps, or takes a number for a negative one. */
static void array_boxes(void)
{
    enum { ROWS = 32, ROW_BYTES = 64 };
    static const size_t far[] = {(size_t)1 << 63, (size_t)-1 >> 1, 0 - (size_t)ROWS, ((size_t)1 << 63) - ROWS,
                                 (size_t)0 - ROW_BYTES};
    CUdeviceptr own = own_memory();
    handle array = 0;
    NEED(cuArrayCreate(&array, &(struct array_shape){ROW_BYTES / 4, ROWS, 3, 1}));
    struct copy_3d from = {.source_type = 3,
                           .source_array = array,
                           .target_type = 2,
                           .target_device = own,
                           .target_pitch = ROW_BYTES,
                           .target_height = ROWS,
                           .width = ROW_BYTES,
                           .height = ROWS,
                           .depth = 1};
    struct copy_3d to = {.source_type = 2,
                         .source_device = own,
                         .source_pitch = ROW_BYTES,
                         .source_height = ROWS,
                         .target_type = 3,
                         .target_array = array,
                         .width = ROW_BYTES,
                         .height = ROWS,
                         .depth = 1};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        struct copy_3d wrong[] = {from, from, from, to, to, to};
        wrong[0].source_x = wrong[1].source_y = wrong[2].source_z = far[i];
        wrong[3].target_x = wrong[4].target_y = wrong[5].target_z = far[i];
        for (size_t n = 0; n < 6; n++)
            LATER(cuMemcpy3DAsync(&wrong[n], 0));
        struct copy_2d plane = {.source_type = 3,
                                .source_array = array,
                                .source_y = far[i],
                                .target_type = 2,
                                .target_device = own,
                                .target_pitch = ROW_BYTES,
                                .width = ROW_BYTES,
                                .height = ROWS};
        LATER(cuMemcpy2D(&plane));
        LATER(cuMemcpyAtoD(own, array, far[i], ROWS * ROW_BYTES));
        LATER(cuMemcpyDtoA(array, far[i], own, ROWS * ROW_BYTES));
        loot_device(own, ROWS * ROW_BYTES);
    }
}

static void values(void)
{
    CUdeviceptr victim = fact("device"), own = own_memory();
    handle stream = 0;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    LATER(cuStreamWriteValue32(stream, victim, 7, 0));
    LATER(cuStreamWriteValue64(stream, victim, 7, 0));
    LATER(cuStreamWaitValue32(stream, victim, 0, 0));
    LATER(cuStreamWaitValue64(stream, victim, 0, 0));
    LATER(cuStreamWriteValue64(stream, own + OWN_BYTES - 4, 7, 0));
    LATER(cuStreamWriteValue32(stream, own + OWN_BYTES, 7, 0));
}

static void batched_values(void)
{
    CUdeviceptr victim = fact("device"), own = own_memory();
    handle stream = 0;
    struct memory_operation operations[2] = {{.operation = 5, .address = own, .value = 1},
                                             {.operation = 5, .address = victim, .value = 1}};
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    LATER(cuStreamBatchMemOp(stream, 2, operations, 0));
    operations[1].operation = 2;
    LATER(cuStreamBatchMemOp(stream, 2, operations, 0));
    operations[1].operation = 1;
    LATER(cuStreamBatchMemOp(stream, 2, operations, 0));
    operations[1].address = own + OWN_BYTES - 4;
    operations[1].operation = 5;
    LATER(cuStreamBatchMemOp(stream, 2, operations, 0));
}

static const struct attack attacks[] = {
    {"to_host", REFUSED, "copies the victim's memory to the host", to_host},
    {"from_host", REFUSED, "copies from the host into the victim's memory", from_host},
    {"between", REFUSED, "copies between the victim's memory and its own", between},
    {"across", REFUSED, "copies and sets across the borders of its own memory, with sizes that overflow", across},
    {"memsets", REFUSED, "sets the victim's memory", memsets},
    {"memset_pitches", REFUSED, "sets rows whose pitch leads to the victim or overflows", memset_pitches},
    {"planes", REFUSED, "copies planes of the victim", planes},
    {"unified_from", HARMLESS, "copies from the victim's memory, of whatever kind it is", unified_from},
    {"unified_to", HARMLESS, "copies to the victim's memory, of whatever kind it is", unified_to},
    {"plane_overflows", REFUSED, "copies planes that reach the victim by pitch, offset and overflow", plane_overflows},
    {"boxes", REFUSED, "copies boxes of the victim, and boxes that reach it by depth, height and overflow", boxes},
    {"peers", REFUSED, "copies between devices", peers},
    {"batches", HARMLESS, "hides the victim's memory in a batch of copies", batches},
    {"arrays", REFUSED, "copies between the victim's memory and an array, and beyond the array", arrays},
    {"array_boxes", REFUSED, "copies boxes of an array of its own that begin so far away that a sum wraps", array_boxes},
    {"values", REFUSED, "has a stream write and wait for the victim's memory", values},
    {"batched_values", REFUSED, "hides the victim's memory in a batch of memory operations", batched_values},
};
ATTACKS(attacks)
