/*
 * Memory that a captured call allocates is a graph's: every launch allocates it again, and the program frees it as
 * often.
 */
#include "relay/player.h"
#include "relay/memory/range.h"
#include "relay_stubs.h"

static const uint64_t address = 0x200000400000ULL;
static CUresult frees;

static bool gives_and_takes(const struct tessera_record *record)
{
    if (record->kind != TESSERA_RELAY_CALL)
        return false;
    if (record->entry == ENTRY_cuMemAllocAsync)
        answer(record, CUDA_SUCCESS, &address, sizeof address);
    else if (record->entry == ENTRY_cuMemFree_v2)
        answer(record, (calls[record->entry]++, frees), NULL, 0);
    else
        return false;
    return true;
}

int main(void)
{
    CUstream stream;
    CUgraph graph;
    CUdeviceptr memory, pooled;
    struct relay_range found;
    player_serves = gives_and_takes;
    player_begin();
    CHECK(relay_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(relay_cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    CHECK(relay_cuMemAllocAsync(&memory, 4096, stream) == CUDA_SUCCESS && memory == address);
    CHECK(relay_cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        CHECK(relay_cuMemFreeAsync(memory, stream) == CUDA_SUCCESS && relay_cuMemFree_v2(memory) == CUDA_SUCCESS);
    player_settle();
    CHECK(calls[ENTRY_cuMemFreeAsync] == 3 && calls[ENTRY_cuMemFree_v2] == 3);
    frees = CUDA_ERROR_INVALID_VALUE; /* the executor knows whether a launch has allocated it */
    CHECK(relay_cuMemFree_v2(memory) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_range_find(memory, &found) && found.kind == RELAY_RANGE_GRAPH);
    CHECK(relay_cuMemFreeAsync(memory + 16, stream) == CUDA_ERROR_INVALID_VALUE);
    /* The graph is gone, and a pool gives out its address: that memory can be freed only once. */
    CHECK(relay_cuMemAllocAsync(&pooled, 4096, stream) == CUDA_SUCCESS && pooled == memory);
    CHECK(relay_cuMemFreeAsync(pooled, stream) == CUDA_SUCCESS);
    CHECK(relay_cuMemFreeAsync(pooled, stream) == CUDA_ERROR_INVALID_VALUE);
    player_end();
    return 0;
}
