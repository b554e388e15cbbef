package io.tessera.guardian.fence;

/** A module cannot be fenced. The message reads {@code line N: name: why}. */
public final class FenceRefusedException extends Exception {
    private static final long serialVersionUID = 1;

    private final String name;
    private final int line;
    private final String reason;
    private final boolean whole;

    /**
     * Creates a refusal.
     *
     * @param name   name of the refused item: an instruction with its modifiers, a function, a variable
     * @param line   its line in the PTX, from 1; 0 if it has none
     * @param reason reason, in words for the user
     */
    public FenceRefusedException(String name, int line, String reason) {
        this(name, line, reason, false);
    }

    /**
     * Creates a refusal.
     *
     * @param whole whether the whole module is refused, not only the function
     */
    public FenceRefusedException(String name, int line, String reason, boolean whole) {
        super((line > 0 ? "line " + line + ": " : "") + name + ": " + reason);
        this.name = name;
        this.line = line;
        this.reason = reason;
        this.whole = whole;
    }

    /** Returns the name of the refused item. */
    public String name() {
        return name;
    }

    /** Line in the PTX, from 1; 0 where there is none. */
    public int line() {
        return line;
    }

    /** Returns whether the whole module is refused. */
    public boolean isWhole() {
        return whole;
    }

    /** Why. */
    public String reason() {
        return reason;
    }
}
