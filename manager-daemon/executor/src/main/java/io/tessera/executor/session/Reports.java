package io.tessera.executor.session;

/** Reports of sessions to the executor. Thread-safe. */
public interface Reports {
    /**
     * Reports that the device's context is lost for every client.
     *
     * @param result the CUresult
     * @param reason for the log and the manager
     */
    void contextLost(int result, String reason);

    /** Reports that a client has left: background work for its thread is no longer needed. */
    void leaves(Thread client);

    /** Reports that a condition for which new clients wait may hold now. */
    void look();

    /**
     * Reports that the work of a client that left or was ended does not end, or that its objects cannot be taken back: the executor cannot continue.
     *
     * @param why the reason, for the log and for the clients that lose the executor
     */
    void stuck(String tenant, String why);
}
