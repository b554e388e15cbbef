package io.tessera.protocol.message;

import static io.tessera.protocol.message.MessageLayout.EXCHANGE;
import static io.tessera.protocol.message.MessageLayout.QUOTA;
import static io.tessera.protocol.message.MessageLayout.REFUSED;
import static io.tessera.protocol.message.MessageLayout.SHARING;
import static io.tessera.protocol.message.MessageLayout.SHORTAGE;
import static io.tessera.protocol.message.MessageLayout.WELCOME;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/** Decodes what the manager sends, for clients written in Java. Stateless and thread-safe. */
public final class ManagerMessageAdapter {
    private static final long CLIENT_ID = offset(WELCOME, "client_id");
    private static final long SEGMENT_BYTES = offset(WELCOME, "segment_bytes");
    private static final long CODE = offset(REFUSED, "code");
    private static final long REASON = offset(REFUSED, "reason");
    private static final long QUOTA_BYTES = offset(QUOTA, "bytes");
    private static final long SPACE = offset(SHARING, "space");
    private static final long WHY = offset(SHARING, "reason");
    private static final long SHORT_OF = offset(SHORTAGE, "reason");
    private static final long END = offset(EXCHANGE, "end");

    private ManagerMessageAdapter() {
    }

    /**
     * Checks a packet and calls the listener's method for it.
     *
     * @param packet   the received bytes; at least {@link MessageLayout#MAX_BYTES} long and 8-byte aligned
     * @param length   length of the packet
     * @param listener receives the message
     * @throws MalformedMessageException if it is not a message of the manager; the listener was not called
     */
    public static void dispatch(MemorySegment packet, int length, ManagerMessageListener listener)
            throws MalformedMessageException {
        MessageType type = MessageHeader.check(packet, length);
        switch (type) {
            case WELCOME -> listener.onWelcome(packet.get(WireTypes.U64, CLIENT_ID),
                    packet.get(WireTypes.U64, SEGMENT_BYTES));
            case REFUSED -> listener.onRefused(packet.get(WireTypes.U32, CODE),
                    WireTypes.getText(packet, REASON, MessageLayout.REASON_BYTES));
            case DOORBELL -> listener.onDoorbell(MessageHeader.slot(packet, type));
            case QUOTA_ANSWER -> listener.onQuotaAnswer(MessageHeader.slot(packet, type),
                    packet.get(WireTypes.U64, QUOTA_BYTES));
            case EXCHANGE -> listener.onExchange(MessageHeader.slot(packet, type), end(packet));
            case QUOTA_TRIM -> listener.onQuotaTrim(MessageHeader.slot(packet, type));
            case SHARING -> listener.onSharing(new SharingAnswer(packet.get(WireTypes.U32, SPACE) != 0,
                    WireTypes.getText(packet, WHY, MessageLayout.REASON_BYTES)));
            case SHORTAGE -> listener.onShortage(MessageHeader.slot(packet, type),
                    WireTypes.getText(packet, SHORT_OF, MessageLayout.REASON_BYTES));
            case RELAY_ANSWER -> listener.onRelayAnswer(RelayMessageAdapter.answer(packet));
            case RELAY_HELLO, RELAY_WELCOME, PIN, PINNED, IMAGE, IMAGE_TAKEN ->
                throw MessageHeader.malformed(type + " belongs on an executor's socket");
            case HELLO, DEVICE, QUOTA_ASK, QUOTA_RETURN, SHARING_ASK, RELAY_ASK ->
                throw MessageHeader.malformed(type + " is a message of a client");
        }
    }

    private static ExchangeEnd end(MemorySegment packet) throws MalformedMessageException {
        int code = packet.get(WireTypes.U32, END);
        return ExchangeEnd.ofCode(code)
                .orElseThrow(() -> MessageHeader.malformed("there is no end " + Integer.toUnsignedString(code) + " of a queue"));
    }
}
