/*
 * Reads memory that it has just got, for what a departed program left in it: here the runner lets a predecessor with
 * the victim's secret come and go before.
 */
#include <stdlib.h>
#include <string.h>

#include "attack.h"
#include "cuda_constants.h"

enum { PIECES = 24 };

/* Counts as loot only if it is not zero: zeros are no one's data. */
static void look(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i + 4096 <= count; i += 4096)
        for (size_t at = 0; at < 4096; at++)
            if (bytes[i + at]) {
                loot(bytes + i, 4096);
                break;
            }
}

static void look_device(CUdeviceptr from, size_t count)
{
    unsigned char *bytes = malloc(count);
    if (bytes && cuMemcpyDtoH(bytes, from, count) == 0)
        look(bytes, count);
    free(bytes);
}

static void device(void)
{
    static const size_t sizes[] = {512, 65536, 1 << 20, 4 << 20};
    for (int i = 0; i < PIECES; i++) {
        CUdeviceptr got = 0;
        size_t size = sizes[i % 4];
        if (cuMemAlloc(&got, size) == 0)
            look_device(got, size < 4096 ? 4096 : size);
    }
}

static void pools(void)
{
    handle stream = 0;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < PIECES; i++) {
        CUdeviceptr got = 0;
        size_t size = i % 2 ? 65536 : 1 << 20;
        if (cuMemAllocAsync(&got, size, stream) == 0 && cuStreamSynchronize(stream) == 0)
            look_device(got, size);
    }
}

static void pinned(void)
{
    for (int i = 0; i < PIECES; i++) {
        void *got = NULL;
        if (cuMemHostAlloc(&got, 65536, i % 4) == 0)
            look(got, 65536);
    }
}

static void mapped(void)
{
    struct allocation_properties properties = {.type = 1, .location = {1, 0}};
    struct access access = {{1, 0}, 3};
    size_t granularity = 0;
    NEED(cuMemGetAllocationGranularity(&granularity, &properties, 0));
    for (int i = 0; i < 4; i++) {
        CUdeviceptr place = 0;
        handle physical = 0;
        if (cuMemAddressReserve(&place, granularity, 0, 0, 0) == 0 &&
            cuMemCreate(&physical, granularity, &properties, 0) == 0 &&
            cuMemMap(place, granularity, 0, physical, 0) == 0 && cuMemSetAccess(place, granularity, &access, 1) == 0)
            look_device(place, granularity);
    }
}

static void arrays(void)
{
    static unsigned char bytes[128 * 128 * 4];
    for (int i = 0; i < PIECES; i++) {
        struct array_shape shape = {128, 128, 3, 1};
        handle array = 0;
        struct copy_2d copy = {
            .source_type = 3, .target_type = 1, .target_host = bytes, .target_pitch = 512, .width = 512, .height = 128};
        if (cuArrayCreate(&array, &shape) != 0)
            continue;
        copy.source_array = array;
        if (cuMemcpy2D(&copy) == 0)
            look(bytes, sizeof bytes);
    }
}

static void globals(void)
{
    static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .global .align 16 .b64 table[8192];\n.visible .entry nothing() { ret; }\n";
    handle module = 0;
    CUdeviceptr at = 0;
    size_t size = 0;
    for (int i = 0; i < 4; i++)
        if (cuModuleLoadData(&module, code) == 0 && cuModuleGetGlobal(&at, &size, module, "table") == 0)
            look_device(at, size);
}

static const struct attack attacks[] = {
    {"device", HARMLESS, "reads memory that it has just got", device},
    {"pools", HARMLESS, "reads memory that it has just got from a pool", pools},
    {"pinned", HARMLESS, "reads pinned memory that it has just got", pinned},
    {"mapped", HARMLESS, "reads physical memory that it has just mapped", mapped},
    {"arrays", HARMLESS, "reads arrays that it has just got", arrays},
    {"globals", HARMLESS, "reads a variable that nobody initialised", globals},
};
ATTACKS(attacks)
