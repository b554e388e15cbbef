package io.tessera.protocol.message;

import java.lang.foreign.MemorySegment;

/**
 * Encodes messages of both sides into a caller's buffer of at least {@link MessageLayout#MAX_BYTES}, 8-byte aligned. Every method returns the length
 * of the message. Stateless.
 */
public final class MessageEncoder {
    private MessageEncoder() {
    }

    /** HELLO. */
    public static int hello(MemorySegment to, Hello hello) {
        return MessageWriter.begin(to, MessageType.HELLO, 0)
                .u32("pid", hello.pid())
                .u32("plan", hello.plan().code())
                .u64("start_ticks", hello.startTicks())
                .u64("limit_bytes", hello.limitBytes())
                .text("tenant", hello.tenant())
                .text("command", hello.command())
                .bytes();
    }

    /** WELCOME; the packet must carry the segment's descriptor. */
    public static int welcome(MemorySegment to, long clientId, long segmentBytes) {
        return MessageWriter.begin(to, MessageType.WELCOME, 0)
                .u64("client_id", clientId)
                .u64("segment_bytes", segmentBytes)
                .bytes();
    }

    /** REFUSED with a sentence for people, cut to fit. */
    public static int refused(MemorySegment to, RefusalCode code, String reason) {
        return MessageWriter.begin(to, MessageType.REFUSED, 0).u32("code", code.code()).text("reason", reason).bytes();
    }

    /** DEVICE. */
    public static int device(MemorySegment to, DeviceAnnouncement device) {
        return MessageWriter.begin(to, MessageType.DEVICE, device.slot())
                .uuid("uuid", device.uuid())
                .u64("total_bytes", device.totalBytes())
                .u32("ordinal", device.ordinal())
                .text("name", device.name())
                .bytes();
    }

    /** DOORBELL. */
    public static int doorbell(MemorySegment to, int slot) {
        return MessageWriter.begin(to, MessageType.DOORBELL, slot).bytes();
    }

    /** QUOTA_ASK: bytes needed beyond the lease. */
    public static int quotaAsk(MemorySegment to, int slot, long bytes) {
        return quota(to, MessageType.QUOTA_ASK, slot, bytes);
    }

    /** QUOTA_ANSWER: the new lease. */
    public static int quotaAnswer(MemorySegment to, int slot, long grantedBytes) {
        return quota(to, MessageType.QUOTA_ANSWER, slot, grantedBytes);
    }

    /** QUOTA_TRIM. */
    public static int quotaTrim(MemorySegment to, int slot) {
        return quota(to, MessageType.QUOTA_TRIM, slot, 0);
    }

    /** QUOTA_RETURN: the lowered lease. */
    public static int quotaReturn(MemorySegment to, int slot, long grantedBytes) {
        return quota(to, MessageType.QUOTA_RETURN, slot, grantedBytes);
    }

    /** EXCHANGE; the packet must carry the end's descriptor. */
    public static int exchange(MemorySegment to, int slot, ExchangeEnd end) {
        return MessageWriter.begin(to, MessageType.EXCHANGE, slot).u32("end", end.code()).bytes();
    }

    /** SHARING_ASK. */
    public static int sharingAsk(MemorySegment to, String tenant) {
        return MessageWriter.begin(to, MessageType.SHARING_ASK, 0).text("tenant", tenant).bytes();
    }

    /** SHARING; the sentence is cut to fit. */
    public static int sharing(MemorySegment to, SharingAnswer answer) {
        return MessageWriter.begin(to, MessageType.SHARING, 0).u32("space", answer.space() ? 1 : 0).text("reason", answer.reason()).bytes();
    }

    /** SHORTAGE; the sentence is cut to fit. */
    public static int shortage(MemorySegment to, int slot, String reason) {
        return MessageWriter.begin(to, MessageType.SHORTAGE, slot).text("reason", reason).bytes();
    }

    private static int quota(MemorySegment to, MessageType type, int slot, long value) {
        return MessageWriter.begin(to, type, slot).u64("bytes", value).bytes();
    }
}
