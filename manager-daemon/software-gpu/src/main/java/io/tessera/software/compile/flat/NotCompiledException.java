package io.tessera.software.compile.flat;

/** A kernel, or one of its instructions, that the compiler leaves to the interpreter. The message says which and why. */
public final class NotCompiledException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** @param reason which instruction or kernel, and why */
    public NotCompiledException(String reason) {
        super(reason, null, false, false);
    }
}
