package io.tessera.software.compile;

/** A kernel, or one of its instructions, that the compiler leaves to the interpreter. The message says which and why. */
final class NotCompiledException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotCompiledException(String reason) {
        super(reason, null, false, false);
    }
}
