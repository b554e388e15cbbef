package io.tessera.protocol.relay;

import static io.tessera.protocol.WireTypes.U16;
import static io.tessera.protocol.WireTypes.U32;
import static io.tessera.protocol.WireTypes.U64;
import static io.tessera.protocol.WireTypes.bytes;

import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;

/**
 * The relay segment, described once: every struct with its fields in order, with the names of the C header. Offsets are derived from these structs
 * and never written a second time. Constants only; immutable. All integers are little endian and naturally aligned.
 */
public final class RelayLayout {
    /** First word of a segment: the letters TSRELAY and a zero, in memory order. */
    public static final long MAGIC = 0x0059_414c_4552_5354L;
    /** Version of the relay. */
    public static final int VERSION = 2;
    /** First word of in-data that stands for an image: the letters TSIM in memory order. */
    public static final int IMAGE_MAGIC = 0x4d49_5354;
    /** First word of an IPC handle: the letters TSIPC in memory order. */
    public static final long IPC_MAGIC = 0x43_5049_5354L;
    /** Bytes of the ring, a power of two. */
    public static final int RING_BYTES = 1 << 20;
    /** Longest record, header included. */
    public static final int RECORD_MAX = 131_072;
    /** Maximum in-data inside a CALL. */
    public static final int INLINE_MAX = 65_536;
    /** Maximum in-data of one call. */
    public static final long BULK_MAX = 1L << 31;
    /** Reply slots. */
    public static final int SLOTS = 64;
    /** Bytes of a reply slot. */
    public static final int SLOT_BYTES = 65_536;
    /** Maximum out-data of one reply. */
    public static final int REPLY_MAX = SLOT_BYTES - 64;
    /** Number of completion words. */
    public static final int WORDS = 16_384;
    /** Bytes of the buffer for device printf, a power of two. */
    public static final int PRINT_BYTES = 262_144;
    /** Bytes of sentences for the user of a client, NUL-padded. */
    public static final int NOTICE_BYTES = 2048;
    /** Number of device attributes, by their numbers in the driver interface. */
    public static final int ATTRIBUTES = 256;
    /** Number of context limits, by number. */
    public static final int LIMITS = 32;
    /** Number of function attributes, by number. */
    public static final int FUNCTION_ATTRIBUTES = 32;
    /** Maximum number of parameters of one kernel. */
    public static final int PARAMETERS = 1024;
    /** Bytes of a device's name. */
    public static final int NAME_BYTES = 256;
    /** Bytes of a PCI bus id. */
    public static final int PCI_BYTES = 32;
    /** Records begin at multiples of this. */
    public static final int RECORD_ALIGNMENT = 16;
    /** Handle in a MARK that means all streams of the record's context. */
    public static final long ALL_STREAMS = -1L;
    /** CALL: all in-data was sent ahead in BULK records. */
    public static final int FLAG_BULK = 1;
    /** LAUNCH: cooperative. */
    public static final int FLAG_COOPERATIVE = 2;
    /** MARK without a slot: the sender waits for it now. */
    public static final int FLAG_WAITED = 4;
    /** With {@link #FLAG_WAITED}: the program ends, and shows the lines written before the mark. */
    public static final int FLAG_LAST = 8;
    /** CONTEXT: a context is created. */
    public static final int CONTEXT_CREATE = 1;
    /** CONTEXT: a context is destroyed. */
    public static final int CONTEXT_DESTROY = 2;
    /** Bits that mark a handle. */
    public static final long HANDLE_TAG = 0x6000_0000_0000L;
    /** Bit of a pointer argument that is not null. */
    public static final long POINTER_PRESENT = 1L << 63;

    /** {@code struct tessera_record}. */
    public static final StructLayout RECORD = MemoryLayout.structLayout(
            U32.withName("length"),
            U16.withName("kind"),
            U16.withName("entry"),
            U32.withName("slot"),
            U16.withName("context"),
            U16.withName("flags")).withName("tessera_record");

    /** {@code struct tessera_launch}. */
    public static final StructLayout LAUNCH = MemoryLayout.structLayout(
            U64.withName("function"),
            U64.withName("stream"),
            bytes(12, "grid"),
            bytes(12, "block"),
            U32.withName("shared_bytes"),
            U32.withName("attributes"),
            U32.withName("parameter_bytes"),
            U32.withName("pad")).withName("tessera_launch");

    /** {@code struct tessera_bulk}. */
    public static final StructLayout BULK = MemoryLayout.structLayout(
            U32.withName("offset"),
            U32.withName("bytes")).withName("tessera_bulk");

    /** {@code struct tessera_mark}. */
    public static final StructLayout MARK = MemoryLayout.structLayout(
            U64.withName("handle"),
            U64.withName("value"),
            U32.withName("word"),
            U32.withName("pad")).withName("tessera_mark");

    /** {@code struct tessera_context_change}. */
    public static final StructLayout CONTEXT_CHANGE = MemoryLayout.structLayout(
            U32.withName("change"),
            U32.withName("flags")).withName("tessera_context_change");

