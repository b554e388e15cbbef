package io.tessera.protocol;

import static io.tessera.protocol.MessageLayout.DEVICE_MESSAGE;
import static io.tessera.protocol.MessageLayout.HELLO;
import static io.tessera.protocol.MessageLayout.QUOTA;
import static io.tessera.protocol.MessageLayout.REFUSED;
import static io.tessera.protocol.MessageLayout.WELCOME;
import static io.tessera.protocol.SegmentLayout.offset;

import java.lang.foreign.MemorySegment;

/**
 * Encodes messages of both sides into a caller's buffer of at least {@link MessageLayout#MAX_BYTES}, 8-byte aligned.
 * Every method returns the length of the message. Stateless.
 */
public final class MessageEncoder {
    private MessageEncoder() {
    }

    /** HELLO. */
    public static int hello(MemorySegment to, Hello hello) {
        int bytes = begin(to, MessageType.HELLO, 0);
        to.set(WireTypes.U32, offset(HELLO, "pid"), hello.pid());
        to.set(WireTypes.U32, offset(HELLO, "plan"), hello.plan().code());
        to.set(WireTypes.U64, offset(HELLO, "start_ticks"), hello.startTicks());
        to.set(WireTypes.U64, offset(HELLO, "limit_bytes"), hello.limitBytes());
        WireTypes.setText(to, offset(HELLO, "tenant"), SegmentLayout.LABEL_BYTES, hello.tenant());
        WireTypes.setText(to, offset(HELLO, "command"), SegmentLayout.LABEL_BYTES, hello.command());
        return bytes;
    }

    /** WELCOME; the packet must carry the segment's descriptor. */
    public static int welcome(MemorySegment to, long clientId, long segmentBytes) {
        int bytes = begin(to, MessageType.WELCOME, 0);
        to.set(WireTypes.U64, offset(WELCOME, "client_id"), clientId);
        to.set(WireTypes.U64, offset(WELCOME, "segment_bytes"), segmentBytes);
        return bytes;
    }

    /** REFUSED with a sentence for people, cut to fit. */
    public static int refused(MemorySegment to, RefusalCode code, String reason) {
        int bytes = begin(to, MessageType.REFUSED, 0);
        to.set(WireTypes.U32, offset(REFUSED, "code"), code.code());
        WireTypes.setText(to, offset(REFUSED, "reason"), MessageLayout.REASON_BYTES, reason);
        return bytes;
    }

    /** DEVICE. */
    public static int device(MemorySegment to, DeviceAnnouncement device) {
        int bytes = begin(to, MessageType.DEVICE, device.slot());
        device.uuid().write(to, offset(DEVICE_MESSAGE, "uuid"));
        to.set(WireTypes.U64, offset(DEVICE_MESSAGE, "total_bytes"), device.totalBytes());
        to.set(WireTypes.U32, offset(DEVICE_MESSAGE, "ordinal"), device.ordinal());
        WireTypes.setText(to, offset(DEVICE_MESSAGE, "name"), SegmentLayout.DEVICE_NAME_BYTES, device.name());
        return bytes;
    }

    /** DOORBELL. */
    public static int doorbell(MemorySegment to, int slot) {
        return begin(to, MessageType.DOORBELL, slot);
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

    private static int quota(MemorySegment to, MessageType type, int slot, long value) {
        int bytes = begin(to, type, slot);
        to.set(WireTypes.U64, offset(QUOTA, "bytes"), value);
        return bytes;
    }

    static int begin(MemorySegment to, MessageType type, int slot) {
        to.asSlice(0, type.bytes()).fill((byte) 0);
        to.set(WireTypes.U32, MessageHeader.MAGIC, MessageLayout.MAGIC);
        to.set(WireTypes.U16, MessageHeader.TYPE, (short) type.code());
        to.set(WireTypes.U16, MessageHeader.VERSION, (short) SegmentLayout.VERSION);
        to.set(WireTypes.U32, MessageHeader.BYTES, type.bytes());
        to.set(WireTypes.U32, MessageHeader.DEVICE, slot);
        return type.bytes();
    }
}
