/* Sends the calls of the generated senders, with the arguments that their description names. */
#include "relay/memory/range.h"
#include "relay/streams/forward_call.h"
#include "relay/streams/capture.h"
#include "relay/streams/streams.h"
#include "relay/wire/call_description.h"
#include "relay/wire/message.h"

/* Whether the entry is one of the memsets; entries are in the order of their names. */
static bool is_memset(unsigned entry)
{
    return entry >= ENTRY_cuMemsetD16 && entry <= ENTRY_cuMemsetD8_v2_ptds;
}

/* Calls that may synchronise with the device. A capture forbids them to threads whose capture mode is not relaxed. */
static bool is_unsafe(unsigned entry)
{
    switch (entry) {
    case ENTRY_cuMemAllocPitch_v2:
    case ENTRY_cuMemFree_v2:
    case ENTRY_cuArrayCreate_v2:
    case ENTRY_cuArray3DCreate_v2:
    case ENTRY_cuArrayDestroy:
    case ENTRY_cuMipmappedArrayCreate:
    case ENTRY_cuMipmappedArrayDestroy:
        return true;
    default:
        return false;
    }
}

/*
 * The context of the call: the current one or, if a handle belongs to another device's executor, that device's primary
 * context.
 */
static CUresult caller_of(const struct relay_description *description, const uint64_t *arguments,
                          struct relay_context **context)
{
    CUresult result = relay_enter(context);
    if (result != CUDA_SUCCESS || relay_link_count == 1)
        return result;
    for (unsigned i = 0; i < description->parameters; i++) {
        struct relay_link *link = description->parameter[i].shape == RELAY_HANDLE ? relay_link_of(arguments[i]) : NULL;
        if (!link || link == (*context)->link)
            continue;
        *context = relay_primary(link);
        return __atomic_load_n(&(*context)->alive, __ATOMIC_ACQUIRE) ? relay_link_state(link)
                                                                     : CUDA_ERROR_INVALID_CONTEXT;
    }
    return CUDA_SUCCESS;
}

static CUresult handle(struct relay_context *context, const struct relay_parameter *parameter, uint64_t value,
                       struct message_argument *argument)
{
    *argument = VALUE(value);
    if (parameter->handle == TESSERA_HANDLE_STREAM) /* fails if its capture is invalid */
        return relay_stream_wire(context, (CUstream)(uintptr_t)value, false, &argument->value);
    return CUDA_SUCCESS;
}

static CUresult prepare(const struct relay_description *description, const uint64_t *arguments,
                        struct relay_context *context, struct message_argument *prepared)
{
    for (unsigned i = 0; i < description->parameters; i++) {
        const struct relay_parameter *parameter = &description->parameter[i];
        bool pointer = parameter->shape == RELAY_POINTER || parameter->shape == RELAY_STRUCTURE;
        if (parameter->shape == RELAY_HANDLE) {
            CUresult result = handle(context, parameter, arguments[i], &prepared[i]);
            if (result != CUDA_SUCCESS)
                return result;
            continue;
        }
        prepared[i] = VALUE(arguments[i]);
        if (!pointer || !arguments[i])
            continue;
        uint64_t bytes = relay_bytes(description, i, arguments);
        if (bytes > INT32_MAX) /* the most that an argument can state */
            return CUDA_ERROR_INVALID_VALUE;
        void *data = (void *)(uintptr_t)arguments[i];
        prepared[i] = (struct message_argument){.pointer = true};
        if (parameter->direction & RELAY_IN) {
            prepared[i].in = data;
            prepared[i].in_bytes = (uint32_t)bytes;
        }
        if (parameter->direction & RELAY_OUT) {
            prepared[i].out = data;
            prepared[i].out_bytes = (uint32_t)bytes;
        }
    }
    return CUDA_SUCCESS;
}

CUresult relay_call(const struct relay_description *description, const uint64_t *arguments)
{
    struct message_argument prepared[MESSAGE_MAX_ARGUMENTS];
    struct relay_context *context;
    CUresult result = caller_of(description, arguments, &context);
    if (result == CUDA_SUCCESS && capture_any() && is_unsafe(description->entry))
        result = capture_unsafe();
    if (result == CUDA_SUCCESS)
        result = prepare(description, arguments, context, prepared);
    if (result != CUDA_SUCCESS)
        return result;
    result = message_call(context, description->entry, prepared, description->parameters);
    if (description->stream != RELAY_NO_STREAM)
        relay_stream_submitted(context, prepared[description->stream].value);
    return result;
}

/* Whether this is a memset of unknown memory, whose error the program expects at once. */
static bool needs_answer(const struct relay_description *description, const uint64_t *arguments)
{
    struct relay_range range;
    return is_memset(description->entry) && !relay_range_find(arguments[0], &range);
}

CUresult relay_post(const struct relay_description *description, const uint64_t *arguments)
{
    struct message_argument prepared[MESSAGE_MAX_ARGUMENTS];
    struct relay_context *context;
    CUresult result = caller_of(description, arguments, &context);
    if (result == CUDA_SUCCESS)
        result = prepare(description, arguments, context, prepared);
    if (result == CUDA_SUCCESS)
        result = (needs_answer(description, arguments) ? message_call : message_post)(context, description->entry,
                                                                                      prepared, description->parameters);
    if (result == CUDA_SUCCESS && description->stream != RELAY_NO_STREAM) {
        relay_stream_submitted(context, prepared[description->stream].value);
        if (is_memset(description->entry))
            relay_count(context->link, TESSERA_KIND_MEMSET);
    }
    return result;
}
