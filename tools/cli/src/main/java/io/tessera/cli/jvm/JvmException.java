package io.tessera.cli.jvm;

/** A JVM could not be examined. The message is for users and says what to do. */
public final class JvmException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Creates an exception with a message. */
    public JvmException(String message) {
        super(message);
    }

    /** Creates an exception with a message and a cause. */
    public JvmException(String message, Throwable cause) {
        super(message, cause);
    }
}
