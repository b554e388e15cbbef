package io.tessera.guardian.ptx.parse;

/** A text is not PTX that this package knows. The message reads {@code line:column: what}. */
public final class PtxException extends Exception {
    private static final long serialVersionUID = 1;

    private final int line;
    private final int column;

    /**
     * A finding at a place.
     *
     * @param line   from 1
     * @param column from 1, in bytes
     * @param what   what is wrong, with the name involved
     */
    public PtxException(int line, int column, String what) {
        super(line + ":" + column + ": " + what);
        this.line = line;
        this.column = column;
    }

    /** Line, from 1. */
    public int line() {
        return line;
    }

    /** Column in bytes, from 1. */
    public int column() {
        return column;
    }
}
