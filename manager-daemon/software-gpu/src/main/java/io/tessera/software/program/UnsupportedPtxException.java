package io.tessera.software.program;

/** PTX that is well-formed but that the software GPU does not have; the message names the instruction and its line. */
public final class UnsupportedPtxException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String construct;
    private final int line;

    /**
     * Names what is missing.
     *
     * @param function  function that holds it, or empty
     * @param construct the instruction or directive as written
     * @param line      its line in the PTX text
     */
    public UnsupportedPtxException(String function, String construct, int line) {
        super("the software GPU has no " + construct + " (line " + line
                + (function.isEmpty() ? ")" : ", in " + function + ")"));
        this.construct = construct;
        this.line = line;
    }

    /**
     * Reports a kernel that could not be made for an unforeseen reason: a defect of the software GPU, or a kernel beyond its limits.
     *
     * @param kernel  its name
     * @param failure the error
     */
    public UnsupportedPtxException(String kernel, Throwable failure) {
        super("the software GPU cannot make " + kernel + ": " + (failure instanceof StackOverflowError ? "its code is nested too deeply" : failure),
                failure);
        this.construct = kernel;
        this.line = 0;
    }

    /** Returns the instruction or directive as written. */
    public String construct() {
        return construct;
    }

    /** Returns the line in the PTX text; 0 if the error has none. */
    public int line() {
        return line;
    }
}
