package io.tessera.guardian.state;

/** A store cannot be opened, read or written; the message has the path and the cause. */
public final class StateException extends Exception {
    /** With what the operating system or a library said. */
    public StateException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Without a cause below. */
    public StateException(String message) {
        super(message);
    }
}
