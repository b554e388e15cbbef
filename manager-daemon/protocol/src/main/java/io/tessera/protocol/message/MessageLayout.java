package io.tessera.protocol.message;

import static io.tessera.protocol.WireTypes.U16;
import static io.tessera.protocol.WireTypes.U32;
import static io.tessera.protocol.WireTypes.U64;
import static io.tessera.protocol.WireTypes.bytes;

import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.util.stream.Stream;

/**
 * The registration messages, described once with the names of the C header. One packet is one message and begins with {@link #HEADER}. Constants
 * only; immutable.
 */
public final class MessageLayout {
    /** First word of every message: the letters TSRA in memory order. */
    public static final int MAGIC = 0x4152_5354;
    /** Bytes of a refusal's sentence, NUL-padded. */
    public static final int REASON_BYTES = 232;
    /** Maximum length of a message; a receive buffer of this size and one byte more detects a longer packet. */
    public static final int MAX_BYTES = 384;

    /** {@code struct tessera_message}. */
    public static final StructLayout HEADER = MemoryLayout.structLayout(
            U32.withName("magic"),
            U16.withName("type"),
            U16.withName("version"),
            U32.withName("bytes"),
            U32.withName("device")).withName("tessera_message");

    /** {@code struct tessera_hello}. */
    public static final StructLayout HELLO = message("tessera_hello",
            U32.withName("pid"),
            U32.withName("plan"),
            U64.withName("start_ticks"),
            U64.withName("limit_bytes"),
            bytes(SegmentLayout.LABEL_BYTES, "tenant"),
            bytes(SegmentLayout.LABEL_BYTES, "command"));

    /** {@code struct tessera_welcome}; the packet carries the segment's descriptor. */
    public static final StructLayout WELCOME = message("tessera_welcome",
            U64.withName("client_id"),
            U64.withName("segment_bytes"));

    /** {@code struct tessera_refused}. */
    public static final StructLayout REFUSED = message("tessera_refused",
            U32.withName("code"),
            U32.withName("pad"),
            bytes(REASON_BYTES, "reason"));

    /** {@code struct tessera_device_message}. */
    public static final StructLayout DEVICE_MESSAGE = message("tessera_device_message",
            bytes(SegmentLayout.UUID_BYTES, "uuid"),
            U64.withName("total_bytes"),
            U32.withName("ordinal"),
            U32.withName("pad"),
            bytes(SegmentLayout.DEVICE_NAME_BYTES, "name"));

    /** {@code struct tessera_doorbell}. */
    public static final StructLayout DOORBELL = message("tessera_doorbell");

    /** {@code struct tessera_quota}. */
    public static final StructLayout QUOTA = message("tessera_quota",
            U64.withName("bytes"));

    /** {@code struct tessera_exchange}; the packet carries the end's descriptor. */
    public static final StructLayout EXCHANGE = message("tessera_exchange",
            U32.withName("end"),
            U32.withName("pad"));

    /** {@code struct tessera_sharing_ask}. */
    public static final StructLayout SHARING_ASK = message("tessera_sharing_ask",
            bytes(SegmentLayout.LABEL_BYTES, "tenant"));

    /** {@code struct tessera_sharing}. */
    public static final StructLayout SHARING = message("tessera_sharing",
            U32.withName("space"),
            U32.withName("pad"),
            bytes(REASON_BYTES, "reason"));

    /** {@code struct tessera_shortage}. */
    public static final StructLayout SHORTAGE = message("tessera_shortage",
            bytes(REASON_BYTES, "reason"));

    private MessageLayout() {
    }

    /** Returns a message: the header, followed by its fields. */
    static StructLayout message(String name, MemoryLayout... fields) {
        return MemoryLayout.structLayout(
                Stream.concat(Stream.of(HEADER.withName("head")), Stream.of(fields)).toArray(MemoryLayout[]::new)).withName(name);
    }
}
