package io.tessera.executor.wait;

/** What a client's thread waits for, for how long at most, and how often it looks. */
public enum WaitLimit {
    /** Memory of clients that have gone: longer than the work of such a client may take (RELAY.md, section 7). */
    PENDING_RECLAIMS(12_000_000_000L, 1_000_000L),
    /** Memory that other tenants do not use: their threads look up after 100 ms at the latest. */
    MEMORY_PRESSURE(300_000_000L, 10_000_000L),
    /** A moment, before it is asked again whether others have left the device. */
    ROOM(1_000_000L, 1_000_000L),
    /** A tenant's work in progress, before pages of its window change; then the change is given up. */
    TENANT_REST(10_000_000_000L, 50_000L),
    /** Clients of a tenant that are inside of its window's gate, within {@link #TENANT_REST}. */
    WINDOW_GATE(10_000_000_000L, 20_000L),
    /** Memory that streams of the client give back. */
    STREAM_FREES(10_000_000_000L, 50_000L),
    /**
     * Zeros in new memory and arrays, behind other tenants' work where that fills the device. Ends with no other wait: while zeros are written there, memory
     * is not given away.
     */
    ZEROS(10_000_000_000L, 20_000L),
    /** A comparison of the sink in a stream of its own: some 50 µs, and the time of other tenants' work that fills the device. */
    COMPARISON(500_000_000L, 20_000L),
    /** Kernels of former clients of the tenant, and the check of the memory they left, before the first launch of a new client. */
    LEAVERS(2_000_000_000L, 500_000L),
    /** The decision of the connection thread about a lost context, which takes some ms. */
    LOSS(2_000_000_000L, 200_000L),
    /** Other clients' calls, after a call of the client that kept the driver's lock for long. */
    LONG_CALL(500_000_000L, 500_000_000L),
    /** Other clients' synchronizing calls, where streams of the client go from one wait to the next. */
    HOLD_BACK(20_000_000L, 100_000L),
    /** Streams that are full, while the remaining records of a client that has gone are executed. */
    LEFT_RECORDS(2_000_000_000L, 50_000L);

    private final long mostNs;
    private final long pollNs;

    WaitLimit(long mostNs, long pollNs) {
        this.mostNs = mostNs;
        this.pollNs = pollNs;
    }

    long mostNs() {
        return mostNs;
    }

    long pollNs() {
        return pollNs;
    }
}
