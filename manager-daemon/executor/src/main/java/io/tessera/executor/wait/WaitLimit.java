package io.tessera.executor.wait;

import io.tessera.guardian.verify.loop.CallTrees;

/**
 * The waits of the executor, with their bounds and poll intervals. Comments say what is awaited. A limit with one number only has a poll interval: the wait has
 * another bound, which the comment names.
 */
public enum WaitLimit {
    /**
     * The end of kernels that were ordered to end, in addition to the time of copies: the longest time that the verifier allows between two looks at the stop
     * word, and 3 s for the blocks that have not begun. Then the executor gives up.
     */
    WORK_END(CallTrees.MOST_NS + 3_000_000_000L, 1_000_000L),
    /** Memory of clients that have gone: longer than {@link #WORK_END} of such a client. */
    PENDING_RECLAIMS(CallTrees.MOST_NS + 5_000_000_000L, 1_000_000L),
    /** Memory that other tenants do not use: their threads look up after 100 ms at the latest. */
    MEMORY_PRESSURE(300_000_000L, 10_000_000L),
    /** Interval between checks whether others have left the device. */
    ROOM(1_000_000L),
    /** Interval between checks whether the tenant's memory is back. {@code ResidencyTurns} ends the wait (AWAY_PATIENCE_NS). */
    MEMORY_AWAY(100_000L),
    /** A tenant's work in progress, before pages of its window change; then the change is given up. */
    TENANT_REST(10_000_000_000L, 50_000L),
    /** Clients of a tenant that are inside of its window's gate, within {@link #TENANT_REST}. */
    WINDOW_GATE(10_000_000_000L, 20_000L),
    /** Memory that streams of the client give back. */
    STREAM_FREES(10_000_000_000L, 50_000L),
    /**
     * Zeros in new memory and arrays, possibly behind other tenants' work that fills the device. No other wait bounds this one, because memory must not be
     * given away while zeros are written to it.
     */
    ZEROS(10_000_000_000L, 20_000L),
    /** A comparison of the sink in a stream of its own: some 50 µs, and the time of other tenants' work that fills the device. */
    COMPARISON(500_000_000L, 20_000L),
    /** Kernels of former clients of the tenant, and the check of the memory they left, before the first launch of a new client. */
    LEAVERS(2_000_000_000L, 500_000L),
    /** The decision of the connections' thread about a lost context, which takes some ms. */
    LOSS(2_000_000_000L, 200_000L),
    /** Other clients' calls, after a call of the client that kept the driver's lock for long. */
    LONG_CALL(500_000_000L, 500_000_000L),
    /** Other clients' synchronizing calls, for a client whose streams go from one wait to the next. */
    HOLD_BACK(20_000_000L, 100_000L),
    /** Full streams, while the remaining records of a client that has left are executed. */
    LEFT_RECORDS(2_000_000_000L, 50_000L),
    /** Interval while a stream is at its bound. The watchdog ends such work, and the client supervises itself meanwhile. */
    FULL_STREAMS(20_000L),
    /** Interval while it is not the tenant's turn ({@code GateTurns} gives it one), or parts of a grid are not done. */
    HELD(1_000_000L),
    /** As above, while the client has work on the device, for whose end others may wait. */
    HELD_WORKING(100_000L),
    /** Interval while work of a client that ends is not done. {@code ClientSession} gives up after the time for its copies, and once more after that. */
    SESSION_END(1_000_000L),
    /** As above, while its streams wait for host calls, which are released between two looks. */
    SESSION_END_RELEASING(50_000L),
    /** Interval before a synchronizing call. The client whose streams stand is ended by its watchdog; the caller supervises itself meanwhile. */
    SYNCHRONIZING_CALL(100_000L),
    /** Interval while work of the executor's own is behind others' on the device. Long driver calls are supervised ({@code Executor}). */
    OWN_WORK(20_000L),
    /** An answer to the warm-up, which may wait for a process that reads code to start (WorkerPool). */
    WARM_UP_ANSWER(60_000_000_000L, 20_000L),
    /** The end of the warm-up's session: as long as any session's end. */
    WARM_UP_END(CallTrees.MOST_NS + 5_000_000_000L, 1_000_000L),
    /** A connection of the manager that started the process, so that it learns why the process ends. */
    FIRST_MANAGER(2_000_000_000L, 20_000_000L);

    private final long mostNs;
    private final long pollNs;

    WaitLimit(long momentNs) {
        this(momentNs, momentNs);
    }

    WaitLimit(long mostNs, long pollNs) {
        this.mostNs = mostNs;
        this.pollNs = pollNs;
    }

    /** Returns the longest time of the wait, in nanoseconds. */
    public long mostNs() {
        return mostNs;
    }

    long pollNs() {
        return pollNs;
    }
}
