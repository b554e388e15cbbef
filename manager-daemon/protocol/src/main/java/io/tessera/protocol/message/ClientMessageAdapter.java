package io.tessera.protocol.message;

import static io.tessera.protocol.message.MessageLayout.DEVICE_MESSAGE;
import static io.tessera.protocol.message.MessageLayout.HELLO;
import static io.tessera.protocol.message.MessageLayout.QUOTA;
import static io.tessera.protocol.message.MessageLayout.SHARING_ASK;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.MemorySegment;

/**
 * Decodes what clients send. A packet is checked whole before the listener receives it, so bad input never reaches policy. Stateless and thread-safe;
 * the packet must not change meanwhile (it is a received copy, not shared memory).
 */
public final class ClientMessageAdapter {
    private static final long PID = offset(HELLO, "pid");
    private static final long PLAN = offset(HELLO, "plan");
    private static final long START_TICKS = offset(HELLO, "start_ticks");
    private static final long LIMIT_BYTES = offset(HELLO, "limit_bytes");
    private static final long TENANT = offset(HELLO, "tenant");
    private static final long COMMAND = offset(HELLO, "command");
    private static final long SHARING_TENANT = offset(SHARING_ASK, "tenant");
    private static final long UUID = offset(DEVICE_MESSAGE, "uuid");
    private static final long TOTAL_BYTES = offset(DEVICE_MESSAGE, "total_bytes");
    private static final long ORDINAL = offset(DEVICE_MESSAGE, "ordinal");
    private static final long NAME = offset(DEVICE_MESSAGE, "name");
    private static final long QUOTA_BYTES = offset(QUOTA, "bytes");

    private ClientMessageAdapter() {
    }

    /**
     * Checks a packet and calls the listener's method for it.
     *
     * @param packet   the received bytes; at least {@link MessageLayout#MAX_BYTES} long and 8-byte aligned
     * @param length   length of the packet, even if it was longer than the buffer
     * @param listener receives the message
     * @throws MalformedMessageException if it is not a message of a client; the listener was not called
     */
    public static void dispatch(MemorySegment packet, int length, ClientMessageListener listener)
            throws MalformedMessageException {
        MessageType type = MessageHeader.check(packet, length);
        switch (type) {
            case HELLO -> listener.onHello(hello(packet));
            case DEVICE -> listener.onDevice(device(packet));
            case DOORBELL -> listener.onDoorbell(MessageHeader.slot(packet, type));
            case QUOTA_ASK -> listener.onQuotaAsk(MessageHeader.slot(packet, type),
                    packet.get(WireTypes.U64, QUOTA_BYTES));
            case QUOTA_RETURN -> listener.onQuotaReturn(MessageHeader.slot(packet, type),
                    packet.get(WireTypes.U64, QUOTA_BYTES));
            case SHARING_ASK -> listener.onSharingAsk(WireTypes.getText(packet, SHARING_TENANT, SegmentLayout.LABEL_BYTES));
            case RELAY_ASK -> listener.onRelayAsk(RelayMessageAdapter.ask(packet));
            case WELCOME, REFUSED, QUOTA_ANSWER, QUOTA_TRIM, EXCHANGE, SHARING, SHORTAGE, RELAY_ANSWER ->
                throw MessageHeader.malformed(type + " is a message of the manager");
            case RELAY_HELLO, RELAY_WELCOME, PIN, PINNED, IMAGE, IMAGE_TAKEN ->
                throw MessageHeader.malformed(type + " belongs on an executor's socket");
        }
    }

    private static Hello hello(MemorySegment packet) throws MalformedMessageException {
        int code = packet.get(WireTypes.U32, PLAN);
        MemoryPlan plan = MemoryPlan.ofCode(code)
                .orElseThrow(() -> MessageHeader.malformed("there is no memory plan " + Integer.toUnsignedString(code)));
        return new Hello(packet.get(WireTypes.U32, PID), plan, packet.get(WireTypes.U64, START_TICKS),
                packet.get(WireTypes.U64, LIMIT_BYTES),
                WireTypes.getText(packet, TENANT, SegmentLayout.LABEL_BYTES),
                WireTypes.getText(packet, COMMAND, SegmentLayout.LABEL_BYTES));
    }

    private static DeviceAnnouncement device(MemorySegment packet) throws MalformedMessageException {
        int slot = MessageHeader.slot(packet, MessageType.DEVICE);
        long totalBytes = packet.get(WireTypes.U64, TOTAL_BYTES);
        if (totalBytes <= 0 || totalBytes > DeviceAnnouncement.MOST_BYTES) {
            throw MessageHeader.malformed("a device of " + Long.toUnsignedString(totalBytes) + " bytes");
        }
        DeviceUuid uuid = DeviceUuid.read(packet, UUID);
        if (uuid.high() == 0 && uuid.low() == 0) {
            throw MessageHeader.malformed("a device without a UUID");
        }
        return new DeviceAnnouncement(slot, uuid, totalBytes, packet.get(WireTypes.U32, ORDINAL),
                WireTypes.getText(packet, NAME, SegmentLayout.DEVICE_NAME_BYTES));
    }
}
