package io.tessera.protocol.message;

import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;

/**
 * Writes one message: its header first, then fields by their names in the layout. Fields that are not written are zero. Not thread-safe; a name that
 * the layout does not have causes an IllegalArgumentException.
 */
final class MessageWriter {
    private final MemorySegment to;
    private final MessageType type;

    private MessageWriter(MemorySegment to, MessageType type) {
        this.to = to;
        this.type = type;
    }

    /**
     * Begins a message.
     *
     * @param to     memory at least as long as the message, 8-byte aligned; owned by the caller
     * @param device device of the header: a slot, or a device's number
     */
    static MessageWriter begin(MemorySegment to, MessageType type, int device) {
        to.asSlice(0, type.bytes()).fill((byte) 0);
        to.set(WireTypes.U32, MessageHeader.MAGIC, MessageLayout.MAGIC);
        to.set(WireTypes.U16, MessageHeader.TYPE, (short) type.code());
        to.set(WireTypes.U16, MessageHeader.VERSION, (short) SegmentLayout.VERSION);
        to.set(WireTypes.U32, MessageHeader.BYTES, type.bytes());
        to.set(WireTypes.U32, MessageHeader.DEVICE, device);
        return new MessageWriter(to, type);
    }

    MessageWriter u32(String field, int value) {
        to.set(WireTypes.U32, offset(type.layout(), field), value);
        return this;
    }

    MessageWriter u64(String field, long value) {
        to.set(WireTypes.U64, offset(type.layout(), field), value);
        return this;
    }

    /** Writes a text, cut to fit. */
    MessageWriter text(String field, String value) {
        int capacity = (int) type.layout().select(PathElement.groupElement(field)).byteSize();
        WireTypes.setText(to, offset(type.layout(), field), capacity, value);
        return this;
    }

    MessageWriter uuid(String field, DeviceUuid value) {
        value.write(to, offset(type.layout(), field));
        return this;
    }

    MessageWriter token(String field, RelayToken value) {
        value.write(to, offset(type.layout(), field));
        return this;
    }

    /** Returns the length of the complete message. */
    int bytes() {
        return type.bytes();
    }
}
