package io.tessera.policy.simulation;

import java.util.Arrays;
import java.util.Collection;

/** Samples of times, for percentiles. Not thread-safe. */
public final class WaitSamples {
    private long[] values = new long[0];
    private int count;
    private boolean sorted = true;

    /** Returns all samples of several objects. */
    static WaitSamples of(Collection<WaitSamples> parts) {
        WaitSamples all = new WaitSamples();
        all.values = parts.stream().flatMapToLong(part -> Arrays.stream(part.values, 0, part.count)).toArray();
        all.count = all.values.length;
        all.sorted = false;
        return all;
    }

    void add(long ns) {
        if (count == values.length) {
            values = Arrays.copyOf(values, Math.max(8, 2 * count));
        }
        values[count++] = ns;
        sorted = false;
    }

    /** Returns the number of samples. */
    public int count() {
        return count;
    }

    /** Returns the smallest sample that is not below this percentage of all (nearest rank); 0 if there is none. */
    public long percentileNs(double percent) {
        if (count == 0) {
            return 0;
        }
        if (!sorted) {
            Arrays.sort(values, 0, count);
            sorted = true;
        }
        int rank = (int) Math.ceil(percent / 100 * count);
        return values[Math.clamp(rank - 1, 0, count - 1)];
    }

    /** Returns the longest sample; 0 if there is none. */
    public long longestNs() {
        return percentileNs(100);
    }
}
