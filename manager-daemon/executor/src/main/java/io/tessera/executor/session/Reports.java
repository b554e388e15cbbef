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

    /** A client's work did not end in time after the client had gone: the executor cannot go on. */
    void stuck(long clientId);
}
