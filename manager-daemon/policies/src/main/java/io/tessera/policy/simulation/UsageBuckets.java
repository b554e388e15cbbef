package io.tessera.policy.simulation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Used time by tenant and by window of equal length. Before the maximum number of windows is exceeded, windows become twice as long. Not thread-safe.
 */
public final class UsageBuckets implements RunObserver {
    private final List<long[]> usedNs = new ArrayList<>();
    private final int most;
    private long widthNs;
    private int windows;

    /**
     * Creates an object without windows.
     *
     * @param widthNs initial length of a window
     * @param most    maximum number of windows; even
     */
    public UsageBuckets(int tenants, long widthNs, int most) {
        this.widthNs = widthNs;
        this.most = most;
        for (int i = 0; i < tenants; i++) {
            usedNs.add(new long[0]);
        }
    }

    @Override
    public void ran(int tenant, long fromNs, long untilNs) {
        while ((untilNs - 1) / widthNs >= most) {
            doubleWidth();
        }
        int last = (int) ((untilNs - 1) / widthNs);
        windows = Math.max(windows, last + 1);
        long[] own = usedNs.get(tenant);
        if (own.length <= last) {
            own = Arrays.copyOf(own, Math.min(most, Math.max(last + 1, 2 * own.length)));
            usedNs.set(tenant, own);
        }
        for (int window = (int) (fromNs / widthNs); window <= last; window++) {
            own[window] += Math.min(untilNs, (window + 1) * widthNs) - Math.max(fromNs, window * widthNs);
        }
    }

    private void doubleWidth() {
        widthNs *= 2;
        windows = (windows + 1) / 2;
        for (long[] own : usedNs) {
            for (int i = 0; i < own.length; i++) {
                long moved = own[i];
                own[i] = 0;
                own[i / 2] += moved;
            }
        }
    }

    /** Returns the length of a window. */
    public long widthNs() {
        return widthNs;
    }

    /** Returns the number of windows up to the last one in which something ran. */
    public int windows() {
        return windows;
    }

    /** Returns what a tenant used in a window. */
    public long usedNs(int tenant, int window) {
        long[] own = usedNs.get(tenant);
        return window < own.length ? own[window] : 0;
    }
}
