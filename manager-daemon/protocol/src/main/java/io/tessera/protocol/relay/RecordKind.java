package io.tessera.protocol.relay;

import java.util.Optional;

/** Kinds of records ({@code TESSERA_RELAY_*}). Never renumbered. */
public enum RecordKind {
    /** Unused space to the end of the ring. */
    PADDING,
    /** A driver entry with its arguments. */
    CALL,
    /** A kernel launch. */
    LAUNCH,
    /** A piece of the in-data of the CALL that follows from the same slot. */
    BULK,
    /** Writes a word when a stream, or all of a context, has reached this record. */
    MARK,
    /** Writes a word when an event is complete. */
    WATCH_EVENT,
    /** The stream writes 1 to a word and waits until the client has put 0 there. */
    HOST_CALL,
    /** Creates or destroys a context of the client. */
    CONTEXT,
    /** Asks for information that only the executor has. */
    QUERY;

    private static final RecordKind[] KINDS = values();

    /** Returns the number on the wire. */
    public int code() {
        return ordinal();
    }

    /** Returns the kind with a number; absent if no kind has it. */
    public static Optional<RecordKind> ofCode(int code) {
        return code >= 0 && code < KINDS.length ? Optional.of(KINDS[code]) : Optional.empty();
    }
}
