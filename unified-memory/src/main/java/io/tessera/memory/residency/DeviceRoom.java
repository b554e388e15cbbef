package io.tessera.memory.residency;

/**
 * An estimate of the memory that the clients of one device can have together: its room. The upper bound is the size of the device, of which contexts,
 * the driver, and processes outside the plan take some. The estimate follows from two observations: the free memory that the driver reports, added to
 * what clients hold, and allocations that the driver refuses (SPEC.md, section 9.9).
 *
 * <p>A refusal lowers the room to what clients hold at that moment, so that a client that lacks memory gets it from others. If a client had been
 * allowed more, the room shrinks by at least what was refused. So only a bounded number of refusals can occur before the room is at most what the
 * device has. A report of more free memory raises the room again.
 *
 * <p>Pure state: no clock, no access to clients' words. Not thread-safe.
 */
public final class DeviceRoom {
    /** Requests are refused because of a lower room only after it has lasted for this long, because clients' words arrive late. */
    public static final long CONFIRMED_NS = 3_000_000_000L;

    /** Memory that was refused although the driver reported it as free is tried again after this time. */
    private static final long UNUSABLE_KEPT_NS = 60_000_000_000L;

    /** Free memory varies with what the driver loads and drops. So the room follows it only in steps of this part of the device. */
    private static final long GRAINS = 2048;
    private static final long SMALLEST_GRAIN = 2L << 20;

    /** Memory that a context takes on the device (measured on an H200: 528 MiB); then the memory that is kept free for the driver. */
    private static final long CONTEXT_BYTES = 528L << 20;
    private static final long RESERVE_BYTES = 768L << 20;

    /** On a small device, each of the two is at most this part of it, as a divisor. */
    private static final long LARGEST_PART = 64;

    private static final long UNBOUNDED = ClientMemoryState.MAX_BYTES;

    private final long totalBytes;
    private final long grainBytes;
    private long bytes = UNBOUNDED;
    private long confirmedBytes = UNBOUNDED;
    private long loweredNs;
    private long unusableBytes;
    private long refusedNs;

    /** Creates the room of a device of this size, which no observation has lowered yet. */
    public DeviceRoom(long totalBytes) {
        this.totalBytes = totalBytes;
        grainBytes = Math.max(SMALLEST_GRAIN, Long.highestOneBit(Math.max(1, totalBytes / GRAINS)));
    }

    /** Returns the room: the part of the believed memory that may be planned with now. */
    public long roomBytes(long believedBytes) {
        return Math.min(believedBytes, bytes);
    }

    /** Returns the bytes that a context takes on this device. */
    public long contextBytes() {
        return Math.min(CONTEXT_BYTES, totalBytes / LARGEST_PART);
    }

    /**
     * Returns the capacity for planning: the room less what the driver may need for further contexts and code, but at least what one client needs
     * alone.
     *
     * @param believedBytes memory that the device should have
     * @param pretended     whether an operator chose {@code believedBytes}; then no reserve is taken from it
     * @param largestBytes  the largest need of a client, and what cannot leave
     */
    public long plannedBytes(long believedBytes, boolean pretended, long largestBytes) {
        long reserve = Math.min(RESERVE_BYTES, totalBytes / LARGEST_PART);
        long kept = Math.min(pretended ? believedBytes : believedBytes - reserve, bytes - reserve);
        return Math.max(kept, Math.min(roomBytes(believedBytes), largestBytes));
    }

    /** Returns {@link #roomBytes}, as far as it is certain enough to refuse a request. */
    public long confirmedBytes(long believedBytes, long nowNs) {
        if (bytes < confirmedBytes && nowNs - loweredNs >= CONFIRMED_NS) {
            confirmedBytes = bytes;
        }
        return Math.min(believedBytes, Math.max(bytes, confirmedBytes));
    }

    /** Returns when {@link #confirmedBytes} changes without new observations; {@link Long#MAX_VALUE} if it does not. */
    public long nextDeadlineNs() {
        return bytes < confirmedBytes ? loweredNs + CONFIRMED_NS : Long.MAX_VALUE;
    }

    /** Returns whether the device was found to have less than its size suggests. */
    public boolean isBounded() {
        return bytes < UNBOUNDED;
    }

    /**
     * Records that the driver refused memory.
     *
     * @param heldBytes memory that all clients hold of the device after the refusal, fixed memory included
     * @param freeBytes memory that the driver reported as free just before; 0: not known
     */
    public void refused(long heldBytes, long freeBytes, long nowNs) {
        unusableBytes = Math.max(0, freeBytes);
        refusedNs = nowNs;
        if (heldBytes < bytes) {
            set(heldBytes, nowNs);
        }
    }

    /**
     * Records what the driver reported as free, at a moment when nothing had changed for a while.
     *
     * @param heldBytes memory that all clients held of the device, fixed memory included
     */
    public void sampled(long heldBytes, long freeBytes, long nowNs) {
        if (nowNs - refusedNs > UNUSABLE_KEPT_NS) {
            unusableBytes = 0;
        }
        long found = heldBytes + Math.max(0, freeBytes - unusableBytes);
        found -= found % grainBytes;
        if (found < bytes || found >= bytes + 2 * grainBytes) {
            set(Math.max(found, heldBytes), nowNs);
        }
    }

    /** Records that a client opened a context, which takes memory that no word reports. A later sample corrects the assumed size. */
    public void contextOpened(long nowNs) {
        if (isBounded()) {
            set(Math.max(0, bytes - contextBytes()), nowNs);
        }
    }

    private void set(long found, long nowNs) {
        if (found < bytes) {
            loweredNs = nowNs;
        } else {
            confirmedBytes = Math.max(confirmedBytes, found);
        }
        bytes = found;
    }
}
