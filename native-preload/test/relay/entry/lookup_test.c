/* Names of cuGetProcAddress without a vendor's driver, and limits. */
#include "relay/entry/init.h"

#include "driver/driver.h"
#include "relay/player.h"
#include "relay_stubs.h"

#define LIMIT 2

static unsigned entry_of(const char *name)
{
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
        if (strcmp(tessera_entry_name[i], name) == 0)
            return i;
    CHECK(false);
    return 0;
}

static void lookups(void)
{
    void *address;
    int status;
    CHECK(relay_cuGetProcAddress_v2("cuMemAlloc", &address, 12000, 0, &status) == CUDA_SUCCESS && status == 0);
    CHECK(address == tessera_exported[entry_of("cuMemAlloc_v2")]);
    CHECK(relay_cuGetProcAddress_v2("cuMemAlloc", &address, 3000, 0, &status) == CUDA_SUCCESS &&
          address == tessera_exported[entry_of("cuMemAlloc")]);
    CHECK(relay_cuGetProcAddress_v2("cuMemcpyAsync", &address, 12000, 0, &status) == CUDA_SUCCESS &&
          address == tessera_exported[entry_of("cuMemcpyAsync")]);
    CHECK(relay_cuGetProcAddress_v2("cuMemcpyAsync", &address, 12000, 2, &status) == CUDA_SUCCESS &&
          address == tessera_exported[entry_of("cuMemcpyAsync_ptsz")]);
    CHECK(relay_cuGetProcAddress_v2("cuInit", &address, 12000, 2, &status) == CUDA_SUCCESS &&
          address == tessera_exported[entry_of("cuInit")]);
    CHECK(relay_cuGetProcAddress_v2("cuGraphLaunch", &address, 9000, 0, &status) == CUDA_ERROR_NOT_FOUND &&
          status == 2 && !address);
    CHECK(relay_cuGetProcAddress_v2("cuNoSuchThing", &address, 13000, 0, &status) == CUDA_ERROR_NOT_FOUND &&
          status == 1 && !address);
    CHECK(relay_cuGetProcAddress_v2("cuInit", NULL, 13000, 0, &status) == CUDA_SUCCESS && status == 0);
    CHECK(relay_cuGetProcAddress_v2(NULL, &address, 13000, 0, &status) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuGetProcAddress_v2("cuInit", &address, 13000, 4, &status) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuGetProcAddress("cuInit", &address, 13000, 0) == CUDA_SUCCESS);
}

/* The executor rounds a limit up to a multiple of 256. */
static uint64_t limit_of_device;
static bool round_limit(const struct tessera_record *record)
{
    const uint64_t *words = (const uint64_t *)(record + 1);
    if (record->kind != TESSERA_RELAY_CALL ||
        (record->entry != ENTRY_cuCtxSetLimit && record->entry != ENTRY_cuCtxGetLimit))
        return false;
    calls[record->entry]++;
    if (record->entry == ENTRY_cuCtxSetLimit)
        limit_of_device = (words[1] + 255) & ~255ULL;
    answer(record, CUDA_SUCCESS, &limit_of_device, record->entry == ENTRY_cuCtxGetLimit ? 8 : 0);
    return true;
}

static void limits(void)
{
    size_t value = 0;
    player_serves = round_limit;
    segment->device.limits[LIMIT] = 4096;
    segment->device.limit_valid = 1u << LIMIT;
    CHECK(relay_cuCtxGetLimit(&value, LIMIT) == CUDA_SUCCESS && value == 4096 &&
          calls[ENTRY_cuCtxGetLimit] == 0); /* without asking */
    CHECK(relay_cuCtxSetLimit(LIMIT, 1000) == CUDA_SUCCESS && relay_cuCtxGetLimit(&value, LIMIT) == CUDA_SUCCESS &&
          value == 1024);
    CHECK(relay_cuCtxGetLimit(&value, (int)TESSERA_RELAY_LIMITS) == CUDA_ERROR_UNSUPPORTED_LIMIT &&
          relay_cuCtxSetLimit(-1, 1) == CUDA_ERROR_UNSUPPORTED_LIMIT);
    CHECK(relay_cuCtxGetLimit(NULL, LIMIT) == CUDA_ERROR_INVALID_VALUE &&
          relay_cuCtxGetLimit(&value, -1) == CUDA_ERROR_INVALID_VALUE);
    player_serves = NULL;
}

int main(void)
{
    CHECK(relay_cuInit(1) == CUDA_ERROR_INVALID_VALUE && relay_started() == CUDA_ERROR_NOT_INITIALIZED);
    player_begin();
    lookups();
    limits();
    player_end();
    return 0;
}
