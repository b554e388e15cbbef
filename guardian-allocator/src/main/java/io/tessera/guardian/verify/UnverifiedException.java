package io.tessera.guardian.verify;

/** A text, or a function in it, was not shown to be fenced. */
public final class UnverifiedException extends Exception {
    private static final long serialVersionUID = 1;

    private final int line;

    /**
     * Creates an exception for a property that was not shown.
     *
     * @param line line of the text; 0 if it concerns no line
     * @param what the property, with the opcode or the name
     */
    public UnverifiedException(int line, String what) {
        super(line > 0 ? "line " + line + ": " + what : what);
        this.line = line;
    }

    /** Line of the text, from 1; 0 where it is of no line. */
    public int line() {
        return line;
    }
}
