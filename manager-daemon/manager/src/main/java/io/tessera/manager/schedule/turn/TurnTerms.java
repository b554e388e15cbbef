package io.tessera.manager.schedule.turn;

/**
 * Terms of a turn.
 *
 * @param quantumNs     length of the turn in nanoseconds, for information; 0 outside exclusive turns
 * @param paceNs        bound on outstanding work as time to drain, in nanoseconds; 0: none
 * @param idleReleaseNs time without work after which the turn goes back, in nanoseconds; 0: never
 * @param contended     whether another client waits for the device
 * @param sample        whether the client samples how busy the device is with its work
 */
public record TurnTerms(long quantumNs, long paceNs, long idleReleaseNs, boolean contended, boolean sample) {
    /** Terms of a new client. */
    public static final TurnTerms NONE = new TurnTerms(0, 0, 0, false, false);

    /**
     * Returns the terms of CLOSED: the bound of the turn that ends. A client on a busy machine is told long before it closes its gate, and would
     * queue without a bound for as long.
     */
    static TurnTerms closed(TurnTerms before) {
        return before.paceNs == 0 ? NONE : new TurnTerms(0, before.paceNs, 0, false, false);
    }

    /** Returns the terms of FREE. */
    static TurnTerms free(boolean sample, long paceNs) {
        return new TurnTerms(0, paceNs, 0, false, sample);
    }
}
