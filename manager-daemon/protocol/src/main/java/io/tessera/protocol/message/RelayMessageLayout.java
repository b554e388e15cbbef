package io.tessera.protocol.message;

import static io.tessera.protocol.WireTypes.U32;
import static io.tessera.protocol.WireTypes.U64;
import static io.tessera.protocol.WireTypes.bytes;
import static io.tessera.protocol.message.MessageLayout.message;

import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.StructLayout;

/**
 * The messages of the relay (RELAY.md), described once with the names of {@code tessera_relay.h}. Constants only; immutable.
 */
public final class RelayMessageLayout {
    /** Bytes of a token, which a client that the manager announced shows to an executor. */
    public static final int TOKEN_BYTES = 16;
    /** Bytes of a socket's path, NUL-padded. */
    public static final int SOCKET_BYTES = 104;
    /** Bytes of a sentence, NUL-padded. */
    public static final int REASON_BYTES = 200;

    /** {@code struct tessera_relay_ask}. */
    public static final StructLayout ASK = message("tessera_relay_ask",
            U32.withName("fence"),
            U32.withName("unfenced"),
            U32.withName("fence_alone"),
            U32.withName("kernel_timeout_s"));

    /** {@code struct tessera_relay_answer}; the head's device is the number of the executor's device. */
    public static final StructLayout ANSWER = message("tessera_relay_answer",
            U32.withName("count"),
            U32.withName("software"),
            bytes(SegmentLayout.UUID_BYTES, "uuid"),
            bytes(TOKEN_BYTES, "token"),
            bytes(SOCKET_BYTES, "socket"),
            bytes(REASON_BYTES, "reason"));

    /** {@code struct tessera_relay_hello}. */
    public static final StructLayout HELLO = message("tessera_relay_hello",
            bytes(TOKEN_BYTES, "token"));

    /** {@code struct tessera_relay_welcome}; the packet carries the segment's descriptor. */
    public static final StructLayout WELCOME = message("tessera_relay_welcome",
            U64.withName("client_id"),
            U64.withName("segment_bytes"));

    /** {@code struct tessera_pin}. */
    public static final StructLayout PIN = message("tessera_pin",
            U64.withName("bytes"),
            U64.withName("not_below"));

    /** {@code struct tessera_pinned}; the packet carries the memory's descriptor unless result is not 0. */
    public static final StructLayout PINNED = message("tessera_pinned",
            U64.withName("id"),
            U64.withName("address"),
            U64.withName("bytes"),
            U32.withName("result"),
            U32.withName("pad"));

    /** {@code struct tessera_image}; the packet carries the file's descriptor. */
    public static final StructLayout IMAGE = message("tessera_image",
            U64.withName("offset"),
            U64.withName("bytes"));

    /** {@code struct tessera_image_taken}. */
    public static final StructLayout IMAGE_TAKEN = message("tessera_image_taken",
            U64.withName("number"),
            U32.withName("result"),
            U32.withName("pad"));

    private RelayMessageLayout() {
    }
}
