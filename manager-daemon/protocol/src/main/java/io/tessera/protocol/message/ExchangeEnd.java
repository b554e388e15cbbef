package io.tessera.protocol.message;

import java.util.Optional;

/** Ends of the queue in which clients of one user hand each other a device's memory ({@code TESSERA_EXCHANGE_*}). */
public enum ExchangeEnd {
    /** End into which descriptors of memory are sent. */
    GIVE,
    /** End from which they are received. */
    TAKE;

    /** Returns the number on the wire. */
    public int code() {
        return ordinal();
    }

    /** Returns the end with a number; absent if none has it. */
    public static Optional<ExchangeEnd> ofCode(int code) {
        return code >= 0 && code < values().length ? Optional.of(values()[code]) : Optional.empty();
    }
}
