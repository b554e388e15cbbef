package io.tessera.executor.call;

/** The action after a call has been made. One owner thread. */
@FunctionalInterface
public interface CallOutcome {
    /**
     * Called once for each call that was prepared.
     *
     * @param result the CUresult; UNKNOWN if the call was rejected while it was made
     */
    void completed(CallFrame frame, int result);
}