    /** {@code struct tessera_parameter}. */
    public static final StructLayout PARAMETER = MemoryLayout.structLayout(
            U32.withName("offset"),
            U32.withName("size")).withName("tessera_parameter");

    /** {@code struct tessera_function_info}. */
    public static final StructLayout FUNCTION_INFO = MemoryLayout.structLayout(
            bytes(4L * FUNCTION_ATTRIBUTES, "attributes"),
            U64.withName("function"),
            U32.withName("valid"),
            U32.withName("parameter_bytes"),
            U32.withName("prints"),
            U32.withName("parameters"),
            MemoryLayout.sequenceLayout(PARAMETERS, PARAMETER).withName("parameter"))
            .withName("tessera_function_info");

    /** {@code struct tessera_memory_info}. */
    public static final StructLayout MEMORY_INFO = MemoryLayout.structLayout(
            U64.withName("free_bytes"),
            U64.withName("total_bytes"),
            U64.withName("used_bytes")).withName("tessera_memory_info");

    /** {@code struct tessera_ipc_handle}: a CUipcMemHandle or CUipcEventHandle. */
    public static final StructLayout IPC_HANDLE = MemoryLayout.structLayout(
            U64.withName("magic"),
            U64.withName("executor"),
            MemoryLayout.sequenceLayout(2, U64).withName("key"),
            U64.withName("bytes"),
            MemoryLayout.sequenceLayout(3, U64).withName("zero")).withName("tessera_ipc_handle");

    /** {@code struct tessera_image_reference}. */
    public static final StructLayout IMAGE_REFERENCE = MemoryLayout.structLayout(
            U32.withName("magic"),
            U32.withName("pad"),
            U64.withName("number")).withName("tessera_image_reference");

    /** {@code struct tessera_reply}. */
    public static final StructLayout REPLY = MemoryLayout.structLayout(
            U32.withName("sequence"),
            U32.withName("expected"),
            U32.withName("result"),
            U32.withName("bytes"),
            U32.withName("waiting"),
            bytes(44, "pad")).withName("tessera_reply");

    /** {@code struct tessera_relay_device}. */
    public static final StructLayout DEVICE = MemoryLayout.structLayout(
            bytes(SegmentLayout.UUID_BYTES, "uuid"),
            bytes(NAME_BYTES, "name"),
            bytes(PCI_BYTES, "pci_bus_id"),
            U64.withName("total_bytes"),
            U32.withName("driver_version"),
            U32.withName("least_priority"),
            U32.withName("greatest_priority"),
            U32.withName("software"),
            bytes(8, "luid"),
            U32.withName("node_mask"),
            U32.withName("has_luid"),
            bytes(4L * ATTRIBUTES, "attributes"),
            bytes(ATTRIBUTES, "attribute_valid"),
            bytes(8L * LIMITS, "limits"),
            U32.withName("limit_valid"),
            U32.withName("cache_config"),
            U64.withName("exec_affinity_sms")).withName("tessera_relay_device");

    /** {@code struct tessera_relay_segment}. */
    public static final StructLayout SEGMENT = MemoryLayout.structLayout(
            U64.withName("magic"),
            U32.withName("version"),
            U32.withName("executor_pid"),
            U64.withName("segment_bytes"),
            U64.withName("client_id"),
            U32.withName("ring_bytes"),
            U32.withName("slots"),
            U32.withName("words"),
            U32.withName("entries"),
            bytes(16, "pad0"),
            U64.withName("executor_heartbeat_ns"),
            U32.withName("context_error"),
            U32.withName("ended"),
            bytes(48, "pad1"),
            U64.withName("consumed"),
            bytes(56, "pad2"),
            U32.withName("parked"),
            U32.withName("call_error"),
            bytes(56, "pad3"),
            U64.withName("claimed"),
            bytes(56, "pad4"),
            U64.withName("printed"),
            bytes(56, "pad5"),
            U64.withName("print_taken"),
            bytes(56, "pad6"),
            U64.withName("client_heartbeat_ns"),
            bytes(56, "pad7"),
            U32.withName("notice_bytes"),
            U32.withName("time_share"),
            bytes(56, "pad8"),
            bytes(NOTICE_BYTES, "notice"),
            bytes(4096 - 576 - NOTICE_BYTES, "pad10"),
            DEVICE.withName("device"),
            bytes(4096 - DEVICE.byteSize(), "pad9"),
            bytes(PRINT_BYTES, "print"),
            bytes(8L * WORDS, "word"),
            bytes(RING_BYTES, "ring"),
            bytes((long) SLOTS * SLOT_BYTES, "reply")).withName("tessera_relay_segment");

    private RelayLayout() {
    }

    /** Returns the length of a record with this many bytes after its header, rounded as in a claim. */
    public static int recordBytes(int bodyBytes) {
        return align((int) RECORD.byteSize() + bodyBytes, RECORD_ALIGNMENT);
    }

    /** Rounds up to a power of two. */
    public static int align(int bytes, int alignment) {
        return bytes + alignment - 1 & -alignment;
    }

    /** Rounds up to a power of two. */
    public static long align(long bytes, long alignment) {
        return bytes + alignment - 1 & -alignment;
    }
}
