package io.tessera.protocol.relay;

import java.util.Optional;

/** What a record is ({@code TESSERA_RELAY_*}). Never renumbered. */
public enum RecordKind {
    /** To the end of the ring. */
    PADDING,
    /** A driver entry with its arguments. */
    CALL,
    /** A kernel launch. */
    LAUNCH,
    /** A piece of the in-data of the CALL that follows from the same slot. */
    BULK,
    /** Write a word when a stream, or all of a context, has come here. */
    MARK,
    /** Write a word when an event is complete. */
    WATCH_EVENT,
    /** The stream writes 1 to a word and waits until the client has put 0 there. */
    HOST_CALL,
    /** Contexts of the client come and go. */
    CONTEXT,
    /** What only the executor knows. */
    QUERY;

    private static final RecordKind[] KINDS = values();

    /** The number on the wire. */
    public int code() {
        return ordinal();
    }

    /** The kind of a number; absent if no kind has it. */
    public static Optional<RecordKind> ofCode(int code) {
        return code >= 0 && code < KINDS.length ? Optional.of(KINDS[code]) : Optional.empty();
    }
}
