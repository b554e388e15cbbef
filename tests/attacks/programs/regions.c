#include "regions.h"

#include <stdio.h>
#include <stdlib.h>

#include "secret.h"

enum { SMALL_BYTES = 1 << 16, ARRAY_WIDTH = 128, ARRAY_HEIGHT = 128, UNSIGNED_32 = 3 };

static struct {
    const char *name;
    CUdeviceptr address;
    void *host;
    size_t bytes;
} regions[REGIONS] = {{"device", 0, NULL, REGION_MOST_BYTES}, {"pool", 0, NULL, SMALL_BYTES},
                      {"pinned", 0, NULL, SMALL_BYTES},       {"global", 0, NULL, SMALL_BYTES},
                      {"mapped", 0, NULL, SMALL_BYTES},       {"array", 0, NULL, ARRAY_WIDTH *ARRAY_HEIGHT * 4}};
static handle array, texture, surface, allocation, pool;

/* Every way fails alike: the region then has no address, and no attack aims at it. */
static void make_mapped(void)
{
    struct allocation_properties properties = {.type = 1, .location = {1, 0}};
    struct access access = {.location = {1, 0}, .flags = 3};
    size_t granularity = 0;
    CUdeviceptr address = 0;
    if (cuMemGetAllocationGranularity(&granularity, &properties, 0) != 0 ||
        cuMemAddressReserve(&address, granularity, 0, 0, 0) != 0)
        return;
    if (cuMemCreate(&allocation, granularity, &properties, 0) == 0 &&
        cuMemMap(address, granularity, 0, allocation, 0) == 0 && cuMemSetAccess(address, granularity, &access, 1) == 0)
        regions[REGION_MAPPED].address = address;
}

static void make_array(void)
{
    struct array_shape shape = {ARRAY_WIDTH, ARRAY_HEIGHT, UNSIGNED_32, 1};
    struct resource behind = {.type = 0};
    struct resource linear = {.type = 2};
    struct texture how = {.flags = 1};
    if (cuArrayCreate(&array, &shape) == 0) {
        behind.of.array = array;
        if (cuSurfObjectCreate(&surface, &behind) != 0)
            surface = 0;
    } else {
        array = 0;
        regions[REGION_ARRAY].bytes = 0;
    }
    linear.of.linear.address = regions[REGION_DEVICE].address;
    linear.of.linear.format = UNSIGNED_32;
    linear.of.linear.channels = 1;
    linear.of.linear.bytes = SMALL_BYTES;
    if (cuTexObjectCreate(&texture, &linear, &how, NULL) != 0)
        texture = 0;
}

void regions_make(handle module, handle stream)
{
    struct pool_properties properties = {.allocation_type = 1, .location = {1, 0}};
    size_t bytes = 0;
    if (cuMemAlloc(&regions[REGION_DEVICE].address, REGION_MOST_BYTES) != 0 ||
        cuModuleGetGlobal(&regions[REGION_GLOBAL].address, &bytes, module, "table") != 0 || bytes < SMALL_BYTES) {
        fprintf(stderr, "no memory\n");
        exit(3);
    }
    if (cuMemAllocAsync(&regions[REGION_POOL].address, SMALL_BYTES, stream) != 0)
        regions[REGION_POOL].address = 0;
    if (cuMemHostAlloc(&regions[REGION_PINNED].host, SMALL_BYTES, 3) == 0 &&
        cuMemHostGetDevicePointer(&regions[REGION_PINNED].address, regions[REGION_PINNED].host, 0) != 0)
        regions[REGION_PINNED].address = 0;
    if (cuMemPoolCreate(&pool, &properties) != 0)
        pool = 0;
    cuStreamSynchronize(stream);
    make_mapped();
    make_array();
}

void regions_tell(void)
{
    const struct {
        const char *name;
        handle value;
    } handles[] = {{"array_handle", array},
                   {"texture", texture},
                   {"surface", surface},
                   {"allocation", allocation},
                   {"pool_handle", pool}};
    for (int i = 0; i < REGIONS; i++)
        if (regions[i].address) {
            printf("fact %s %llu\n", regions[i].name, (unsigned long long)regions[i].address);
            printf("fact %s_bytes %llu\n", regions[i].name, (unsigned long long)regions[i].bytes);
        }
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++)
        printf("fact %s %llu\n", handles[i].name, (unsigned long long)handles[i].value);
}

const char *region_name(int region)
{
    return regions[region].name;
}

CUdeviceptr region_address(int region)
{
    return regions[region].address;
}

static struct copy_2d array_copy(uint64_t *staging, int to_array)
{
    struct copy_2d copy = {.width = ARRAY_WIDTH * 4, .height = ARRAY_HEIGHT};
    if (to_array) {
        copy.source_type = 1;
        copy.source_host = staging;
        copy.source_pitch = ARRAY_WIDTH * 4;
        copy.target_type = 3;
        copy.target_array = array;
    } else {
        copy.source_type = 3;
        copy.source_array = array;
        copy.target_type = 1;
        copy.target_host = staging;
        copy.target_pitch = ARRAY_WIDTH * 4;
    }
    return copy;
}

void region_fill(int region, uint64_t seed, uint64_t *staging)
{
    size_t words = regions[region].bytes / sizeof(uint64_t);
    uint64_t *to = regions[region].host ? regions[region].host : staging;
    for (size_t i = 0; i < words; i++)
        to[i] = secret_word(seed, (uint64_t)region, i);
    CUresult result = 0;
    if (region == REGION_ARRAY && array) {
        struct copy_2d copy = array_copy(staging, 1);
        result = cuMemcpy2D(&copy);
    } else if (regions[region].address && !regions[region].host)
        result = cuMemcpyHtoD(regions[region].address, staging, regions[region].bytes);
    if (result)
        fprintf(stderr, "%s cannot be filled: %d\n", regions[region].name, result);
}

CUresult region_compare(int region, uint64_t seed, uint64_t *staging, unsigned *words)
{
    const uint64_t *from = staging;
    CUresult result = 0;
    if (regions[region].host)
        from = regions[region].host;
    else if (region == REGION_ARRAY && array) {
        struct copy_2d copy = array_copy(staging, 0);
        result = cuMemcpy2D(&copy);
    } else if (regions[region].address)
        result = cuMemcpyDtoH(staging, regions[region].address, regions[region].bytes);
    else
        return 0;
    for (size_t i = 0; !result && i < regions[region].bytes / sizeof(uint64_t); i++)
        *words += from[i] != secret_word(seed, (uint64_t)region, i);
    return result;
}
