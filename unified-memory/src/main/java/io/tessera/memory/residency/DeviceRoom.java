package io.tessera.memory.residency;

/**
 * What the clients of one device can have of it together, as far as the device has shown it. The size of a device says what
 * there may be at most; contexts, the driver, and processes that nobody plans have some of it. Two things tell: what the
 * driver says is free beside what clients hold, and memory that it refuses (SPEC.md, section 9.9).
 *
 * <p>Each refusal leaves no more room than what is held, so that a client that lacks memory gets it from others: with a client that had
 * been allowed more, the room shrinks by at least what was refused. So the number of refusals is bounded before the room is no more than
 * what the device has. Free memory raises it again.
 *
 * <p>Pure state: no clock, no words. Not thread-safe.
 */
public final class DeviceRoom {
    /** A lower room has to stand for this long before anybody is refused anything for its sake: words come late. */
    public static final long CONFIRMED_NS = 3_000_000_000L;

    /** Memory that could not be had although it was free may be there again: it is tried after this long. */
    private static final long UNUSABLE_KEPT_NS = 60_000_000_000L;

    /** Free memory goes up and down by what the driver loads and drops; steps of this part of the device are followed. */
    private static final long GRAINS = 2048;
    private static final long SMALLEST_GRAIN = 2L << 20;

    /** What a context takes of the device (measured on an H200: 528 MiB), and what is kept free for the driver. */
    private static final long CONTEXT_BYTES = 528L << 20;
    private static final long RESERVE_BYTES = 768L << 20;

    /** Neither is more than this part of a small device. */
    private static final long LARGEST_PART = 64;

    private static final long UNBOUNDED = ClientMemoryState.MAX_BYTES;

    private final long totalBytes;
    private final long grainBytes;
    private long bytes = UNBOUNDED;
    private long confirmedBytes = UNBOUNDED;
    private long loweredNs;
    private long unusableBytes;
    private long refusedNs;

    /** The room of a device of that size, of which nothing has shown yet that it has less. */
    public DeviceRoom(long totalBytes) {
        this.totalBytes = totalBytes;
        grainBytes = Math.max(SMALLEST_GRAIN, Long.highestOneBit(Math.max(1, totalBytes / GRAINS)));
    }

    /** What can be planned with now, of what is believed to be there. */
    public long roomBytes(long believedBytes) {
        return Math.min(believedBytes, bytes);
    }

    /** What a context takes of this device. */
    public long contextBytes() {
        return Math.min(CONTEXT_BYTES, totalBytes / LARGEST_PART);
    }

    /**
     * The capacity for planning: less than there is by what the driver may need for contexts and code that come, but no less than one
     * client needs alone.
     *
     * @param believedBytes what the device should have
     * @param pretended     whether that is less than it has for sure
     * @param largestBytes  what the client needs that needs most, and what cannot leave
     */
    public long plannedBytes(long believedBytes, boolean pretended, long largestBytes) {
        long reserve = Math.min(RESERVE_BYTES, totalBytes / LARGEST_PART);
        long kept = Math.min(pretended ? believedBytes : believedBytes - reserve, bytes - reserve);
        return Math.max(kept, Math.min(roomBytes(believedBytes), largestBytes));
    }

    /** What {@link #roomBytes} tells, as far as it is certain enough to refuse somebody something. */
    public long confirmedBytes(long believedBytes, long nowNs) {
        if (bytes < confirmedBytes && nowNs - loweredNs >= CONFIRMED_NS) {
            confirmedBytes = bytes;
        }
        return Math.min(believedBytes, Math.max(bytes, confirmedBytes));
    }

    /** When what is certain changes without anything new; {@link Long#MAX_VALUE}: it does not. */
    public long nextDeadlineNs() {
        return bytes < confirmedBytes ? loweredNs + CONFIRMED_NS : Long.MAX_VALUE;
    }

    /** Whether the device was found to have less than nothing tells. */
    public boolean isBounded() {
        return bytes < UNBOUNDED;
    }

    /**
     * The driver refused memory.
     *
     * @param heldBytes what all clients hold of the device after the refusal, fixed memory included
     * @param freeBytes what the driver said was free just before; 0: not known
     */
    public void refused(long heldBytes, long freeBytes, long nowNs) {
        unusableBytes = Math.max(0, freeBytes);
        refusedNs = nowNs;
        if (heldBytes < bytes) {
            set(heldBytes, nowNs);
        }
    }

    /**
     * The driver said what is free, at a moment when nothing had changed for a while.
     *
     * @param heldBytes what all clients held of the device, fixed memory included
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

    /** A client's context has come, which takes memory that nothing tells of; a sample may say that it was less. */
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
