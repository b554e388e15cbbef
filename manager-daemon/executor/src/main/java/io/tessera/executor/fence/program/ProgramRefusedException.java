package io.tessera.executor.fence.program;

import java.io.Serial;

/** A program is not loaded: the client's CUresult, and the reason for its user. Has no stack trace. */
public final class ProgramRefusedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Advice for users about a feature that space sharing does not have; the end of a line. */
    public static final String REMEDY = "; run the program with --share time";

    private final int result;
    private final boolean told;

    /** Creates an instance with the CUresult and a sentence. */
    public ProgramRefusedException(int result, String reason) {
        this(result, reason, false);
    }

    private ProgramRefusedException(int result, String reason, boolean told) {
        super(reason, null, false, false);
        this.result = result;
        this.told = told;
    }

    /**
     * Creates a refusal for a reason that drivers do not have. The caller that answers the client also passes the sentence to it as a line; it ends with
     * advice.
     */
    public static ProgramRefusedException toTell(int result, String line) {
        return new ProgramRefusedException(result, line, true);
    }

    /** Returns whether the sentence is to be a line on the program's standard error. */
    public boolean isToTell() {
        return told;
    }

    /** Returns the CUresult. */
    public int result() {
        return result;
    }
}
