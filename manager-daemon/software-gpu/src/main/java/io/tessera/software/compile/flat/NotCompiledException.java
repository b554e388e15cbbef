package io.tessera.software.compile.flat;

/** Reports a kernel, or one of its instructions, that the compiler leaves to the interpreter. The message contains the name and the reason. */
public final class NotCompiledException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** @param reason the instruction or kernel, and the reason */
    public NotCompiledException(String reason) {
        super(reason, null, false, false);
    }
}
