package io.tessera.manager.schedule.mode;

/**
 * A rate from samples of different lengths, and its uncertainty. Keeps the last 32 samples. Not thread-safe.
 *
 * <p>The rate is the ratio of the sums; its standard error is that of a ratio estimator (Cochran, Sampling
 * Techniques, 3rd ed., section 6.4), taken over the samples.
 */
final class RateMeter {
    private static final int KEPT = 32;

    private final long[] counts = new long[KEPT];
    private final long[] timesNs = new long[KEPT];
    private long added;

    void add(long count, long timeNs) {
        if (timeNs <= 0) {
            return;
        }
        int slot = (int) (added % KEPT);
        counts[slot] = count;
        timesNs[slot] = timeNs;
        added++;
    }

    void clear() {
        added = 0;
    }

    /** Returns the number of kept samples. */
    int size() {
        return (int) Math.min(added, KEPT);
    }

    /** Returns counts per nanosecond over all kept samples; 0 without any. */
    double rate() {
        return rateOfLast(KEPT);
    }

    /** Returns counts per nanosecond over the last {@code samples} samples. */
    double rateOfLast(int samples) {
        long count = 0;
        long timeNs = 0;
        int size = Math.min(samples, size());
        for (int i = 1; i <= size; i++) {
            int slot = (int) ((added - i) % KEPT);
            count += counts[slot];
            timeNs += timesNs[slot];
        }
        return timeNs == 0 ? 0 : (double) count / timeNs;
    }

    /** Returns the mean length of the kept samples; 0 without any. */
    double meanTimeNs() {
        long timeNs = 0;
        for (int slot = 0; slot < size(); slot++) {
            timeNs += timesNs[slot];
        }
        return size() == 0 ? 0 : (double) timeNs / size();
    }

    /** Returns the counts in all kept samples. */
    long counted() {
        long count = 0;
        for (int slot = 0; slot < size(); slot++) {
            count += counts[slot];
        }
        return count;
    }

    /**
     * Returns the standard error of {@link #rate} as a share of it, with half a count for the ends of the samples; infinite with fewer than three
     * samples or a rate of 0.
     */
    double relativeError() {
        int size = size();
        double rate = rate();
        if (size < 3 || rate == 0) {
            return Double.POSITIVE_INFINITY;
        }
        double total = counted();
        double squares = 0;
        for (int slot = 0; slot < size; slot++) {
            double residual = counts[slot] - rate * timesNs[slot];
            squares += residual * residual;
        }
        return Math.hypot(Math.sqrt(squares * size / (size - 1)), 0.5) / total;
    }
}
