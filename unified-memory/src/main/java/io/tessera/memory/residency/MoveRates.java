package io.tessera.memory.residency;

/**
 * Rates of memory moves between host and device, in bytes per second. Both directions run at once, because the bus is full duplex. Immutable.
 *
 * @param inBytesPerSecond      rate to the device
 * @param outBytesPerSecond     rate to the host
 * @param changedBytesPerSecond rate of memory without contents, whose pages are taken from one client and given to another
 */
public record MoveRates(double inBytesPerSecond, double outBytesPerSecond, double changedBytesPerSecond) {
    /** Weight of a new measurement against all earlier ones. */
    private static final double WEIGHT = 0.25;

    /** Smaller moves are not measured: fixed costs dominate their time. */
    private static final long SHORTEST_BYTES = 64L << 20;

    /**
     * Rate of memory without contents before any measurement. Two PyTorch processes on an H100 handed 42 GiB over in 0.118 s and 66 GiB in
     * 0.188 s, of which 2 GiB had contents (medians, 2026-11-28). With larger chunks, on an H200, it was 72 GiB in 0.133 s.
     */
    private static final double CHANGED_BYTES_PER_SECOND = 375e9;

    /** Checks the values. */
    public MoveRates {
        if (!(inBytesPerSecond > 0 && outBytesPerSecond > 0 && changedBytesPerSecond > 0)) {
            throw new IllegalArgumentException(
                    "rates must be positive: " + inBytesPerSecond + ", " + outBytesPerSecond + ", " + changedBytesPerSecond);
        }
    }

    /** Creates rates of copies, with the usual rate of memory without contents. */
    public MoveRates(double inBytesPerSecond, double outBytesPerSecond) {
        this(inBytesPerSecond, outBytesPerSecond, CHANGED_BYTES_PER_SECOND);
    }

    /** Returns the rates before any measurement: pinned copies on an H200, 49.3 GB/s in and 55.4 GB/s out (measured alone). */
    public static MoveRates pinned() {
        return new MoveRates(49.3e9, 55.4e9);
    }

    /** Returns the rates of managed memory: kernels fault it in at 10.0 GB/s on an H200, and it is evicted to the host at 4.8 GB/s. */
    public static MoveRates faulted() {
        return new MoveRates(10.0e9, 4.8e9);
    }

    /** Returns the time to move these bytes, in nanoseconds, both directions at once. */
    public double moveNs(long inBytes, long outBytes) {
        return 1e9 * Math.max(inBytes / inBytesPerSecond, outBytes / outBytesPerSecond);
    }

    /**
     * Returns the time of a hand-over in nanoseconds. {@code changedBytes} come in and as many leave; in each direction {@code copiedBytes} of them have
     * contents. Copies and changes of pages run at the same time.
     */
    public double handoverNs(long changedBytes, long copiedBytes) {
        return Math.max(moveNs(copiedBytes, copiedBytes), 1e9 * changedBytes / changedBytesPerSecond);
    }

    /**
     * Returns the rates after a measurement: bytes moved and the time in which copies of that direction were in progress. Short moves change nothing.
     */
    public MoveRates measured(long inBytes, long inNs, long outBytes, long outNs) {
        return new MoveRates(mixed(inBytesPerSecond, inBytes, inNs), mixed(outBytesPerSecond, outBytes, outNs), changedBytesPerSecond);
    }

    /** Returns the rates after a measurement of a move with hardly any contents. Short moves change nothing. */
    public MoveRates changed(long bytes, long ns) {
        return new MoveRates(inBytesPerSecond, outBytesPerSecond, mixed(changedBytesPerSecond, bytes, ns));
    }

    private static double mixed(double before, long bytes, long ns) {
        return bytes < SHORTEST_BYTES || ns <= 0 ? before : (1 - WEIGHT) * before + WEIGHT * (1e9 * bytes / ns);
    }
}
