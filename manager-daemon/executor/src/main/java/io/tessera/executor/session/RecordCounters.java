package io.tessera.executor.session;

/** Counters of a client's thread, which writes them; any thread may read them. */
public final class RecordCounters {
    private volatile long calls;
    private volatile long launches;
    private volatile long records;
    private volatile long rejected;
    private long pendingCalls;
    private long pendingLaunches;
    private long pendingRecords;
    private long pendingRejected;

    void call() {
        pendingCalls++;
    }

    void launch() {
        pendingLaunches++;
    }

    void record() {
        pendingRecords++;
    }

    void reject() {
        pendingRejected++;
    }

    /** Publishes what was counted, once for many records. */
    void publish() {
        calls = pendingCalls;
        launches = pendingLaunches;
        records = pendingRecords;
        rejected = pendingRejected;
    }

    /** Calls. */
    public long calls() {
        return calls;
    }

    /** Launches. */
    public long launches() {
        return launches;
    }

    /** Records of all kinds. */
    public long records() {
        return records;
    }

    /** Records that were refused. */
    public long rejected() {
        return rejected;
    }
}
