#include "relay/streams/launch.h"

#include <string.h>

#include "relay/streams/capture.h"
#include "relay/streams/events.h"
#include "relay/streams/streams.h"
#include "relay/wire/message.h"
#include "relay/wire/unsupported.h"

#define MAX_ATTRIBUTES 64u
#define PORTABLE_CLUSTER 8u
#define GREATEST_CLUSTER 16u

static CUresult read_extra(const struct function *function, void **extra, struct parameter_source *source)
{
    const void *buffer = NULL;
    size_t bytes = 0;
    for (unsigned i = 0; extra[i] != (void *)CU_LAUNCH_PARAM_END_AS_INT; i += 2) {
        if (extra[i] == (void *)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT)
            buffer = extra[i + 1];
        else if (extra[i] == (void *)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT && extra[i + 1])
            bytes = *(const size_t *)extra[i + 1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (bytes > function->parameter_bytes)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (!buffer && (bytes != 0 || function->parameter_bytes != 0))
        return CUDA_ERROR_INVALID_VALUE;
    source->packed = buffer;
    source->packed_bytes = bytes;
    return CUDA_SUCCESS;
}

static CUresult check_cluster(const struct function *function, const struct launch *launch, const uint32_t *cluster)
{
    uint64_t blocks = (uint64_t)cluster[0] * cluster[1] * cluster[2];
    bool large = function->valid & 1u << CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED &&
                 function->attributes[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] != 0;
    if (blocks == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (blocks > (large ? GREATEST_CLUSTER : PORTABLE_CLUSTER))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    for (unsigned i = 0; i < 3; i++)
        if (launch->grid[i] % cluster[i] != 0)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return CUDA_SUCCESS;
}

static CUresult check_attributes(const struct function *function, const struct launch *launch)
{
    if (launch->attribute_count > MAX_ATTRIBUTES || (launch->attribute_count != 0 && !launch->attributes))
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < launch->attribute_count; i++) {
        const struct layout_launch_attribute *attribute = &launch->attributes[i];
        CUresult result = CUDA_SUCCESS;
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            result = check_cluster(function, launch, attribute->value.dimension);
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE && attribute->value.number != 0)
            result = relay_unsupported("cuLaunchKernelEx", "a kernel node that the device may change");
        else if ((attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
                  attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) &&
                 !event_of((CUevent)(uintptr_t)attribute->value.event))
            result = CUDA_ERROR_INVALID_HANDLE;
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

CUresult launch_check(const struct function *function, const struct launch *launch, struct parameter_source *source)
{
    const uint32_t *grid = launch->grid, *block = launch->block;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    const uint64_t shape[FUNCTION_LIMITS] = {threads, block[0], block[1], block[2], grid[0], grid[1], grid[2]};
    CUresult result = CUDA_SUCCESS;
    bool fits = true;
    for (unsigned i = 0; i < FUNCTION_LIMITS; i++)
        fits &= shape[i] != 0 && shape[i] <= function->limits[i];
    *source = (struct parameter_source){.pointers = launch->parameters};
    if (!fits)
        result = CUDA_ERROR_INVALID_VALUE;
    else if (function->valid & 1u << CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK &&
             threads > (uint64_t)function->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK])
        result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES; /* launch bounds, or registers */
    else if (function->valid & 1u << CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
             launch->shared_bytes > (uint64_t)function->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES])
        result = CUDA_ERROR_INVALID_VALUE;
    else if (launch->attribute_count != 0)
        result = check_attributes(function, launch);
    if (result == CUDA_SUCCESS && launch->extra)
        result = launch->parameters ? CUDA_ERROR_INVALID_VALUE : read_extra(function, launch->extra, source);
    else if (result == CUDA_SUCCESS && !launch->parameters && function->parameters != 0)
        result = CUDA_ERROR_INVALID_VALUE;
    return result;
}

void launch_pack(const struct function *function, const struct parameter_source *source, unsigned char *to)
{
    const struct tessera_parameter *parameter = function->parameter;
    uint32_t count = source->packed ? 0 : function->parameters;
    if (source->packed) {
        memcpy(to, source->packed, source->packed_bytes);
        memset(to + source->packed_bytes, 0, function->parameter_bytes - source->packed_bytes);
    }
    for (uint32_t i = 0; i < count; i++) {
        const void *from = source->pointers[i];
        switch (parameter[i].size) { /* nearly all are of these sizes */
        case 8:
            memcpy(to + parameter[i].offset, from, 8);
            break;
        case 4:
            memcpy(to + parameter[i].offset, from, 4);
            break;
        default:
            memcpy(to + parameter[i].offset, from, parameter[i].size);
        }
    }
}

/* Records the events among the launch's attributes. They cover the kernel, and not the stream's work before it. */
static void record_events(const struct launch *launch, struct stream *stream)
{
    for (uint32_t i = 0; i < launch->attribute_count; i++) {
        uint32_t id = launch->attributes[i].id;
        if (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT || id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            event_recorded(event_of((CUevent)(uintptr_t)launch->attributes[i].value.event), stream, 0);
    }
}

CUresult launch_kernel(const struct launch *launch)
{
    struct relay_context *context;
    struct stream *stream;
    struct function *function;
    struct parameter_source source;
    uint64_t wire;
    CUresult result = stream_enter(launch->stream, &context, &stream);
    if (result == CUDA_SUCCESS)
        result = function_of(context, launch->function, &function, &wire);
    if (result == CUDA_SUCCESS)
        result = launch_check(function, launch, &source);
    if (result == CUDA_SUCCESS && __atomic_load_n(&stream->capture, __ATOMIC_RELAXED))
        result = capture_submit(stream);
    if (result == CUDA_SUCCESS && __atomic_load_n(&context->link->segment->call_error, __ATOMIC_RELAXED) != 0)
        result = relay_take_error(context->link);
    if (result != CUDA_SUCCESS)
        return result;
    size_t attribute_bytes = launch->attribute_count * sizeof *launch->attributes;
    struct relay_claimed claimed =
        relay_claim(context->link, TESSERA_RELAY_LAUNCH,
                    sizeof(struct tessera_launch) + attribute_bytes + function->parameter_bytes, RELAY_NO_END);
    if (__builtin_expect(!claimed.record, 0))
        return relay_link_state(context->link);
    claimed.record->context = context->number;
    claimed.record->flags = launch->cooperative ? TESSERA_RELAY_FLAG_COOPERATIVE : 0;
    struct tessera_launch *body = claimed.body;
    *body = (struct tessera_launch){
        .function = wire,
        .stream = stream->handle,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .shared_bytes = launch->shared_bytes,
        .attributes = launch->attribute_count,
        .parameter_bytes = function->parameter_bytes,
    };
    unsigned char *to = (unsigned char *)(body + 1);
    if (attribute_bytes)
        memcpy(to, launch->attributes, attribute_bytes);
    launch_pack(function, &source, to + attribute_bytes);
    relay_commit(context->link, claimed);
    stream_submitted_to(stream, claimed.span.end);
    relay_count(context->link, TESSERA_KIND_LAUNCH);
    if (launch->attribute_count != 0)
        record_events(launch, stream);
    return CUDA_SUCCESS;
}
