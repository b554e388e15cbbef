/*
 * The block size with the most threads on a multiprocessor. The client searches for it, because the program may pass a
 * function that computes the shared memory for a block size.
 */
#include "relay/code/functions.h"
#include "relay/wire/layouts.h"
#include "relay_stubs.h"

struct search {
    CUfunction function;
    size_t (*shared_of)(int block_size); /* CUoccupancyB2DSize */
    size_t shared_bytes;
    unsigned flags;
};

static CUresult blocks_of(const struct search *search, int block_size, int *blocks)
{
    size_t shared_bytes = search->shared_of ? search->shared_of(block_size) : search->shared_bytes;
    return relay_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, search->function, block_size,
                                                                      shared_bytes, search->flags);
}

static CUresult search_from(const struct search *search, int limit, int warp, int *best_size, int *best_blocks)
{
    int best_threads = 0;
    *best_size = *best_blocks = 0;
    for (int size = (limit + warp - 1) / warp * warp; size > 0; size -= warp) {
        int block_size = size < limit ? size : limit, blocks;
        CUresult result = blocks_of(search, block_size, &blocks);
        if (result != CUDA_SUCCESS)
            return result;
        if (blocks * block_size > best_threads) {
            best_threads = blocks * block_size;
            *best_size = block_size;
            *best_blocks = blocks;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult potential(int *grid, int *block, const struct search *search, int limit)
{
    struct relay_context *context;
    struct function *function;
    uint64_t wire;
    int size, blocks;
    CUresult result = relay_enter(&context);
    if (result == CUDA_SUCCESS)
        result = function_of(context, search->function, &function, &wire);
    if (result != CUDA_SUCCESS)
        return result;
    if (!grid || !block || limit < 0)
        return CUDA_ERROR_INVALID_VALUE;
    const int32_t *device = context->link->segment->device.attributes;
    int greatest = function->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
    if (greatest > device[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK])
        greatest = device[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
    if (limit == 0 || limit > greatest)
        limit = greatest;
    result = search_from(search, limit,
                         device[CU_DEVICE_ATTRIBUTE_WARP_SIZE] > 0 ? device[CU_DEVICE_ATTRIBUTE_WARP_SIZE] : 32, &size,
                         &blocks);
    if (result == CUDA_SUCCESS) {
        *grid = blocks * device[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT];
        *block = size;
    }
    return result;
}

CUresult relay_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function, void *shared_of,
                                                         size_t shared_bytes, int limit, unsigned int flags)
{
    const struct search search = {function, (size_t(*)(int))(uintptr_t)shared_of, shared_bytes, flags};
    return potential(grid, block, &search, limit);
}

CUresult relay_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function, void *shared_of,
                                                size_t shared_bytes, int limit)
{
    return relay_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared_bytes, limit, 0);
}
