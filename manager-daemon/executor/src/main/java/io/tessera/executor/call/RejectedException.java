package io.tessera.executor.call;

import io.tessera.device.CudaResult;
import io.tessera.executor.fence.program.ProgramRefusedException;
import java.io.Serial;

/**
 * A record that is not executed, with the answer for the client. Has no stack trace, because a client can cause any number of these.
 */
public final class RejectedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int result;
    private final boolean told;

    /** Creates an instance with the CUresult, and why, for a test or a debugger. */
    public RejectedException(int result, String reason) {
        this(result, reason, false);
    }

    private RejectedException(int result, String reason, boolean told) {
        super(reason, null, false, false);
        this.result = result;
        this.told = told;
    }

    /** Rejects a call beyond a bound that the driver does not have: OUT_OF_MEMORY, and the program is told which bound. */
    public static RejectedException bound(String reason) {
        return new RejectedException(CudaResult.OUT_OF_MEMORY, reason, true);
    }

    /** Rejects a call that the fences refuse, with a line if they give one. */
    public static RejectedException of(ProgramRefusedException refused) {
        return new RejectedException(refused.result(), refused.getMessage(), refused.isToTell());
    }

    /** Rejects a call that a driver would accept: INVALID_VALUE, and the program is told why. */
    public static RejectedException value(String reason) {
        return new RejectedException(CudaResult.INVALID_VALUE, reason, true);
    }

    /**
     * Rejects a call that drivers support and space sharing does not: NOT_SUPPORTED, and the program is told what to do.
     *
     * @param what a noun, with the reason in parentheses if there is one
     */
    public static RejectedException unsupported(String what) {
        return new RejectedException(CudaResult.NOT_SUPPORTED, what + " is not supported in space sharing" + ProgramRefusedException.REMEDY, true);
    }

    /** Returns the CUresult. */
    public int result() {
        return result;
    }

    /** Returns whether the reason is a line on the program's standard error. */
    public boolean isTold() {
        return told;
    }
}
