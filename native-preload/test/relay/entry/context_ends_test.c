/*
 * Objects made in a context end with it, in the order that cuInit registers: storage, streams, events, modules, memory.
 */
#include "relay/entry/init.h"

#include "relay/entry/pinned_small.h"
#include "relay/entry/context_storage.h"
#include "relay/memory/range.h"
#include "relay/player.h"
#include "relay/wire/context.h"
#include "relay_stubs.h"

static CUstream stream;
static unsigned destroyed;

/* A destructor may still use its context, the objects in it, and the storage. */
static void destroy(CUcontext handle, void *key, void *value)
{
    void *found;
    destroyed++;
    CHECK(handle == relay_current->handle && relay_cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(context_storage_get(&found, handle, key) == CUDA_ERROR_INVALID_HANDLE && value == &stream);
    CHECK(context_storage_put(handle, &stream, NULL, NULL) == CUDA_SUCCESS &&
          context_storage_delete(handle, &stream) == CUDA_SUCCESS);
}

static void never(CUcontext handle, void *key, void *value)
{
    (void)handle;
    (void)key;
    (void)value;
    CHECK(false);
}

static void storage(struct relay_context *current)
{
    void *value = NULL;
    char keys[300];
    CHECK(context_storage_get(&value, NULL, keys) == CUDA_ERROR_INVALID_HANDLE &&
          context_storage_delete(NULL, keys) == CUDA_ERROR_INVALID_HANDLE);
    for (int i = 0; i < 300; i++) /* more than there are buckets */
        CHECK(context_storage_put(NULL, &keys[i], &keys[i], never) == CUDA_SUCCESS);
    for (int i = 0; i < 300; i++)
        CHECK(context_storage_get(&value, current->handle, &keys[i]) == CUDA_SUCCESS && value == &keys[i]);
    CHECK(context_storage_put(NULL, &keys[0], &keys[5], never) == CUDA_SUCCESS &&
          context_storage_get(&value, NULL, &keys[0]) == CUDA_SUCCESS && value == &keys[5]);
    for (int i = 0; i < 300; i++) /* deleted and replaced: no destructor runs */
        CHECK(context_storage_delete(NULL, &keys[i]) == CUDA_SUCCESS &&
              context_storage_get(&value, NULL, &keys[i]) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(context_storage_get(&value, (CUcontext)0x1230, &keys[0]) != CUDA_SUCCESS &&
          context_storage_put((CUcontext)0x1230, keys, NULL, NULL) == CUDA_ERROR_INVALID_CONTEXT);
}

static void ends(struct relay_context *current)
{
    CUevent event;
    CUmodule module;
    CUfunction function;
    void *small, *large;
    int attribute;
    struct relay_range range;
    CHECK(relay_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
          relay_cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
          relay_cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(relay_cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n") == CUDA_SUCCESS &&
          relay_cuModuleGetFunction(&function, module, "f") == CUDA_SUCCESS);
    CHECK(relay_cuFuncGetAttribute(&attribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function) ==
              CUDA_SUCCESS &&
          attribute == 1000);
    CHECK(relay_cuMemHostAlloc(&small, 100, 0) == CUDA_SUCCESS &&
          relay_cuMemHostAlloc(&large, 3u << 20, 0) == CUDA_SUCCESS);
    const struct relay_range reserved = {
        .start = 0x10000, .bytes = 0x1000, .kind = RELAY_RANGE_RESERVED, .link = current->link, .context = current};
    CHECK(relay_range_add(&reserved) && context_storage_put(NULL, &stream, &stream, destroy) == CUDA_SUCCESS);
    CHECK(pinned == 2 && unpinned == 0);
    CHECK(context_release(current) == CUDA_SUCCESS && destroyed == 1);
    CHECK(unpinned == 2 && !relay_range_find((uintptr_t)small, &range) && !relay_range_find((uintptr_t)large, &range) &&
          !relay_range_find(0x10000, &range));
    CHECK(context_retain(current) == CUDA_SUCCESS);
    CHECK(relay_cuStreamQuery(stream) == CUDA_ERROR_INVALID_HANDLE &&
          relay_cuEventQuery(event) == CUDA_ERROR_INVALID_HANDLE);
    unsigned asked = calls[ENTRY_cuModuleGetFunction]; /* the old names are forgotten: the executor is asked */
    CHECK(relay_cuModuleGetFunction(&function, module, "f") == CUDA_SUCCESS &&
          calls[ENTRY_cuModuleGetFunction] == asked + 1);
    unsigned queried = seen[TESSERA_RELAY_QUERY]; /* so are the records of its functions */
    CHECK(relay_cuFuncGetAttribute(&attribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function) ==
              CUDA_SUCCESS &&
          seen[TESSERA_RELAY_QUERY] == queried + 1);
    unsigned char present;
    CHECK(mincore(large, 4096, &present) != 0);
}

int main(void)
{
    player_begin();
    init_connect();
    context_prepare_primary(&relay_links[0], NULL);
    struct relay_context *primary = relay_primary(&relay_links[0]);
    CHECK(context_retain(primary) == CUDA_SUCCESS && current_set(primary) == CUDA_SUCCESS);
    storage(primary);
    ends(primary);
    player_end();
    return 0;
}
