package io.tessera.executor.call;

/** A step before a call is made. One owner thread. */
@FunctionalInterface
public interface CallStep {
    /**
     * Takes the step.
     *
     * @throws RejectedException if the call must not be made
     */
    void take(CallFrame frame) throws RejectedException;
}
