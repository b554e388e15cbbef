package io.tessera.executor.call;

import java.io.Serial;

/**
 * A record that is not executed: what the client is answered. Without a stack trace, because a client can send as many as
 * it likes.
 */
public final class RejectedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int result;

    /** With the CUresult, and why, for a test or a debugger. */
    public RejectedException(int result, String reason) {
        super(reason, null, false, false);
        this.result = result;
    }

    /** The CUresult. */
    public int result() {
        return result;
    }
}
