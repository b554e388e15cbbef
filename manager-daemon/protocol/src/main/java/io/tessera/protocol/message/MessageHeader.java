package io.tessera.protocol.message;

import static io.tessera.protocol.message.MessageLayout.HEADER;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.WireTypes;
import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.MemorySegment;

/** Checks that every packet must pass before any field of it is trusted. Stateless. */
final class MessageHeader {
    static final long MAGIC = offset(HEADER, "magic");
    static final long TYPE = offset(HEADER, "type");
    static final long VERSION = offset(HEADER, "version");
    static final long BYTES = offset(HEADER, "bytes");
    static final long DEVICE = offset(HEADER, "device");

    private MessageHeader() {
    }

    /**
     * Checks magic, version, type and length, in this order: a peer of another version may have other types and lengths.
     *
     * @param packet the received bytes
     * @param length number of bytes in the packet
     */
    static MessageType check(MemorySegment packet, int length) throws MalformedMessageException {
        if (length < HEADER.byteSize()) {
            throw malformed("packet of " + length + " bytes is shorter than a header");
        }
        int magic = packet.get(WireTypes.U32, MAGIC);
        if (magic != MessageLayout.MAGIC) {
            throw malformed("packet begins with " + Integer.toHexString(magic) + " and is no message");
        }
        int version = Short.toUnsignedInt(packet.get(WireTypes.U16, VERSION));
        if (version != SegmentLayout.VERSION) {
            throw new MalformedMessageException(RefusalCode.VERSION, "the peer speaks version " + version
                    + ", this side version " + SegmentLayout.VERSION);
        }
        int code = Short.toUnsignedInt(packet.get(WireTypes.U16, TYPE));
        MessageType type = MessageType.ofCode(code).orElseThrow(() -> malformed("there is no message type " + code));
        int stated = packet.get(WireTypes.U32, BYTES);
        if (stated != type.bytes() || length != type.bytes()) {
            throw malformed(type + " says " + Integer.toUnsignedString(stated) + " bytes in a packet of " + length
                    + ", it has " + type.bytes());
        }
        return type;
    }

    /** Returns the device slot that a message is about. */
    static int slot(MemorySegment packet, MessageType type) throws MalformedMessageException {
        int slot = packet.get(WireTypes.U32, DEVICE);
        if (slot < 0 || slot >= SegmentLayout.MAX_DEVICES) {
            throw malformed(type + " for device slot " + Integer.toUnsignedString(slot) + " of "
                    + SegmentLayout.MAX_DEVICES);
        }
        return slot;
    }

    static MalformedMessageException malformed(String reason) {
        return new MalformedMessageException(RefusalCode.MALFORMED, reason);
    }
}
