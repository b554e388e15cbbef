package io.tessera.protocol;

import static io.tessera.protocol.SegmentLayout.offset;

import java.lang.foreign.MemorySegment;

/**
 * Encodes the relay's messages of all sides into a caller's buffer of at least {@link MessageLayout#MAX_BYTES}, 8-byte
 * aligned. Every method returns the length of the message. Stateless. A refusal is {@link MessageEncoder#refused}.
 */
public final class RelayMessageEncoder {
    private RelayMessageEncoder() {
    }

    /** RELAY_ASK. */
    public static int ask(MemorySegment to, FenceWish wish) {
        int bytes = MessageEncoder.begin(to, MessageType.RELAY_ASK, 0);
        to.set(WireTypes.U32, offset(RelayMessageLayout.ASK, "fence"), wish.fence().map(FenceChoice::code).orElse(0));
        to.set(WireTypes.U32, offset(RelayMessageLayout.ASK, "unfenced"),
                wish.unfenced().map(UnfencedPolicy::code).orElse(0));
        to.set(WireTypes.U32, offset(RelayMessageLayout.ASK, "fence_alone"), wish.fenceAlone() ? 1 : 0);
        to.set(WireTypes.U32, offset(RelayMessageLayout.ASK, "kernel_timeout_s"), wish.kernelTimeoutS());
        return bytes;
    }

    /** RELAY_ANSWER. */
    public static int answer(MemorySegment to, RelayAnswer answer) {
        int bytes = MessageEncoder.begin(to, MessageType.RELAY_ANSWER, answer.device());
        to.set(WireTypes.U32, offset(RelayMessageLayout.ANSWER, "count"), answer.count());
        to.set(WireTypes.U32, offset(RelayMessageLayout.ANSWER, "software"), answer.software() ? 1 : 0);
        answer.uuid().write(to, offset(RelayMessageLayout.ANSWER, "uuid"));
        answer.token().write(to, offset(RelayMessageLayout.ANSWER, "token"));
        WireTypes.setText(to, offset(RelayMessageLayout.ANSWER, "socket"), RelayMessageLayout.SOCKET_BYTES,
                answer.socket());
        WireTypes.setText(to, offset(RelayMessageLayout.ANSWER, "reason"), RelayMessageLayout.REASON_BYTES,
                answer.reason());
        return bytes;
    }

    /** RELAY_HELLO. */
    public static int hello(MemorySegment to, RelayToken token) {
        int bytes = MessageEncoder.begin(to, MessageType.RELAY_HELLO, 0);
        token.write(to, offset(RelayMessageLayout.HELLO, "token"));
        return bytes;
    }

    /** RELAY_WELCOME; the packet must carry the segment's descriptor. */
    public static int welcome(MemorySegment to, long clientId, long segmentBytes) {
        int bytes = MessageEncoder.begin(to, MessageType.RELAY_WELCOME, 0);
        to.set(WireTypes.U64, offset(RelayMessageLayout.WELCOME, "client_id"), clientId);
        to.set(WireTypes.U64, offset(RelayMessageLayout.WELCOME, "segment_bytes"), segmentBytes);
        return bytes;
    }

    /** PIN. */
    public static int pin(MemorySegment to, long bytes, long notBelow) {
        int length = MessageEncoder.begin(to, MessageType.PIN, 0);
        to.set(WireTypes.U64, offset(RelayMessageLayout.PIN, "bytes"), bytes);
        to.set(WireTypes.U64, offset(RelayMessageLayout.PIN, "not_below"), notBelow);
        return length;
    }

    /** IMAGE; the packet must carry the file's descriptor. */
    public static int image(MemorySegment to, long offset, long bytes) {
        int length = MessageEncoder.begin(to, MessageType.IMAGE, 0);
        to.set(WireTypes.U64, offset(RelayMessageLayout.IMAGE, "offset"), offset);
        to.set(WireTypes.U64, offset(RelayMessageLayout.IMAGE, "bytes"), bytes);
        return length;
    }

    /** IMAGE_TAKEN; the number counts where the result is 0. */
    public static int imageTaken(MemorySegment to, long number, int result) {
        int length = MessageEncoder.begin(to, MessageType.IMAGE_TAKEN, 0);
        to.set(WireTypes.U64, offset(RelayMessageLayout.IMAGE_TAKEN, "number"), number);
        to.set(WireTypes.U32, offset(RelayMessageLayout.IMAGE_TAKEN, "result"), result);
        return length;
    }

    /** PINNED; the packet must carry the memory's descriptor unless the result is not 0. */
    public static int pinned(MemorySegment to, RelayPinned pinned) {
        int length = MessageEncoder.begin(to, MessageType.PINNED, 0);
        to.set(WireTypes.U64, offset(RelayMessageLayout.PINNED, "id"), pinned.id());
        to.set(WireTypes.U64, offset(RelayMessageLayout.PINNED, "address"), pinned.address());
        to.set(WireTypes.U64, offset(RelayMessageLayout.PINNED, "bytes"), pinned.bytes());
        to.set(WireTypes.U32, offset(RelayMessageLayout.PINNED, "result"), pinned.result());
        return length;
    }
}
