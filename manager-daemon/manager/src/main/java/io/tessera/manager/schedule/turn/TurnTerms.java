package io.tessera.manager.schedule.turn;

/**
 * What goes with a turn.
 *
 * @param quantumNs     length of the turn in nanoseconds, for information; 0 outside exclusive turns
 * @param paceNs        bound on outstanding work as time to drain, in nanoseconds; 0: none
 * @param idleReleaseNs give the turn back after this long without work, in nanoseconds; 0: never
 * @param contended     somebody waits for the device
 * @param sample        the client samples whether the device is busy with its work
 */
public record TurnTerms(long quantumNs, long paceNs, long idleReleaseNs, boolean contended, boolean sample) {
    /** What a new client has. */
    public static final TurnTerms NONE = new TurnTerms(0, 0, 0, false, false);

    /**
     * What goes with CLOSED: the bound of the turn that ends. A client on a busy machine is told long before it closes its
     * gate, and would queue without bound for as long.
     */
    static TurnTerms closed(TurnTerms before) {
        return before.paceNs == 0 ? NONE : new TurnTerms(0, before.paceNs, 0, false, false);
    }

    /** What goes with FREE. */
    static TurnTerms free(boolean sample, long paceNs) {
        return new TurnTerms(0, paceNs, 0, false, sample);
    }
}
