/*
 * Prints what the C compiler makes of tessera_relay.h, for RelayParityTest to compare with the Java layout; see abi_dump.c.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tessera_relay.h"

#define STRUCT(type) printf("struct %s %zu\n", #type, sizeof(struct type))
#define FIELD(type, member)                                                                                            \
    printf("field %s.%s %zu %zu\n", #type, #member, offsetof(struct type, member), sizeof(((struct type *)0)->member))
#define CONSTANT(name) printf("constant %s %" PRIu64 "\n", #name, (uint64_t)(name))

static void device(void)
{
    STRUCT(tessera_relay_device);
    FIELD(tessera_relay_device, uuid);
    FIELD(tessera_relay_device, name);
    FIELD(tessera_relay_device, pci_bus_id);
    FIELD(tessera_relay_device, total_bytes);
    FIELD(tessera_relay_device, driver_version);
    FIELD(tessera_relay_device, least_priority);
    FIELD(tessera_relay_device, greatest_priority);
    FIELD(tessera_relay_device, software);
    FIELD(tessera_relay_device, luid);
    FIELD(tessera_relay_device, node_mask);
    FIELD(tessera_relay_device, has_luid);
    FIELD(tessera_relay_device, attributes);
    FIELD(tessera_relay_device, attribute_valid);
    FIELD(tessera_relay_device, limits);
    FIELD(tessera_relay_device, limit_valid);
    FIELD(tessera_relay_device, cache_config);
    FIELD(tessera_relay_device, exec_affinity_sms);
}

static void segment(void)
{
    STRUCT(tessera_reply);
    FIELD(tessera_reply, sequence);
    FIELD(tessera_reply, expected);
    FIELD(tessera_reply, result);
    FIELD(tessera_reply, bytes);
    FIELD(tessera_reply, waiting);
    FIELD(tessera_reply, pad);
    STRUCT(tessera_relay_segment);
    FIELD(tessera_relay_segment, magic);
    FIELD(tessera_relay_segment, version);
    FIELD(tessera_relay_segment, executor_pid);
    FIELD(tessera_relay_segment, segment_bytes);
    FIELD(tessera_relay_segment, client_id);
    FIELD(tessera_relay_segment, ring_bytes);
    FIELD(tessera_relay_segment, slots);
    FIELD(tessera_relay_segment, words);
    FIELD(tessera_relay_segment, entries);
    FIELD(tessera_relay_segment, pad0);
    FIELD(tessera_relay_segment, executor_heartbeat_ns);
    FIELD(tessera_relay_segment, context_error);
    FIELD(tessera_relay_segment, ended);
    FIELD(tessera_relay_segment, pad1);
    FIELD(tessera_relay_segment, consumed);
    FIELD(tessera_relay_segment, pad2);
    FIELD(tessera_relay_segment, parked);
    FIELD(tessera_relay_segment, call_error);
    FIELD(tessera_relay_segment, pad3);
    FIELD(tessera_relay_segment, claimed);
    FIELD(tessera_relay_segment, pad4);
    FIELD(tessera_relay_segment, printed);
    FIELD(tessera_relay_segment, pad5);
    FIELD(tessera_relay_segment, print_taken);
    FIELD(tessera_relay_segment, pad6);
    FIELD(tessera_relay_segment, client_heartbeat_ns);
    FIELD(tessera_relay_segment, pad7);
    FIELD(tessera_relay_segment, notice_bytes);
    FIELD(tessera_relay_segment, time_share);
    FIELD(tessera_relay_segment, pad8);
    FIELD(tessera_relay_segment, notice);
    FIELD(tessera_relay_segment, pad10);
    FIELD(tessera_relay_segment, device);
    FIELD(tessera_relay_segment, pad9);
    FIELD(tessera_relay_segment, print);
    FIELD(tessera_relay_segment, word);
    FIELD(tessera_relay_segment, ring);
    FIELD(tessera_relay_segment, reply);
}

static void records(void)
{
    STRUCT(tessera_record);
    FIELD(tessera_record, length);
    FIELD(tessera_record, kind);
    FIELD(tessera_record, entry);
    FIELD(tessera_record, slot);
    FIELD(tessera_record, context);
    FIELD(tessera_record, flags);
    STRUCT(tessera_launch);
    FIELD(tessera_launch, function);
    FIELD(tessera_launch, stream);
    FIELD(tessera_launch, grid);
    FIELD(tessera_launch, block);
    FIELD(tessera_launch, shared_bytes);
    FIELD(tessera_launch, attributes);
    FIELD(tessera_launch, parameter_bytes);
    FIELD(tessera_launch, pad);
    STRUCT(tessera_bulk);
    FIELD(tessera_bulk, offset);
    FIELD(tessera_bulk, bytes);
    STRUCT(tessera_mark);
    FIELD(tessera_mark, handle);
    FIELD(tessera_mark, value);
    FIELD(tessera_mark, word);
    FIELD(tessera_mark, pad);
    STRUCT(tessera_context_change);
    FIELD(tessera_context_change, change);
    FIELD(tessera_context_change, flags);
    STRUCT(tessera_parameter);
    FIELD(tessera_parameter, offset);
    FIELD(tessera_parameter, size);
    STRUCT(tessera_function_info);
    FIELD(tessera_function_info, attributes);
    FIELD(tessera_function_info, function);
    FIELD(tessera_function_info, valid);
    FIELD(tessera_function_info, parameter_bytes);
    FIELD(tessera_function_info, prints);
    FIELD(tessera_function_info, parameters);
    FIELD(tessera_function_info, parameter);
    STRUCT(tessera_image_reference);
    FIELD(tessera_image_reference, magic);
    FIELD(tessera_image_reference, pad);
    FIELD(tessera_image_reference, number);

    STRUCT(tessera_ipc_handle);
    FIELD(tessera_ipc_handle, magic);
    FIELD(tessera_ipc_handle, executor);
    FIELD(tessera_ipc_handle, key);
    FIELD(tessera_ipc_handle, bytes);
    FIELD(tessera_ipc_handle, zero);

    STRUCT(tessera_memory_info);
    FIELD(tessera_memory_info, free_bytes);
    FIELD(tessera_memory_info, total_bytes);
    FIELD(tessera_memory_info, used_bytes);
}

static void messages(void)
{
    STRUCT(tessera_relay_ask);
    FIELD(tessera_relay_ask, head);
    FIELD(tessera_relay_ask, fence);
    FIELD(tessera_relay_ask, unfenced);
    FIELD(tessera_relay_ask, fence_alone);
    FIELD(tessera_relay_ask, kernel_timeout_s);
    STRUCT(tessera_relay_answer);
    FIELD(tessera_relay_answer, head);
    FIELD(tessera_relay_answer, count);
    FIELD(tessera_relay_answer, software);
    FIELD(tessera_relay_answer, uuid);
    FIELD(tessera_relay_answer, token);
    FIELD(tessera_relay_answer, socket);
    FIELD(tessera_relay_answer, reason);
    STRUCT(tessera_relay_hello);
    FIELD(tessera_relay_hello, head);
    FIELD(tessera_relay_hello, token);
    STRUCT(tessera_relay_welcome);
    FIELD(tessera_relay_welcome, head);
    FIELD(tessera_relay_welcome, client_id);
    FIELD(tessera_relay_welcome, segment_bytes);
    STRUCT(tessera_pin);
    FIELD(tessera_pin, head);
    FIELD(tessera_pin, bytes);
    FIELD(tessera_pin, not_below);
    STRUCT(tessera_pinned);
    FIELD(tessera_pinned, head);
    FIELD(tessera_pinned, id);
    FIELD(tessera_pinned, address);
    FIELD(tessera_pinned, bytes);
    FIELD(tessera_pinned, result);
    FIELD(tessera_pinned, pad);

    STRUCT(tessera_image);
    FIELD(tessera_image, head);
    FIELD(tessera_image, offset);
    FIELD(tessera_image, bytes);

    STRUCT(tessera_image_taken);
    FIELD(tessera_image_taken, head);
    FIELD(tessera_image_taken, number);
    FIELD(tessera_image_taken, result);
    FIELD(tessera_image_taken, pad);
}

static void constants(void)
{
    CONSTANT(TESSERA_RELAY_MAGIC);
    CONSTANT(TESSERA_RELAY_VERSION);
    CONSTANT(TESSERA_RELAY_IPC_MAGIC);
    CONSTANT(TESSERA_RELAY_IMAGE_MAGIC);
    CONSTANT(TESSERA_RELAY_RING_BYTES);
    CONSTANT(TESSERA_RELAY_RECORD_MAX);
    CONSTANT(TESSERA_RELAY_INLINE_MAX);
    CONSTANT(TESSERA_RELAY_BULK_MAX);
    CONSTANT(TESSERA_RELAY_SLOTS);
    CONSTANT(TESSERA_RELAY_SLOT_BYTES);
    CONSTANT(TESSERA_RELAY_REPLY_MAX);
    CONSTANT(TESSERA_RELAY_WORDS);
    CONSTANT(TESSERA_RELAY_PRINT_BYTES);
    CONSTANT(TESSERA_RELAY_NOTICE_BYTES);
    CONSTANT(TESSERA_RELAY_ATTRIBUTES);
    CONSTANT(TESSERA_RELAY_LIMITS);
    CONSTANT(TESSERA_RELAY_FUNCTION_ATTRIBUTES);
    CONSTANT(TESSERA_RELAY_PARAMETERS);
    CONSTANT(TESSERA_RELAY_ALL_STREAMS);
    CONSTANT(TESSERA_HANDLE_TAG);
    CONSTANT(TESSERA_RELAY_TOKEN);
    CONSTANT(TESSERA_RELAY_WAIT);
}

static void enumerations(void)
{
    CONSTANT(TESSERA_RELAY_PADDING);
    CONSTANT(TESSERA_RELAY_CALL);
    CONSTANT(TESSERA_RELAY_LAUNCH);
    CONSTANT(TESSERA_RELAY_BULK);
    CONSTANT(TESSERA_RELAY_MARK);
    CONSTANT(TESSERA_RELAY_WATCH_EVENT);
    CONSTANT(TESSERA_RELAY_HOST_CALL);
    CONSTANT(TESSERA_RELAY_CONTEXT);
    CONSTANT(TESSERA_RELAY_QUERY);
    CONSTANT(TESSERA_RELAY_FLAG_BULK);
    CONSTANT(TESSERA_RELAY_FLAG_COOPERATIVE);
    CONSTANT(TESSERA_RELAY_FLAG_WAITED);
    CONSTANT(TESSERA_RELAY_FLAG_LAST);
    CONSTANT(TESSERA_CONTEXT_CREATE);
    CONSTANT(TESSERA_CONTEXT_DESTROY);
    CONSTANT(TESSERA_QUERY_FUNCTION);
    CONSTANT(TESSERA_QUERY_PINNED);
    CONSTANT(TESSERA_QUERY_UNPIN);
    CONSTANT(TESSERA_QUERY_MEMORY);
    CONSTANT(TESSERA_HANDLE_CONTEXT);
    CONSTANT(TESSERA_HANDLE_STREAM);
    CONSTANT(TESSERA_HANDLE_EVENT);
    CONSTANT(TESSERA_HANDLE_MODULE);
    CONSTANT(TESSERA_HANDLE_FUNCTION);
    CONSTANT(TESSERA_HANDLE_LIBRARY);
    CONSTANT(TESSERA_HANDLE_KERNEL);
    CONSTANT(TESSERA_HANDLE_POOL);
    CONSTANT(TESSERA_HANDLE_ALLOCATION);
    CONSTANT(TESSERA_HANDLE_ARRAY);
    CONSTANT(TESSERA_HANDLE_MIPMAP);
    CONSTANT(TESSERA_HANDLE_TEXTURE);
    CONSTANT(TESSERA_HANDLE_SURFACE);
    CONSTANT(TESSERA_HANDLE_TEXREF);
    CONSTANT(TESSERA_HANDLE_SURFREF);
    CONSTANT(TESSERA_HANDLE_GRAPH);
    CONSTANT(TESSERA_HANDLE_GRAPH_NODE);
    CONSTANT(TESSERA_HANDLE_GRAPH_EXEC);
    CONSTANT(TESSERA_HANDLE_LINKER);
    CONSTANT(TESSERA_HANDLE_USER_OBJECT);
    CONSTANT(TESSERA_HANDLE_GREEN_CONTEXT);
    CONSTANT(TESSERA_HANDLE_RESOURCE);
    CONSTANT(TESSERA_FENCE_MASK);
    CONSTANT(TESSERA_FENCE_MODULO);
    CONSTANT(TESSERA_FENCE_CHECK);
    CONSTANT(TESSERA_UNFENCED_REFUSE);
    CONSTANT(TESSERA_UNFENCED_TIME);
    CONSTANT(TESSERA_UNFENCED_TRUSTED);
    CONSTANT(TESSERA_UNFENCED_OWN);
    CONSTANT(TESSERA_MSG_RELAY_ASK);
    CONSTANT(TESSERA_MSG_RELAY_ANSWER);
    CONSTANT(TESSERA_MSG_RELAY_HELLO);
    CONSTANT(TESSERA_MSG_RELAY_WELCOME);
    CONSTANT(TESSERA_MSG_PIN);
    CONSTANT(TESSERA_MSG_PINNED);
    CONSTANT(TESSERA_MSG_IMAGE);
    CONSTANT(TESSERA_MSG_IMAGE_TAKEN);
}

int main(void)
{
    device();
    segment();
    records();
    messages();
    constants();
    enumerations();
    return 0;
}
