package io.tessera.protocol;

import java.util.Optional;

/** Messages on the registration socket ({@code TESSERA_MSG_*}). Numbers are never reused. */
public enum MessageType {
    /** Client: who it is and what it asks for. */
    HELLO(MessageLayout.HELLO.byteSize()),
    /** Manager: number and size of the segment, with its descriptor. */
    WELCOME(MessageLayout.WELCOME.byteSize()),
    /** Manager: why not; the connection ends. */
    REFUSED(MessageLayout.REFUSED.byteSize()),
    /** Client: it has a context on the device of a slot. */
    DEVICE(MessageLayout.DEVICE_MESSAGE.byteSize()),
    /** Both: words of the device changed. */
    DOORBELL(MessageLayout.HEADER.byteSize()),
    /** Client: bytes needed beyond its lease. */
    QUOTA_ASK(MessageLayout.QUOTA.byteSize()),
    /** Manager: the new lease. */
    QUOTA_ANSWER(MessageLayout.QUOTA.byteSize()),
    /** Manager: give back what you do not use. */
    QUOTA_TRIM(MessageLayout.QUOTA.byteSize()),
    /** Client: the lowered lease. */
    QUOTA_RETURN(MessageLayout.QUOTA.byteSize());

    private final int bytes;

    MessageType(long bytes) {
        this.bytes = Math.toIntExact(bytes);
    }

    /** The number on the wire. */
    public int code() {
        return ordinal() + 1;
    }

    /** Length of the whole message in bytes; every type has one length. */
    public int bytes() {
        return bytes;
    }

    /** The type of a number; absent if no type has it. */
    public static Optional<MessageType> ofCode(int code) {
        return code >= 1 && code <= values().length ? Optional.of(values()[code - 1]) : Optional.empty();
    }
}
