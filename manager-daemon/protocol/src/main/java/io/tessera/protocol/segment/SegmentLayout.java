package io.tessera.protocol.segment;

import static io.tessera.protocol.WireTypes.U32;
import static io.tessera.protocol.WireTypes.U64;
import static io.tessera.protocol.WireTypes.bytes;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;

/**
 * The shared segment of one client, described once: every struct with its fields in order, with the names of the C header. Offsets are derived from
 * these structs and never written a second time.
 *
 * <pre>
 *      0  header            magic, version (written last), ids, plan
 *     64  manager_heartbeat_ns                                  one cache line, manager
 *    128  client_heartbeat_ns, client_shares                    one cache line, client
 *    192  tenant, command
 *   4096  devices[16]       512 bytes each: identity, orders, gate, answers
 *  12288  counters[128]     process-wide, {@link CounterId}
 *  16384  threads[256]      256 bytes each: what every thread submitted
 *  81920  errors[64]        256 bytes each: distinct errors
 *  98304  residency[16]     512 bytes each: what of the client's memory is on the device, {@link ResidencyBlock}
 * 106496  reserved
 * 131072  end
 * </pre>
 *
 * <p>Constants only; immutable. All integers are little endian and naturally aligned.
 */
public final class SegmentLayout {
    /** First word of a segment: the letters TESSERA and a zero, in memory order. */
    public static final long MAGIC = 0x0041_5245_5353_4554L;
    /** Version of the segment and of the messages. */
    public static final int VERSION = 1;
    /** Number of device slots; slot = CUDA ordinal in the client. */
    public static final int MAX_DEVICES = 16;
    /** Number of thread slots; the last one is shared when all are taken. */
    public static final int MAX_THREADS = 256;
    /** Number of entries of {@code submitted} in a thread slot, for {@link SubmissionKind} and room to grow. */
    public static final int THREAD_COUNTERS = 14;
    /** Number of process-wide counters, for {@link CounterId} and room to grow. */
    public static final int COUNTERS = 128;
    /** Number of entries of the distinct-error log. */
    public static final int ERROR_ENTRIES = 64;
    /** Bytes of an error's text, with its terminating zero. */
    public static final int ERROR_TEXT_BYTES = 216;
    /** Bytes of a tenant's label and of a command, NUL-padded. */
    public static final int LABEL_BYTES = 64;
    /** Bytes of a device's name, NUL-padded. */
    public static final int DEVICE_NAME_BYTES = 64;
    /** Bytes of a device's UUID. */
    public static final int UUID_BYTES = 16;
    /** Bytes of the whole segment. */
    public static final int SEGMENT_BYTES = 131_072;

    /** {@code struct tessera_device}: one device of the client; see {@link DeviceBlock}. */
    public static final StructLayout DEVICE = MemoryLayout.structLayout(
            bytes(UUID_BYTES, "uuid"),
            U64.withName("total_bytes"),
            U32.withName("ordinal"),
            U32.withName("registered"),
            bytes(DEVICE_NAME_BYTES, "name"),
            bytes(32, "pad0"),
            U64.withName("turn"),
            U64.withName("quantum_ns"),
            U64.withName("pace_ns"),
            U64.withName("idle_release_ns"),
            U64.withName("flags"),
            U64.withName("limit_bytes"),
            U64.withName("tenant_elsewhere_bytes"),
            U64.withName("granted_bytes"),
            bytes(64, "pad1"),
            U64.withName("gate"),
            bytes(56, "pad2"),
            U64.withName("ack"),
            U64.withName("want_since_ns"),
            U64.withName("used_bytes"),
            U64.withName("peak_bytes"),
            U64.withName("managed_bytes"),
            U64.withName("turns"),
            U64.withName("drains"),
            U64.withName("drain_ns"),
            U64.withName("drain_max_ns"),
            U64.withName("drain_last_ns"),
            U64.withName("held_ns"),
            U64.withName("wait_ns"),
            U64.withName("busy_samples"),
            U64.withName("samples"),
            U64.withName("contexts"),
            U64.withName("capturing"),
            bytes(64, "pad3")).withName("tessera_device");

    /** {@code struct tessera_thread}: submissions of one thread of the client; see {@link ThreadSlot}. */
    public static final StructLayout THREAD = MemoryLayout.structLayout(
            U32.withName("tid"),
            U32.withName("inside"),
            U32.withName("syncing"),
            U32.withName("pad"),
            MemoryLayout.sequenceLayout(THREAD_COUNTERS, U64).withName("submitted"),
            MemoryLayout.sequenceLayout(MAX_DEVICES, U64).withName("device_submissions")).withName("tessera_thread");

