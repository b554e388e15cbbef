package io.tessera.protocol.message;

import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
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
        return MessageWriter.begin(to, MessageType.RELAY_ASK, 0)
                .u32("fence", wish.fence().map(FenceChoice::code).orElse(0))
                .u32("unfenced", wish.unfenced().map(UnfencedPolicy::code).orElse(0))
                .u32("fence_alone", wish.fenceAlone() ? 1 : 0)
                .u32("kernel_timeout_s", wish.kernelTimeoutS())
                .bytes();
    }

    /** RELAY_ANSWER. */
    public static int answer(MemorySegment to, RelayAnswer answer) {
        return MessageWriter.begin(to, MessageType.RELAY_ANSWER, answer.device())
                .u32("count", answer.count())
                .u32("software", answer.software() ? 1 : 0)
                .uuid("uuid", answer.uuid())
                .token("token", answer.token())
                .text("socket", answer.socket())
                .text("reason", answer.reason())
                .bytes();
    }

    /** RELAY_HELLO. */
    public static int hello(MemorySegment to, RelayToken token) {
        return MessageWriter.begin(to, MessageType.RELAY_HELLO, 0).token("token", token).bytes();
    }

    /** RELAY_WELCOME; the packet must carry the segment's descriptor. */
    public static int welcome(MemorySegment to, long clientId, long segmentBytes) {
        return MessageWriter.begin(to, MessageType.RELAY_WELCOME, 0)
                .u64("client_id", clientId)
                .u64("segment_bytes", segmentBytes)
                .bytes();
    }

    /** PIN. */
    public static int pin(MemorySegment to, long bytes, long notBelow) {
        return MessageWriter.begin(to, MessageType.PIN, 0).u64("bytes", bytes).u64("not_below", notBelow).bytes();
    }

    /** PINNED; the packet must carry the memory's descriptor unless the result is not 0. */
    public static int pinned(MemorySegment to, RelayPinned pinned) {
        return MessageWriter.begin(to, MessageType.PINNED, 0)
                .u64("id", pinned.id())
                .u64("address", pinned.address())
                .u64("bytes", pinned.bytes())
                .u32("result", pinned.result())
                .bytes();
    }

    /** IMAGE; the packet must carry the file's descriptor. */
    public static int image(MemorySegment to, long offset, long bytes) {
        return MessageWriter.begin(to, MessageType.IMAGE, 0).u64("offset", offset).u64("bytes", bytes).bytes();
    }

    /** IMAGE_TAKEN; the number is valid if the result is 0. */
    public static int imageTaken(MemorySegment to, long number, int result) {
        return MessageWriter.begin(to, MessageType.IMAGE_TAKEN, 0).u64("number", number).u32("result", result).bytes();
    }
}
