/* Occupancy. Answers depend only on the function, its attributes and the arguments, so the executor is asked once for each. */
#include <stdlib.h>
#include <string.h>

#include "relay/code/functions.h"
#include "relay/wire/layouts.h"
#include "relay/wire/message.h"

#define MAX_ANSWERS 128u   /* for each function; then all are forgotten */
#define MAX_ATTRIBUTES 16u /* of a launch configuration */

/* A query; compared as bytes. */
struct occupancy_query {
    uint32_t entry;
    uint32_t attributes;
    uint64_t numbers[3];
    struct layout_launch_config config;
    struct layout_launch_attribute attribute[MAX_ATTRIBUTES];
};

static uint32_t query_bytes(const struct occupancy_query *query)
{
    return (uint32_t)(offsetof(struct occupancy_query, attribute) +
                      query->attributes * sizeof(struct layout_launch_attribute));
}

static bool recall(struct function *function, const struct occupancy_query *query, uint64_t *value)
{
    uint32_t bytes = query_bytes(query);
    bool found = false;
    pthread_mutex_lock(&function->lock);
    for (const struct occupancy_answer *a = function->answers; a && !found; a = a->next)
        if (a->bytes == bytes && memcmp(a->query, query, bytes) == 0) {
            *value = a->value;
            found = true;
        }
    pthread_mutex_unlock(&function->lock);
    return found;
}

static void remember(struct function *function, const struct occupancy_query *query, uint64_t value)
{
    uint32_t bytes = query_bytes(query);
    unsigned count = 0;
    struct occupancy_answer *answer = malloc(sizeof *answer + bytes);
    if (!answer)
        return;
    answer->value = value;
    answer->bytes = bytes;
    memcpy(answer->query, query, bytes);
    pthread_mutex_lock(&function->lock);
    for (const struct occupancy_answer *a = function->answers; a; a = a->next)
        count++;
    pthread_mutex_unlock(&function->lock);
    if (count >= MAX_ANSWERS)
        function_answers_forget(function);
    pthread_mutex_lock(&function->lock);
    answer->next = function->answers;
    function->answers = answer;
    pthread_mutex_unlock(&function->lock);
}

static CUresult send(struct relay_context *context, uint64_t wire, const struct occupancy_query *q, uint64_t *value)
{
    const uint64_t *n = q->numbers;
    switch (q->entry) {
    case ENTRY_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags:
        return MESSAGE_CALL(context, q->entry, OUT(value, 4), VALUE(wire), VALUE(n[0]), VALUE(n[1]), VALUE(n[2]));
    case ENTRY_cuOccupancyAvailableDynamicSMemPerBlock:
        return MESSAGE_CALL(context, q->entry, OUT(value, 8), VALUE(wire), VALUE(n[0]), VALUE(n[1]));
    default:
        return MESSAGE_CALL(context, q->entry, OUT(value, 4), VALUE(wire),
                            IN(&q->config, sizeof q->config + q->attributes * sizeof q->attribute[0]));
    }
}

_Static_assert(offsetof(struct occupancy_query, attribute) ==
                   offsetof(struct occupancy_query, config) + sizeof(struct layout_launch_config),
               "sent in one piece");

/* Returns a remembered answer, or asks the executor. An int answer is in the low 4 bytes of the value. */
static CUresult answer(const void *handle, const struct occupancy_query *query, uint64_t *value)
{
    struct relay_context *context;
    struct function *function;
    uint64_t wire;
    CUresult result = relay_enter(&context);
    if (result == CUDA_SUCCESS)
        result = function_of(context, handle, &function, &wire);
    if (result != CUDA_SUCCESS || recall(function, query, value))
        return result;
    *value = 0;
    result = send(context, wire, query, value);
    if (result == CUDA_SUCCESS)
        remember(function, query, *value);
    return result;
}

static CUresult active_blocks(int *blocks, CUfunction function, int block_size, size_t shared_bytes, unsigned flags)
{
    const struct occupancy_query query = {
        .entry = ENTRY_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
        .numbers = {(uint32_t)block_size, shared_bytes, flags},
    };
    uint64_t value;
    if (!blocks || block_size <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = answer(function, &query, &value);
    if (result == CUDA_SUCCESS)
        *blocks = (int)value;
    return result;
}

CUresult relay_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_size,
                                                           size_t shared_bytes)
{
    return active_blocks(blocks, function, block_size, shared_bytes, 0);
}

CUresult relay_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int block_size,
                                                                    size_t shared_bytes, unsigned int flags)
{
    return active_blocks(blocks, function, block_size, shared_bytes, flags);
}

CUresult relay_cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks, int block_size)
{
    const struct occupancy_query query = {
        .entry = ENTRY_cuOccupancyAvailableDynamicSMemPerBlock,
        .numbers = {(uint32_t)blocks, (uint32_t)block_size},
    };
    return bytes ? answer(function, &query, bytes) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult clusters(int *count, unsigned entry, CUfunction function, const struct layout_launch_config *config)
{
    struct occupancy_query query;
    uint64_t value;
    if (!count || !config || config->attribute_count > MAX_ATTRIBUTES ||
        (config->attribute_count != 0 && !config->attributes))
        return CUDA_ERROR_INVALID_VALUE;
    memset(&query, 0, sizeof query);
    query.entry = entry;
    query.attributes = config->attribute_count;
    query.config = *config;
    query.config.stream = query.config.attributes = 0;
    query.config.pad = query.config.pad2 = 0;
    if (config->attribute_count)
        memcpy(query.attribute, (const void *)(uintptr_t)config->attributes,
               config->attribute_count * sizeof query.attribute[0]);
    CUresult result = answer(function, &query, &value);
    if (result == CUDA_SUCCESS)
        *count = (int)value;
    return result;
}

CUresult relay_cuOccupancyMaxActiveClusters(int *count, CUfunction function, const void *config)
{
    return clusters(count, ENTRY_cuOccupancyMaxActiveClusters, function, config);
}

CUresult relay_cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const void *config)
{
    return clusters(size, ENTRY_cuOccupancyMaxPotentialClusterSize, function, config);
}
