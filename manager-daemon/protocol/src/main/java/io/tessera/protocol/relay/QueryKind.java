package io.tessera.protocol.relay;

import java.util.Optional;

/** Subjects of a QUERY ({@code TESSERA_QUERY_*}). */
public enum QueryKind {
    /** Attributes and parameters of a function or kernel. */
    FUNCTION,
    /** Pins the memory of a PINNED answer; returns its device address. */
    PINNED,
    /** Unpins the memory and forgets it. */
    UNPIN,
    /** Free, total and used memory. */
    MEMORY;

    private static final QueryKind[] KINDS = values();

    /** Returns the number on the wire. */
    public int code() {
        return ordinal() + 1;
    }

    /** Returns the kind with a number; absent if no kind has it. */
    public static Optional<QueryKind> ofCode(int code) {
        return code >= 1 && code <= KINDS.length ? Optional.of(KINDS[code - 1]) : Optional.empty();
    }
}
