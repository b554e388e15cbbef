package io.tessera.protocol.message;

import java.util.Optional;

/** Why a registration or a connection was refused ({@code TESSERA_REFUSED_*}). */
public enum RefusalCode {
    /** The peer speaks another version. */
    VERSION,
    /** A packet's magic, type, length or device was wrong, or it came at the wrong time. */
    MALFORMED,
    /** No space for the segment. */
    STORAGE,
    /** This user is not served by this manager. */
    PEER,
    /** As many clients as the manager admits are there already. */
    FULL;

    /** The number on the wire. */
    public int code() {
        return ordinal() + 1;
    }

    /** The reason of a number; absent if no reason has it. */
    public static Optional<RefusalCode> ofCode(int code) {
        return code >= 1 && code <= values().length ? Optional.of(values()[code - 1]) : Optional.empty();
    }
}
