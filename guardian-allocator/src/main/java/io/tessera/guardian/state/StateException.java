package io.tessera.guardian.state;

/** A store cannot be opened, read or written; the message has the path and the cause. */
public final class StateException extends Exception {
    /** Creates an exception with the error of the operating system or of a library as its cause. */
    public StateException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Creates an exception without a cause. */
    public StateException(String message) {
        super(message);
    }
}
