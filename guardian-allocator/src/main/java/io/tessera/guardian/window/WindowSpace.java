package io.tessera.guardian.window;

import java.util.HashMap;
import java.util.Map;

/**
 * The range of addresses in which windows lie, and the taken parts of it. A buddy system places each window at a multiple of its size. Guards are not
 * shared between windows, because a guard is mapped to one tenant's sink. Among the possible places, one in the smallest free run with room for
 * window and guards is taken, so that large runs stay whole. A freed place joins its free neighbours at once.
 *
 * <p>Free space is one bit for each 4 GiB, so a request looks at no more than 8192 places of the standard range.
 *
 * <p>Thread-safe: every method holds the object's lock, for microseconds.
 */
public final class WindowSpace {
    /** The least address of the standard range; RELAY.md, "Host memory", has the reasons for the range. */
    public static final long STANDARD_BASE = 0x2000_0000_0000L;

    /** The first address above the standard range. */
    public static final long STANDARD_END = 0x4000_0000_0000L;

    /** The least window, and the unit of this space. */
    private static final int UNIT_LOG2 = 32;

    private static final int GUARD_UNITS = (int) (WindowLayout.GUARD_BYTES >>> UNIT_LOG2);

    private final long base;
    private final FreeUnits units;

    /** Keyed by base address. */
    private final Map<Long, WindowPlace> taken = new HashMap<>();

    /** The standard range, all of it free. */
    public WindowSpace() {
        this(STANDARD_BASE, STANDARD_END - STANDARD_BASE);
    }

    /**
     * A range of its own, all of it free.
     *
     * @param baseAddress a multiple of 4 GiB, not negative
     * @param bytes       a multiple of 4 GiB, at most 2^46
     */
    public WindowSpace(long baseAddress, long bytes) {
        long unit = 1L << UNIT_LOG2;
        if (baseAddress < 0 || baseAddress % unit != 0 || bytes <= 0 || bytes % unit != 0 || bytes > 1L << 46) {
            throw new IllegalArgumentException("no range of windows: " + bytes + " bytes at 0x"
                    + Long.toHexString(baseAddress));
        }
        this.base = baseAddress;
        this.units = new FreeUnits(baseAddress >>> UNIT_LOG2, (int) (bytes >>> UNIT_LOG2));
    }

    /**
     * Finds a place for a window and takes it with its guards.
     *
     * @param sizeBytes a power of two, at least 4 GiB
     * @throws IllegalArgumentException if the size is none of a window
     */
    public synchronized PlacementAnswer allocate(long sizeBytes) {
        if (Long.bitCount(sizeBytes) != 1 || sizeBytes < WindowLayout.MIN_SIZE_BYTES) {
            throw new IllegalArgumentException("no size of a window: " + sizeBytes);
        }
        int at = sizeBytes > WindowLayout.MAX_SIZE_BYTES ? -1
                : units.place((int) (sizeBytes >>> UNIT_LOG2), GUARD_UNITS);
        if (at < 0) {
            return new PlacementAnswer.Exhausted(sizeBytes, largestFreeBytes());
        }
        units.take(at - GUARD_UNITS, (int) (sizeBytes >>> UNIT_LOG2) + 2 * GUARD_UNITS);
        WindowPlace place = new WindowPlace(base + ((long) at << UNIT_LOG2), sizeBytes);
        taken.put(place.baseAddress(), place);
        return new PlacementAnswer.Placed(place);
    }

    /**
     * Frees a window's place, guards included.
     *
     * @throws IllegalArgumentException if no such window is placed here, or not any more
     */
    public synchronized void free(WindowPlace place) {
        remove(place);
        units.give(unitOf(place.lowerGuardAddress()), unitsOf(place));
    }

    /**
     * Removes a window without freeing its place. The driver or the operating system did not grant the range, so it must not be tried again.
     *
     * @throws IllegalArgumentException if no such window is placed here, or not any more
     */
    public synchronized void abandon(WindowPlace place) {
        remove(place);
    }

    private void remove(WindowPlace place) {
        if (!taken.remove(place.baseAddress(), place)) {
            throw new IllegalArgumentException("no window of " + place.sizeBytes() + " bytes is placed at 0x"
                    + Long.toHexString(place.baseAddress()));
        }
    }

    /**
     * Takes a given place, as requested by a client or recorded in the state of an earlier process.
     *
     * @return false if some of it or of its guards is taken or lies outside the range
     * @throws IllegalArgumentException if it is not aligned to its size or the size is not valid for a window
     */
    public synchronized boolean take(WindowPlace place) {
        long size = place.sizeBytes();
        if (Long.bitCount(size) != 1 || size < WindowLayout.MIN_SIZE_BYTES || size > WindowLayout.MAX_SIZE_BYTES
                || place.baseAddress() < 0 || (place.baseAddress() & (size - 1)) != 0) {
            throw new IllegalArgumentException("no place of a window: " + size + " bytes at 0x"
                    + Long.toHexString(place.baseAddress()));
        }
        long first = (place.lowerGuardAddress() - base) >> UNIT_LOG2;
        if (first < 0 || first > units.count() - unitsOf(place) || !units.isFree((int) first, unitsOf(place))) {
            return false;
        }
        units.take((int) first, unitsOf(place));
        taken.put(place.baseAddress(), place);
        return true;
    }

    private int unitOf(long address) {
        return (int) ((address - base) >>> UNIT_LOG2);
    }

    private static int unitsOf(WindowPlace place) {
        return (int) (place.sizeBytes() >>> UNIT_LOG2) + 2 * GUARD_UNITS;
    }

    /** The largest window that would still fit with its guards, 0 if none does. */
    public synchronized long largestFreeBytes() {
        for (long size = WindowLayout.MAX_SIZE_BYTES; size >= WindowLayout.MIN_SIZE_BYTES; size /= 2) {
            if (units.place((int) (size >>> UNIT_LOG2), GUARD_UNITS) >= 0) {
                return size;
            }
        }
        return 0;
    }

    /** Windows that are placed now. */
    public synchronized int placed() {
        return taken.size();
    }
}
