package io.tessera.protocol.relay;

import java.util.Optional;

/** What a QUERY asks ({@code TESSERA_QUERY_*}). */
public enum QueryKind {
    /** Attributes and parameters of a function or kernel. */
    FUNCTION,
    /** Pins the memory of a PINNED answer; its device address. */
    PINNED,
    /** Unpins and forgets it. */
    UNPIN,
    /** Free, total and used memory. */
    MEMORY;

    private static final QueryKind[] KINDS = values();

    /** The number on the wire. */
    public int code() {
        return ordinal() + 1;
    }

    /** The kind of a number; absent if no kind has it. */
    public static Optional<QueryKind> ofCode(int code) {
        return code >= 1 && code <= KINDS.length ? Optional.of(KINDS[code - 1]) : Optional.empty();
    }
}
