package io.tessera.protocol;

import static io.tessera.protocol.WireTypes.U16;
import static io.tessera.protocol.WireTypes.U32;
import static io.tessera.protocol.WireTypes.U64;
import static io.tessera.protocol.WireTypes.bytes;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;

/**
 * The registration messages, described once under the names of the C header. One packet is one message and begins with
 * {@link #HEADER}. Constants only; immutable.
 */
public final class MessageLayout {
    /** First word of every message: the letters TSRA in memory order. */
    public static final int MAGIC = 0x4152_5354;
    /** Bytes of a refusal's sentence, NUL-padded. */
    public static final int REASON_BYTES = 232;
    /** No message is longer; a receive buffer of this size and one byte tells a longer packet. */
    public static final int MAX_BYTES = 384;

    /** {@code struct tessera_message}. */
    public static final StructLayout HEADER = MemoryLayout.structLayout(
            U32.withName("magic"),
            U16.withName("type"),
            U16.withName("version"),
            U32.withName("bytes"),
            U32.withName("device")).withName("tessera_message");

    /** {@code struct tessera_hello}. */
    public static final StructLayout HELLO = MemoryLayout.structLayout(
            HEADER.withName("head"),
            U32.withName("pid"),
            U32.withName("plan"),
            U64.withName("start_ticks"),
            U64.withName("limit_bytes"),
            bytes(SegmentLayout.LABEL_BYTES, "tenant"),
            bytes(SegmentLayout.LABEL_BYTES, "command")).withName("tessera_hello");

    /** {@code struct tessera_welcome}; the packet carries the segment's descriptor. */
    public static final StructLayout WELCOME = MemoryLayout.structLayout(
            HEADER.withName("head"),
            U64.withName("client_id"),
            U64.withName("segment_bytes")).withName("tessera_welcome");

    /** {@code struct tessera_refused}. */
    public static final StructLayout REFUSED = MemoryLayout.structLayout(
            HEADER.withName("head"),
            U32.withName("code"),
            U32.withName("pad"),
            bytes(REASON_BYTES, "reason")).withName("tessera_refused");

    /** {@code struct tessera_device_message}. */
    public static final StructLayout DEVICE_MESSAGE = MemoryLayout.structLayout(
            HEADER.withName("head"),
            bytes(SegmentLayout.UUID_BYTES, "uuid"),
            U64.withName("total_bytes"),
            U32.withName("ordinal"),
            U32.withName("pad"),
            bytes(SegmentLayout.DEVICE_NAME_BYTES, "name")).withName("tessera_device_message");

    /** {@code struct tessera_doorbell}. */
    public static final StructLayout DOORBELL = MemoryLayout.structLayout(
            HEADER.withName("head")).withName("tessera_doorbell");

    /** {@code struct tessera_quota}. */
    public static final StructLayout QUOTA = MemoryLayout.structLayout(
            HEADER.withName("head"),
            U64.withName("bytes")).withName("tessera_quota");

    private MessageLayout() {
    }
}
