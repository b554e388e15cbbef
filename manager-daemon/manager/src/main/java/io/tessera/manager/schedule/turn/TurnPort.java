package io.tessera.manager.schedule.turn;

/**
 * The scheduler's connection to the clients of one device: orders out, answers and load in.
 *
 * <p>Called by the conductor's thread alone. The production port reads and writes the clients' segments; tests use a scripted one. Client ids are the
 * manager's own. A port ignores an id that it no longer knows: that client died in this duty cycle, and the scheduler learns of it later in the
 * cycle.
 */
public interface TurnPort {
    /**
     * Writes the client's orders, the turn word last, and rings its doorbell.
     *
     * @param clientId the client
     * @param epoch    epoch of the new turn word; grows by one at each order to this client
     * @param state    state of the new turn word: what the client may do
     * @param terms    quantum, bounds and flags of the order
     */
    void order(long clientId, long epoch, TurnState state, TurnTerms terms);

    /** Rewrites the terms of a client whose turn word stays as it is, for example because another client began to wait. */
    void amend(long clientId, TurnTerms terms);

    /** Returns the client's own report of its load on this device now. */
    ClientLoad load(long clientId);

    /** Reports that a client did not drain within the grace; once per turn, for the log and the status. */
    void reportUndrained(long clientId, long sinceRevokedNs);

    /** Returns whether a signal has stopped the client's process (SIGSTOP, SIGTSTP). */
    boolean isStopped(long clientId);

    /** Reports that others continue without a client whose process is stopped, for the log. */
    void reportStopped(long clientId);

    /** Ends a client that does not drain, under the drain policy {@code END}. */
    void end(long clientId);
}
