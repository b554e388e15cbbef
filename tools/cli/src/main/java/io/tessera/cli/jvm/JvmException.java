package io.tessera.cli.jvm;

/** Why a JVM could not be looked at. The message is for people and says what to do. */
public final class JvmException extends Exception {
    private static final long serialVersionUID = 1L;

    /** With a sentence. */
    public JvmException(String message) {
        super(message);
    }

    /** With a sentence and what caused it. */
    public JvmException(String message, Throwable cause) {
        super(message, cause);
    }
}