    /** {@code struct tessera_error}: one distinct error; see {@link ErrorLogReader}. */
    public static final StructLayout ERROR = MemoryLayout.structLayout(
            U32.withName("ready"),
            U32.withName("code"),
            U64.withName("count"),
            U64.withName("first_ns"),
            U64.withName("last_ns"),
            bytes(8, "pad"),
            bytes(ERROR_TEXT_BYTES, "text")).withName("tessera_error");

    /** {@code struct tessera_residency}: the client's memory on a device; see {@link ResidencyBlock}. */
    public static final StructLayout RESIDENCY = MemoryLayout.structLayout(
            U64.withName("active"),
            U64.withName("resident_target"),
            U64.withName("guarantee_bytes"),
            U64.withName("pinned_target"),
            U64.withName("pageable_target"),
            U64.withName("capacity_bytes"),
            U64.withName("flags"),
            U64.withName("resident_limit"),
            U64.withName("resident_bytes"),
            U64.withName("needed_bytes"),
            U64.withName("swappable_bytes"),
            U64.withName("fixed_bytes"),
            U64.withName("cached_bytes"),
            U64.withName("pinned_held"),
            U64.withName("pageable_held"),
            U64.withName("file_held"),
            U64.withName("pinned_wanted"),
            U64.withName("pageable_wanted"),
            U64.withName("resident_wanted"),
            U64.withName("state"),
            U64.withName("swapped_bytes"),
            U64.withName("guarantee_wanted"),
            U64.withName("file_limit"),
            U64.withName("plan_choice"),
            U64.withName("moved_in_bytes"),
            U64.withName("moved_out_bytes"),
            U64.withName("move_in_ns"),
            U64.withName("move_out_ns"),
            U64.withName("moves_in"),
            U64.withName("moves_out"),
            U64.withName("move_failures"),
            U64.withName("dropped_bytes"),
            U64.withName("driver_free"),
            U64.withName("driver_free_ns"),
            U64.withName("refusals"),
            U64.withName("refused_free"),
            U64.withName("settled_chunks"),
            U64.withName("claimed_bytes"),
            U64.withName("zero_bytes"),
            U64.withName("clean_bytes"),
            U64.withName("spared_bytes"),
            U64.withName("cleared_bytes"),
            bytes(176, "reserved")).withName("tessera_residency");

    /** {@code struct tessera_segment}: the whole segment; see {@link SegmentHeader} for its first page. */
    public static final StructLayout SEGMENT = MemoryLayout.structLayout(
            U64.withName("magic"),
            U32.withName("version"),
            U32.withName("device_slots"),
            U64.withName("segment_bytes"),
            U64.withName("client_id"),
            U32.withName("client_pid"),
            U32.withName("manager_pid"),
            U64.withName("client_start_ticks"),
            U64.withName("manager_start_ns"),
            U32.withName("plan"),
            U32.withName("thread_slots"),
            U64.withName("manager_heartbeat_ns"),
            bytes(56, "pad0"),
            U64.withName("client_heartbeat_ns"),
            U64.withName("client_shares"),
            bytes(48, "pad1"),
            bytes(LABEL_BYTES, "tenant"),
            bytes(LABEL_BYTES, "command"),
            bytes(3776, "pad2"),
            MemoryLayout.sequenceLayout(MAX_DEVICES, DEVICE).withName("devices"),
            MemoryLayout.sequenceLayout(COUNTERS, U64).withName("counters"),
            bytes(3072, "pad3"),
            MemoryLayout.sequenceLayout(MAX_THREADS, THREAD).withName("threads"),
            MemoryLayout.sequenceLayout(ERROR_ENTRIES, ERROR).withName("errors"),
            MemoryLayout.sequenceLayout(MAX_DEVICES, RESIDENCY).withName("residency"),
            bytes(24_576, "reserved")).withName("tessera_segment");

    /** Offset of the device slots in the segment. */
    public static final long DEVICES_OFFSET = offset(SEGMENT, "devices");
    /** Offset of the process-wide counters in the segment. */
    public static final long COUNTERS_OFFSET = offset(SEGMENT, "counters");
    /** Offset of the thread slots in the segment. */
    public static final long THREADS_OFFSET = offset(SEGMENT, "threads");
    /** Offset of the distinct-error log in the segment. */
    public static final long ERRORS_OFFSET = offset(SEGMENT, "errors");

    /** Offset of the residency blocks in the segment. */
    public static final long RESIDENCY_OFFSET = offset(SEGMENT, "residency");

    private SegmentLayout() {
    }

    /**
     * Returns the offset of a named field in one of the structs, in bytes.
     *
     * @throws IllegalArgumentException if the struct has no such field
     */
    public static long offset(StructLayout struct, String field) {
        return struct.byteOffset(PathElement.groupElement(field));
    }
}
