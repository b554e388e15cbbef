package io.tessera.manager.schedule.turn;

import java.util.Arrays;

/** The last 256 hand-over times of a device, and their median. Not thread-safe. */
public final class HandoverTimes {
    /** Enough for a steady median, few enough to sort for every status request. */
    private static final int KEPT = 256;

    private final long[] timesNs = new long[KEPT];
    private long added;

    /** Adds one time, in nanoseconds. */
    public void add(long timeNs) {
        timesNs[(int) (added % KEPT)] = Math.max(0, timeNs);
        added++;
    }

    /** Returns the latest time; 0 before the first. */
    long lastNs() {
        return added == 0 ? 0 : timesNs[(int) ((added - 1) % KEPT)];
    }

    /** Returns the median of the kept times, the lower one of two; 0 before the first. */
    public long medianNs() {
        int size = (int) Math.min(added, KEPT);
        if (size == 0) {
            return 0;
        }
        long[] sorted = Arrays.copyOf(timesNs, size);
        Arrays.sort(sorted);
        return sorted[(size - 1) / 2];
    }
}
