package io.tessera.protocol.message;

import java.util.Optional;

/** Reasons for refusing a registration or a connection ({@code TESSERA_REFUSED_*}). */
public enum RefusalCode {
    /** The peer speaks another version. */
    VERSION,
    /** A packet's magic, type, length or device was wrong, or it came at the wrong time. */
    MALFORMED,
    /** No space for the segment. */
    STORAGE,
    /** This manager does not serve the user. */
    PEER,
    /** The maximum number of clients has been reached. */
    FULL;

    /** Returns the number on the wire. */
    public int code() {
        return ordinal() + 1;
    }

    /** Returns the reason with a number; absent if no reason has it. */
    public static Optional<RefusalCode> ofCode(int code) {
        return code >= 1 && code <= values().length ? Optional.of(values()[code - 1]) : Optional.empty();
    }
}
