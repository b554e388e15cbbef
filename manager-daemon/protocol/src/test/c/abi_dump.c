/*
 * Prints what the C compiler makes of tessera_abi.h, for AbiParityTest to compare with the Java layout:
 *   struct NAME bytes
 *   field NAME.FIELD offset bytes
 *   constant NAME value
 * The test also reads the header and fails when a name of it is missing here.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tessera_abi.h"

#define STRUCT(type) printf("struct %s %zu\n", #type, sizeof(struct type))
#define FIELD(type, member)                                                                                            \
    printf("field %s.%s %zu %zu\n", #type, #member, offsetof(struct type, member), sizeof(((struct type *)0)->member))
#define CONSTANT(name) printf("constant %s %" PRIu64 "\n", #name, (uint64_t)(name))

static void device(void)
{
    STRUCT(tessera_device);
    FIELD(tessera_device, uuid);
    FIELD(tessera_device, total_bytes);
    FIELD(tessera_device, ordinal);
    FIELD(tessera_device, registered);
    FIELD(tessera_device, name);
    FIELD(tessera_device, pad0);
    FIELD(tessera_device, turn);
    FIELD(tessera_device, quantum_ns);
    FIELD(tessera_device, pace_ns);
    FIELD(tessera_device, idle_release_ns);
    FIELD(tessera_device, flags);
    FIELD(tessera_device, limit_bytes);
    FIELD(tessera_device, tenant_elsewhere_bytes);
    FIELD(tessera_device, granted_bytes);
    FIELD(tessera_device, pad1);
    FIELD(tessera_device, gate);
    FIELD(tessera_device, pad2);
    FIELD(tessera_device, ack);
    FIELD(tessera_device, want_since_ns);
    FIELD(tessera_device, used_bytes);
    FIELD(tessera_device, peak_bytes);
    FIELD(tessera_device, managed_bytes);
    FIELD(tessera_device, turns);
    FIELD(tessera_device, drains);
    FIELD(tessera_device, drain_ns);
    FIELD(tessera_device, drain_max_ns);
    FIELD(tessera_device, drain_last_ns);
    FIELD(tessera_device, held_ns);
    FIELD(tessera_device, wait_ns);
    FIELD(tessera_device, busy_samples);
    FIELD(tessera_device, samples);
    FIELD(tessera_device, contexts);
    FIELD(tessera_device, capturing);
    FIELD(tessera_device, pad3);
}

static void thread(void)
{
    STRUCT(tessera_thread);
    FIELD(tessera_thread, tid);
    FIELD(tessera_thread, inside);
    FIELD(tessera_thread, syncing);
    FIELD(tessera_thread, pad);
    FIELD(tessera_thread, submitted);
    FIELD(tessera_thread, device_submissions);
}

static void error(void)
{
    STRUCT(tessera_error);
    FIELD(tessera_error, ready);
    FIELD(tessera_error, code);
    FIELD(tessera_error, count);
    FIELD(tessera_error, first_ns);
    FIELD(tessera_error, last_ns);
    FIELD(tessera_error, pad);
    FIELD(tessera_error, text);
}

static void residency(void)
{
    STRUCT(tessera_residency);
    FIELD(tessera_residency, active);
    FIELD(tessera_residency, resident_target);
    FIELD(tessera_residency, guarantee_bytes);
    FIELD(tessera_residency, pinned_target);
    FIELD(tessera_residency, pageable_target);
    FIELD(tessera_residency, capacity_bytes);
    FIELD(tessera_residency, flags);
    FIELD(tessera_residency, resident_limit);
    FIELD(tessera_residency, resident_bytes);
    FIELD(tessera_residency, needed_bytes);
    FIELD(tessera_residency, swappable_bytes);
    FIELD(tessera_residency, fixed_bytes);
    FIELD(tessera_residency, cached_bytes);
    FIELD(tessera_residency, pinned_held);
    FIELD(tessera_residency, pageable_held);
    FIELD(tessera_residency, file_held);
    FIELD(tessera_residency, pinned_wanted);
    FIELD(tessera_residency, pageable_wanted);
    FIELD(tessera_residency, resident_wanted);
    FIELD(tessera_residency, state);
    FIELD(tessera_residency, swapped_bytes);
    FIELD(tessera_residency, guarantee_wanted);
    FIELD(tessera_residency, file_limit);
    FIELD(tessera_residency, plan_choice);
    FIELD(tessera_residency, moved_in_bytes);
    FIELD(tessera_residency, moved_out_bytes);
    FIELD(tessera_residency, move_in_ns);
    FIELD(tessera_residency, move_out_ns);
    FIELD(tessera_residency, moves_in);
    FIELD(tessera_residency, moves_out);
    FIELD(tessera_residency, move_failures);
    FIELD(tessera_residency, dropped_bytes);
    FIELD(tessera_residency, driver_free);
    FIELD(tessera_residency, driver_free_ns);
    FIELD(tessera_residency, refusals);
    FIELD(tessera_residency, refused_free);
    FIELD(tessera_residency, settled_chunks);
    FIELD(tessera_residency, claimed_bytes);
    FIELD(tessera_residency, zero_bytes);
    FIELD(tessera_residency, clean_bytes);
    FIELD(tessera_residency, spared_bytes);
    FIELD(tessera_residency, cleared_bytes);
    FIELD(tessera_residency, reserved);
}

static void segment(void)
{
    STRUCT(tessera_segment);
    FIELD(tessera_segment, magic);
    FIELD(tessera_segment, version);
    FIELD(tessera_segment, device_slots);
    FIELD(tessera_segment, segment_bytes);
    FIELD(tessera_segment, client_id);
    FIELD(tessera_segment, client_pid);
    FIELD(tessera_segment, manager_pid);
    FIELD(tessera_segment, client_start_ticks);
    FIELD(tessera_segment, manager_start_ns);
    FIELD(tessera_segment, plan);
    FIELD(tessera_segment, thread_slots);
    FIELD(tessera_segment, manager_heartbeat_ns);
    FIELD(tessera_segment, pad0);
    FIELD(tessera_segment, client_heartbeat_ns);
    FIELD(tessera_segment, client_shares);
    FIELD(tessera_segment, pad1);
    FIELD(tessera_segment, tenant);
    FIELD(tessera_segment, command);
    FIELD(tessera_segment, pad2);
    FIELD(tessera_segment, devices);
    FIELD(tessera_segment, counters);
    FIELD(tessera_segment, pad3);
    FIELD(tessera_segment, threads);
    FIELD(tessera_segment, errors);
    FIELD(tessera_segment, residency);
    FIELD(tessera_segment, reserved);
}

static void messages(void)
{
    STRUCT(tessera_message);
    FIELD(tessera_message, magic);
    FIELD(tessera_message, type);
    FIELD(tessera_message, version);
    FIELD(tessera_message, bytes);
    FIELD(tessera_message, device);
    STRUCT(tessera_hello);
    FIELD(tessera_hello, head);
    FIELD(tessera_hello, pid);
    FIELD(tessera_hello, plan);
    FIELD(tessera_hello, start_ticks);
    FIELD(tessera_hello, limit_bytes);
    FIELD(tessera_hello, tenant);
    FIELD(tessera_hello, command);
    STRUCT(tessera_welcome);
    FIELD(tessera_welcome, head);
    FIELD(tessera_welcome, client_id);
    FIELD(tessera_welcome, segment_bytes);
    STRUCT(tessera_refused);
    FIELD(tessera_refused, head);
    FIELD(tessera_refused, code);
    FIELD(tessera_refused, pad);
    FIELD(tessera_refused, reason);
    STRUCT(tessera_device_message);
    FIELD(tessera_device_message, head);
    FIELD(tessera_device_message, uuid);
    FIELD(tessera_device_message, total_bytes);
    FIELD(tessera_device_message, ordinal);
    FIELD(tessera_device_message, pad);
    FIELD(tessera_device_message, name);
    STRUCT(tessera_doorbell);
    FIELD(tessera_doorbell, head);
    STRUCT(tessera_quota);
    FIELD(tessera_quota, head);
    FIELD(tessera_quota, bytes);
    STRUCT(tessera_exchange);
    FIELD(tessera_exchange, head);
    FIELD(tessera_exchange, end);
    FIELD(tessera_exchange, pad);
    STRUCT(tessera_sharing_ask);
    FIELD(tessera_sharing_ask, head);
    FIELD(tessera_sharing_ask, tenant);
    STRUCT(tessera_sharing);
    FIELD(tessera_sharing, head);
    FIELD(tessera_sharing, space);
    FIELD(tessera_sharing, pad);
    FIELD(tessera_sharing, reason);
    STRUCT(tessera_shortage);
    FIELD(tessera_shortage, head);
    FIELD(tessera_shortage, reason);
}

static void segment_constants(void)
{
    CONSTANT(TESSERA_ABI_MAGIC);
    CONSTANT(TESSERA_ABI_VERSION);
    CONSTANT(TESSERA_MAX_DEVICES);
    CONSTANT(TESSERA_MAX_THREADS);
    CONSTANT(TESSERA_THREAD_COUNTERS);
    CONSTANT(TESSERA_COUNTERS);
    CONSTANT(TESSERA_ERROR_ENTRIES);
    CONSTANT(TESSERA_ERROR_TEXT);
    CONSTANT(TESSERA_LABEL);
    CONSTANT(TESSERA_DEVICE_NAME);
    CONSTANT(TESSERA_SEGMENT_BYTES);
    CONSTANT(TESSERA_TURN_CLOSED);
    CONSTANT(TESSERA_TURN_FREE);
    CONSTANT(TESSERA_TURN_GRANTED);
    CONSTANT(TESSERA_ACK_CLOSED);
    CONSTANT(TESSERA_ACK_OPEN);
    CONSTANT(TESSERA_ACK_DRAINING);
    CONSTANT(TESSERA_ACK_RELEASED);
    CONSTANT(TESSERA_DEVICE_CONTENDED);
    CONSTANT(TESSERA_DEVICE_SAMPLE);
    CONSTANT(TESSERA_PLAN_PLAIN);
    CONSTANT(TESSERA_PLAN_MANAGED);
    CONSTANT(TESSERA_PLAN_RELAY);
    CONSTANT(TESSERA_PLAN_SWAP);
    CONSTANT(TESSERA_RESIDENCY_PARKED);
    CONSTANT(TESSERA_RESIDENCY_CHECKPOINTED);
    CONSTANT(TESSERA_RESIDENCY_SHORT);
    CONSTANT(TESSERA_RESIDENCY_SUSPENDED);
    CONSTANT(TESSERA_CHOICE_AUTO);
    CONSTANT(TESSERA_CHOICE_UNMAPPED);
    CONSTANT(TESSERA_CHOICE_UNPAGED);
    CONSTANT(TESSERA_CHOICE_EXPORTED);
    CONSTANT(TESSERA_SHARES_TAKEN);
    CONSTANT(TESSERA_SHARES_GIVEN);
    CONSTANT(TESSERA_SHARES_PIECES);
    CONSTANT(TESSERA_SHARES_CALL);
    CONSTANT(TESSERA_CHOICE_DEVICES);
    CONSTANT(TESSERA_RESIDENCY_STEADY);
    CONSTANT(TESSERA_RESIDENCY_MOVING_OUT);
    CONSTANT(TESSERA_RESIDENCY_MOVING_IN);
    CONSTANT(TESSERA_KIND_LAUNCH);
    CONSTANT(TESSERA_KIND_GRAPH_LAUNCH);
    CONSTANT(TESSERA_KIND_COPY);
    CONSTANT(TESSERA_KIND_MEMSET);
    CONSTANT(TESSERA_KIND_HOST_FUNCTION);
    CONSTANT(TESSERA_KIND_MEMORY_OP);
    CONSTANT(TESSERA_KIND_PREFETCH);
    CONSTANT(TESSERA_KIND_CAPTURE);
}

static void counters(void)
{
    CONSTANT(TESSERA_COUNTER_ALLOCATIONS);
    CONSTANT(TESSERA_COUNTER_FREES);
    CONSTANT(TESSERA_COUNTER_LIMIT_REFUSALS);
    CONSTANT(TESSERA_COUNTER_MANAGED_CONVERSIONS);
    CONSTANT(TESSERA_COUNTER_MANAGED_FALLBACKS);
    CONSTANT(TESSERA_COUNTER_EXPORTED);
    CONSTANT(TESSERA_COUNTER_EXPORT_REFUSALS);
    CONSTANT(TESSERA_COUNTER_VMM_CREATES);
    CONSTANT(TESSERA_COUNTER_HOST_PINNED_BYTES);
    CONSTANT(TESSERA_COUNTER_LOOKUPS);
    CONSTANT(TESSERA_COUNTER_SUBSTITUTIONS);
    CONSTANT(TESSERA_COUNTER_SYNCHRONISATIONS);
    CONSTANT(TESSERA_COUNTER_SYNCHRONISE_NS);
    CONSTANT(TESSERA_COUNTER_GATE_WAITS);
    CONSTANT(TESSERA_COUNTER_GATE_WAIT_NS);
    CONSTANT(TESSERA_COUNTER_PACE_WAITS);
    CONSTANT(TESSERA_COUNTER_PACE_WAIT_NS);
    CONSTANT(TESSERA_COUNTER_RECONNECTS);
    CONSTANT(TESSERA_COUNTER_UNGATED);
    CONSTANT(TESSERA_COUNTER_CAPTURES);
    CONSTANT(TESSERA_COUNTER_EARLY_RELEASES);
    CONSTANT(TESSERA_COUNTER_IMPORTED);
    CONSTANT(TESSERA_COUNTER_UNTRACKED_FREES);
}

static void message_constants(void)
{
    CONSTANT(TESSERA_MESSAGE_MAGIC);
    CONSTANT(TESSERA_MSG_HELLO);
    CONSTANT(TESSERA_MSG_WELCOME);
    CONSTANT(TESSERA_MSG_REFUSED);
    CONSTANT(TESSERA_MSG_DEVICE);
    CONSTANT(TESSERA_MSG_DOORBELL);
    CONSTANT(TESSERA_MSG_QUOTA_ASK);
    CONSTANT(TESSERA_MSG_QUOTA_ANSWER);
    CONSTANT(TESSERA_MSG_QUOTA_TRIM);
    CONSTANT(TESSERA_MSG_QUOTA_RETURN);
    CONSTANT(TESSERA_MSG_EXCHANGE);
    CONSTANT(TESSERA_MSG_SHARING_ASK);
    CONSTANT(TESSERA_MSG_SHARING);
    CONSTANT(TESSERA_MSG_SHORTAGE);
    CONSTANT(TESSERA_EXCHANGE_GIVE);
    CONSTANT(TESSERA_EXCHANGE_TAKE);
    CONSTANT(TESSERA_EXCHANGE_ENDS);
    CONSTANT(TESSERA_REFUSED_VERSION);
    CONSTANT(TESSERA_REFUSED_MALFORMED);
    CONSTANT(TESSERA_REFUSED_STORAGE);
    CONSTANT(TESSERA_REFUSED_PEER);
    CONSTANT(TESSERA_REFUSED_FULL);
}

int main(void)
{
    device();
    thread();
    error();
    residency();
    segment();
    messages();
    segment_constants();
    counters();
    message_constants();
    return 0;
}
