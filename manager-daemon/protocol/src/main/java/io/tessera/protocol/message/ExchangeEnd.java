package io.tessera.protocol.message;

import java.util.Optional;

/** Ends of the queue in which clients of one user hand each other a device's memory ({@code TESSERA_EXCHANGE_*}). */
public enum ExchangeEnd {
    /** Descriptors of memory are sent into it. */
    GIVE,
    /** And received from it. */
    TAKE;

    /** The number on the wire. */
    public int code() {
        return ordinal();
    }

    /** The end of a number; absent if none has it. */
    public static Optional<ExchangeEnd> ofCode(int code) {
        return code >= 0 && code < values().length ? Optional.of(values()[code]) : Optional.empty();
    }
}
