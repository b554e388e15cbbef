package io.tessera.autotalk;

/** Input that cannot be used; the message names the file, the line where there is one, and what to do. */
public final class AutotalkException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** @param message what is wrong, where, and what the user can do */
    public AutotalkException(String message) {
        super(message);
    }

    /**
     * @param message what is wrong, where, and what the user can do
     * @param cause   why
     */
    public AutotalkException(String message, Throwable cause) {
        super(message, cause);
    }
}
