package io.tessera.guardian.fence;

/** A module cannot be fenced. The message reads {@code line N: name: why}. */
public final class FenceRefusedException extends Exception {
    private static final long serialVersionUID = 1;

    private final String name;
    private final int line;
    private final String reason;
    private final boolean whole;

    /**
     * A refusal.
     *
     * @param name   what cannot be fenced: an instruction with its modifiers, a function, a variable
     * @param line   its line in the PTX, from 1; 0 where it has none
     * @param reason why, in words for the user
     */
    public FenceRefusedException(String name, int line, String reason) {
        this(name, line, reason, false);
    }

    /**
     * A refusal.
     *
     * @param whole whether it is of the whole module, and not of the function alone
     */
    public FenceRefusedException(String name, int line, String reason, boolean whole) {
        super((line > 0 ? "line " + line + ": " : "") + name + ": " + reason);
        this.name = name;
        this.line = line;
        this.reason = reason;
        this.whole = whole;
    }

    /** What cannot be fenced. */
    public String name() {
        return name;
    }

    /** Line in the PTX, from 1; 0 where there is none. */
    public int line() {
        return line;
    }

    /** Whether the whole module is refused. */
    public boolean isWhole() {
        return whole;
    }

    /** Why. */
    public String reason() {
        return reason;
    }
}
