package io.tessera.manager.schedule.turn;

/**
 * What the scheduler of one device needs of the world: orders out, answers and load in.
 *
 * <p>Called by the conductor's thread alone. The production port reads and writes the clients' segments; tests use a
 * scripted one. Client ids are the manager's own; a port ignores an id that it no longer knows (the client died in
 * this very duty cycle and the scheduler hears of it next).
 */
public interface TurnPort {
    /**
     * Writes the client's orders, the turn word last, and rings its doorbell.
     *
     * @param clientId the client
     * @param epoch    epoch of the new turn word; grows by one at each order to this client
     * @param state    what the client may do from now on
     * @param terms    quantum, bounds and flags that go with it
     */
    void order(long clientId, long epoch, TurnState state, TurnTerms terms);

    /** Rewrites the terms of a client whose turn word stays as it is, for example because somebody began to wait. */
    void amend(long clientId, TurnTerms terms);

    /** The client's own account of its load on this device now. */
    ClientLoad load(long clientId);

    /** A client did not drain within the grace; said once per turn, for the log and the status. */
    void reportUndrained(long clientId, long sinceRevokedNs);

    /** Whether a signal has stopped the client's process (SIGSTOP, SIGTSTP). */
    boolean isStopped(long clientId);

    /** Others go on without a client whose process is stopped, for the log. */
    void reportStopped(long clientId);

    /** Ends a client that does not drain, under the drain policy {@code END}. */
    void end(long clientId);
}
