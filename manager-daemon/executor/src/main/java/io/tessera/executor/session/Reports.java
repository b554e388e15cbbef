package io.tessera.executor.session;

/** What sessions tell the executor. Thread-safe. */
public interface Reports {
    /**
     * The device's context is lost for every client.
     *
     * @param result the CUresult
     * @param reason for the log and the manager
     */
    void contextLost(int result, String reason);

    /** A client is gone: work that others do for its thread is of no use any more. */
    void leaves(Thread client);

    /** A condition that newcomers wait for may hold now. */
    void look();

    /**
     * A client's work does not end, though the client has gone or was ended, or what it had cannot be taken back: the executor cannot go on.
     *
     * @param why for the log and for those who lose the executor by it
     */
    void stuck(String tenant, String why);
}
